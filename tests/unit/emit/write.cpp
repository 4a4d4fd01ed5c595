#include "small_kernel.hpp"

#include <support/sample_kernels.hpp>

#include <poot/emit/write.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace poot;
using emit::dialect;
using poot_tests::contains;
using poot_tests::twice;

static_assert(emit::embed<twice, dialect::glsl>.starts_with("#version 450\n// twice\nlayout(local_size_x = 64) in;\n"));
static_assert(emit::embed<twice, dialect::cpp>.ends_with("  }\n}\n"));
static_assert(contains(emit::embed<twice, dialect::cuda>, "__launch_bounds__(64, 1) poot_kernel("));
static_assert(contains(emit::embed<twice, dialect::hip>, "__launch_bounds__(64, 1) poot_kernel("));
static_assert(emit::name(dialect::hip) == "hip");

TEST_CASE("what is embedded is what is written") {
  CHECK(emit::embed<twice, dialect::glsl> == emit::write(twice(), dialect::glsl).str());
  CHECK(emit::embed<twice, dialect::cuda, emit::options{.comments = false}> ==
        emit::write(twice(), dialect::cuda, {.comments = false}).str());
}

TEST_CASE("names and notes show in comments only") {
  kernel::kernel renamed = twice();
  renamed.name = "thrice";
  renamed.buffers[0].name = "another";
  for (kernel::instruction& in : renamed.code) in.note = 17;
  for (dialect d : {dialect::glsl, dialect::cpp, dialect::cuda, dialect::hip}) {
    CHECK(emit::write(renamed, d).str() != emit::write(twice(), d).str());
    CHECK(emit::write(renamed, d, {.comments = false}).str() == emit::write(twice(), d, {.comments = false}).str());
  }
}

TEST_CASE("no name ends its comment") {
  kernel::kernel k = twice();
  k.name = "a\nb\\";
  k.buffers[0].name = "x\r\ny\\";
  for (dialect d : {dialect::glsl, dialect::cpp, dialect::cuda, dialect::hip}) {
    const text written = emit::write(k, d);
    CHECK(contains(written.str(), "// a_b_\n"));
    CHECK(contains(written.str(), "// x__y_\n"));
  }
}

TEST_CASE("no dialect's own function stands for a value that the contract binds") {
  for (const poot_tests::sample_kernel& s : poot_tests::sample_kernels())
    for (dialect d : {dialect::glsl, dialect::cpp, dialect::cuda, dialect::hip}) {
      const std::string written(emit::write(s.code, d).str());
      for (const char* call : {" exp(", " log(", " tanh(", " sin(", " cos(", " pow(", " max(", " min(", " inversesqrt(", " expf(", " mix("})
        CHECK(!contains(written, call));
      CHECK((contains(written, " fma(") || contains(written, "= poot_ffma(")) == (s.name() == "fused"));
    }
}
