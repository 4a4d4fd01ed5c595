#include <poot/core/elementary.hpp>
#include <poot/kernel/elementary.hpp>
#include <poot/kernel/interpret.hpp>

#include <support/draws.hpp>

#include <doctest/doctest.h>

using namespace poot;
using poot_tests::draws;
namespace pk = poot::kernel;

namespace {

constexpr uint32 specials[] = {0x00000000u, 0x80000000u, 0x00000001u, 0x80000001u, 0x007fffffu, 0x00800000u, 0x807fffffu, 0x80800000u,
                               0x3f800000u, 0xbf800000u, 0x40000000u, 0xc0000000u, 0x3f000000u, 0x40490fdbu, 0x3fc90fdbu, 0x42b17218u,
                               0x42b17219u, 0xc2cff1b5u, 0xc2d00000u, 0xc2d20000u, 0x4b800000u, 0x4b7fffffu, 0xcb800001u, 0x4f000000u,
                               0x49400000u, 0x493fffffu, 0x7f7fffffu, 0xff7fffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00000u,
                               0x7f800001u, 0x7fffffffu, 0x3f800001u, 0x3f7fffffu, 0x3f6c0000u, 0x40800000u, 0x41180000u, 0x3ea00000u};

vec<uint32> arguments(size_t count) {
  vec<uint32> x;
  for (const uint32 b : specials) x.push_back(b);
  draws random(3);
  while (x.size() < count) x.push_back(ieee::to_bits(x.size() % 2 ? random.any_float() : static_cast<float>(random.between(-20, 20))));
  return x;
}

/// The kernel that puts `f` of the numbers of x and y into z.
template <class F>
constexpr pk::kernel kernel_of(F f) {
  pk::builder k("elementary", 64);
  const pk::buffer_id x = k.reads("x", 0), y = k.reads("y", 1), z = k.writes("z", 2);
  const pk::word i = k.invocation();
  k.if_(below(i, k.meta({})), [&] { k.store(z, i, to_bits(f(from_bits(k.load(x, i)), from_bits(k.load(y, i))))); });
  return k.finish();
}

/// How many results differ from those of `reference`, in bits.
template <class Reference>
size_t differing(const pk::kernel& k, vec<uint32> x, vec<uint32> y, Reference reference) {
  vec<uint32> z(x.size(), 0xdeadbeefu);
  const pk::words buffers[] = {{x.data(), x.size()}, {y.data(), y.size()}, {z.data(), z.size()}};
  const uint32 n = static_cast<uint32>(x.size());
  pk::interpret(k, {buffers, 3}, {&n, 1}, (n + 63) / 64);
  size_t wrong = 0;
  for (uint32 i = 0; i < n; ++i) wrong += z[i] != ieee::to_bits(reference(ieee::from_bits(x[i]), ieee::from_bits(y[i])));
  return wrong;
}

constexpr uint32 exp_of(uint32 bits) {
  uint32 x[64] = {bits}, y[64] = {}, z[64] = {}, n = 1;
  const pk::words buffers[] = {{x, 64}, {y, 64}, {z, 64}};
  pk::interpret(kernel_of([](pk::number a, pk::number) { return pk::exp(a); }), {buffers, 3}, {&n, 1}, 1);
  return z[0];
}
static_assert(exp_of(0x3f800000u) == ieee::to_bits(elementary::exp(1.0f)));

}  // namespace

TEST_CASE("functions of one number give the bits of poot::elementary") {
  const vec<uint32> x = arguments(20000);
#define AGREES(NAME)                                                                          \
  CHECK_MESSAGE(differing(kernel_of([](pk::number a, pk::number) { return pk::NAME(a); }), x, x, \
                          [](float a, float) { return elementary::NAME(a); }) == 0,           \
                #NAME)
  AGREES(exp);
  AGREES(log);
  AGREES(tanh);
  AGREES(erf);
  AGREES(sin);
  AGREES(cos);
#undef AGREES
}

TEST_CASE("pow gives the bits of poot::elementary, of every pair of special values too") {
  vec<uint32> x, y;
  for (const uint32 a : specials)
    for (const uint32 b : specials) x.push_back(a), y.push_back(b);
  draws random(4);
  while (x.size() < 20000) {
    x.push_back(ieee::to_bits(x.size() % 2 ? random.any_float() : static_cast<float>(random.between(-4, 4))));
    y.push_back(ieee::to_bits(x.size() % 4 < 2 ? random.any_float() : static_cast<float>(static_cast<int>(random.between(-30, 30)))));
  }
  CHECK(differing(kernel_of([](pk::number a, pk::number b) { return pk::pow(a, b); }), x, y,
                  [](float a, float b) { return elementary::pow(a, b); }) == 0);
  CHECK(differing(kernel_of([](pk::number a, pk::number) { return pk::pow(a, 2.5f); }), x, y,
                  [](float a, float) { return elementary::pow(a, 2.5f); }) == 0);
}

TEST_CASE("a function stands once in a kernel that calls it twice") {
  const pk::kernel k = kernel_of([](pk::number a, pk::number b) { return add(pk::exp(a), pk::exp(b)); });
  CHECK(k.functions.size() == 1);
  const vec<uint32> x = arguments(500);
  vec<uint32> y;
  for (size_t i = 0; i < x.size(); ++i) y.push_back(x[x.size() - 1 - i]);
  CHECK(differing(k, x, y, [](float a, float b) { return ieee::add(elementary::exp(a), elementary::exp(b)); }) == 0);
}
