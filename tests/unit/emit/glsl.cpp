#include "small_kernel.hpp"

#include <poot/emit/glsl.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace poot;
using namespace poot::kernel;
using poot_tests::contains;

static_assert(contains(emit::glsl(poot_tests::twice(), {}).write().str(), "    precise float v"));

TEST_CASE("buffers are bound in order, the metadata after those that are read") {
  builder k("k", 128);
  k.reads("a", 0);
  k.reads("b", 1);
  const buffer_id c = k.writes("c", 2), d = k.writes("d", 3, true);
  const shared_id s = k.shares("tile", type::number, 64);
  k.store(c, 0u, k.meta({.fixed = 1}));
  k.atomic_or(d, 0u, 1u);
  k.store(s, 0u, number(1.0f));
  const text written = emit::glsl(k.finish(), {}).write();
  CHECK(contains(written.str(), "layout(local_size_x = 128) in;\n\n"
                                "layout(std430, set = 0, binding = 0) readonly buffer poot_b0 { uint b0[]; };  // a\n"
                                "layout(std430, set = 0, binding = 1) readonly buffer poot_b1 { uint b1[]; };  // b\n"
                                "layout(std430, set = 0, binding = 2) readonly buffer poot_meta { uint meta[]; };\n"
                                "layout(std430, set = 0, binding = 3) writeonly buffer poot_b2 { uint b2[]; };  // c\n"
                                "layout(std430, set = 0, binding = 4) buffer poot_b3 { uint b3[]; };  // d\n"
                                "shared float s0[64];  // tile\n"));
}

TEST_CASE("a kernel that reads nothing binds the metadata first") {
  builder k("k", 64);
  k.store(k.writes("y", 0), 0u, k.meta({.fixed = 1}));
  const text written = emit::glsl(k.finish(), {}).write();
  CHECK(contains(written.str(), "binding = 0) readonly buffer poot_meta"));
  CHECK(contains(written.str(), "binding = 1) writeonly buffer poot_b0"));
}

TEST_CASE("a buffer of atomics can be read") {
  builder k("k", 64);
  k.atomic_and(k.writes("y", 0), 0u, 1u);
  CHECK(contains(emit::glsl(k.finish(), {}).write().str(), "binding = 1) buffer poot_b0"));
}

TEST_CASE("every single operation on numbers is precise") {
  builder k("k", 64);
  const buffer_id x = k.reads("x", 0), y = k.writes("y", 1);
  const number a = from_bits(k.load(x, 0u)), b = from_bits(k.load(x, 1u));
  const number sum = add(a, b), difference = sub(sum, b), product = mul(difference, a), quotient = div(product, b);
  k.store(y, 0u, to_bits(fma(poot::kernel::sqrt(quotient), a, b)));
  const std::string written(emit::glsl(k.finish(), {}).write().str());
  size_t precise = 0;
  for (size_t at = written.find("precise float"); at != written.npos; at = written.find("precise float", at + 1)) ++precise;
  CHECK(precise == 6);
}

TEST_CASE("execution modes are asked for") {
  const auto written = [](emit::options o) { return std::string(emit::glsl(poot_tests::twice(), o).write().str()); };
  CHECK(!contains(written({}), "spirv_execution_mode"));
  CHECK(contains(written({.preserve_specials = true}), "capabilities = [4466], 4461, 32);"));
  CHECK(!contains(written({.preserve_specials = true}), "4459"));
  CHECK(contains(written({.preserve_subnormals = true}), "capabilities = [4464], 4459, 32);"));
}

TEST_CASE("a device without exact division or square root gets those in integers") {
  builder k("k", 64);
  const buffer_id x = k.reads("x", 0), y = k.writes("y", 1);
  const number a = from_bits(k.load(x, 0u));
  k.store(y, 0u, to_bits(div(poot::kernel::sqrt(a), number(3.0f))));
  const poot::kernel::kernel made = k.finish();
  const auto written = [&](emit::options o) { return std::string(emit::glsl(made, o).write().str()); };
  CHECK(contains(written({}), " = sqrt("));
  CHECK(contains(written({}), " / 3.0f;"));
  CHECK(!contains(written({}), "poot_fdiv"));
  CHECK(contains(written({.div_exact = false}), ", 3.0f);"));
  CHECK(contains(written({.div_exact = false}), " = sqrt("));
  CHECK(contains(written({.sqrt_exact = false}), " = poot_fsqrt("));
}
