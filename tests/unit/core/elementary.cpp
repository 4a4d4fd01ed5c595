#include <poot/core/elementary.hpp>

#include <support/draws.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <limits>

using namespace poot;
using poot_tests::draws;
using poot_tests::ulp_error;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity(), not_a_number = std::numeric_limits<float>::quiet_NaN();

/// POOT_LONG=1 visits every float.
bool long_run() {
  const char* s = std::getenv("POOT_LONG");
  return s && *s == '1';
}

uint64 step() {
#ifdef __OPTIMIZE__
  return long_run() ? 1 : 97;
#else
  return long_run() ? 97 : 9973;
#endif
}

/// The greatest error over every `step()`-th float of at most `limit`, against the double function of the C library.
template <class F, class Reference>
void check_error(const char* name, F f, Reference reference, double bound, float limit = inf) {
  double worst = 0.0;
  float at = 0.0f;
  for (uint64 bits = 0; bits < uint64{1} << 32; bits += step()) {
    const float x = std::bit_cast<float>(static_cast<uint32>(bits));
    if (std::fabs(x) > limit) continue;
    const double e = ulp_error(f(x), reference(static_cast<double>(x)));
    if (e > worst) worst = e, at = x;
  }
  if (long_run()) MESSAGE(doctest::String(name) << ": at most " << worst << " ULP, at " << at);
  CHECK_MESSAGE(worst <= bound, doctest::String(name) << "(" << at << ")");
}

bool same_bits(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<uint32>(a) == std::bit_cast<uint32>(b);
}

float exp_of(float x) { return elementary::exp(x); }
float log_of(float x) { return elementary::log(x); }
float tanh_of(float x) { return elementary::tanh(x); }
float erf_of(float x) { return elementary::erf(x); }
float sin_of(float x) { return elementary::sin(x); }
float cos_of(float x) { return elementary::cos(x); }

constexpr float samples[] = {0.0f,      -0.0f,    1.0f,      -1.0f,      0.5f,      -2.75f,   3.1415927f,
                             0.3f,      12.5f,    -88.0f,    -101.25f,   0x1p-140f, 0x1p-20f, -0.9f,
                             100000.0f, 0x1p+60f, -0x1p+60f, 1.0000001f, 0.99f,     inf};

struct table {
  float values[sizeof(samples) / sizeof(float)];
  constexpr explicit table(float (*f)(float)) : values{} {
    for (size_t i = 0; i < sizeof(samples) / sizeof(float); ++i) values[i] = f(samples[i]);
  }
};

}  // namespace

TEST_CASE("exp, log, tanh, erf, sin and cos stay within 2 ULP") {
  check_error(
      "exp", exp_of, [](double x) { return std::exp(x); }, 2.0);
  check_error(
      "log", log_of, [](double x) { return std::log(x); }, 2.0);
  check_error(
      "tanh", tanh_of, [](double x) { return std::tanh(x); }, 2.0);
  check_error(
      "erf", erf_of, [](double x) { return std::erf(x); }, 2.0);
  check_error(
      "sin", sin_of, [](double x) { return std::sin(x); }, 2.0, 0x1p+17f);
  check_error(
      "cos", cos_of, [](double x) { return std::cos(x); }, 2.0, 0x1p+17f);
}

TEST_CASE("sin and cos keep their relative error next to multiples of pi/2") {
  for (int k = 1; k <= 83443; ++k) {
    const float x = static_cast<float>(k * 1.5707963267948966);
    for (const float y : {x, std::nextafter(x, 0.0f), std::nextafter(x, inf)}) {
      if (y > 0x1p+17f) continue;
      REQUIRE(ulp_error(sin_of(y), std::sin(static_cast<double>(y))) <= 2.0);
      REQUIRE(ulp_error(cos_of(y), std::cos(static_cast<double>(y))) <= 2.0);
    }
  }
}

TEST_CASE("sin and cos of large numbers lose at most 2^-22, then stay in [-1, 1]") {
  for (uint32 bits = 0x48000000u; bits < 0x7f800000u; bits += 97) {
    const float x = std::bit_cast<float>(bits), s = sin_of(x), c = cos_of(x);
    if (x < 0x1.8p+20f) {
      REQUIRE(std::fabs(s - std::sin(static_cast<double>(x))) <= 0x1p-22);
      REQUIRE(std::fabs(c - std::cos(static_cast<double>(x))) <= 0x1p-22);
    } else {
      bits += 9973;
      REQUIRE((std::fabs(s) <= 1.0f && std::fabs(c) <= 1.0f));
    }
  }
}

TEST_CASE("pow stays within 4 ULP") {
  draws random(7);
  double worst = 0.0;
  float at_x = 0.0f, at_y = 0.0f;
  const int count = long_run() ? 10'000'000 : 1'000'000;
  for (int i = 0; i < count; ++i) {
    float x = random.any_float(), y = random.any_float();
    if (i % 4 == 1) x = static_cast<float>(std::ldexp(1.0 + random.unit(), static_cast<int>(random.less_than(3)) - 1));
    if (i % 4 == 2)
      x = static_cast<float>(1.0 + random.between(-1, 1) * std::ldexp(1.0, -static_cast<int>(random.less_than(24))));
    // results from below the subnormals to above the range
    if (i % 4 != 0) y = static_cast<float>(random.between(-152, 130) / std::log2(std::fabs(static_cast<double>(x))));
    if (i % 5 == 0) y = std::rint(y);
    const double e = ulp_error(elementary::pow(x, y), std::pow(static_cast<double>(x), static_cast<double>(y)));
    if (e > worst) worst = e, at_x = x, at_y = y;
  }
  if (long_run()) MESSAGE("pow: at most " << worst << " ULP, at " << at_x << ", " << at_y);
  CHECK_MESSAGE(worst <= 4.0, "pow(" << at_x << ", " << at_y << ")");
}

TEST_CASE("pow of every pair of special values is that of C99") {
  const float values[] = {0.0f,       1.0f,
                          2.0f,       3.0f,
                          0.5f,       1.5f,
                          2.5f,       0x1p-149f,
                          0x1p-126f,  0x1.fffffep+127f,
                          0x1p+24f,   16777215.0f,
                          8388607.5f, 16777218.0f,
                          0x1p+31f,   0x1.fffffep+30f,
                          1.0000001f, 0.99999994f,
                          inf,        not_a_number};
  for (const float a : values)
    for (const float b : values)
      for (const float x : {a, -a})
        for (const float y : {b, -b}) {
          CAPTURE(x);
          CAPTURE(y);
          const double exact = std::pow(static_cast<double>(x), static_cast<double>(y));
          const float got = elementary::pow(x, y), rounded = static_cast<float>(exact);
          if (rounded == 0.0f || std::isinf(rounded) || std::isnan(rounded) || rounded == 1.0f)
            CHECK((same_bits(got, rounded) || ulp_error(got, exact) <= 1.0));
          else
            CHECK(ulp_error(got, exact) <= 4.0);
        }
  CHECK(same_bits(elementary::pow(-0.0f, 3.0f), -0.0f));
  CHECK(elementary::pow(-0.0f, -3.0f) == -inf);
  CHECK(elementary::pow(-0.0f, -2.0f) == inf);
  CHECK(elementary::pow(-inf, -3.0f) == 0.0f);
  CHECK(std::signbit(elementary::pow(-inf, -3.0f)));
  CHECK(elementary::pow(1.0f, not_a_number) == 1.0f);
  CHECK(elementary::pow(not_a_number, -0.0f) == 1.0f);
  CHECK(std::isnan(elementary::pow(not_a_number, 1.0f)));
}

TEST_CASE("special values are those of C99") {
  CHECK(same_bits(exp_of(-inf), 0.0f));
  CHECK(exp_of(inf) == inf);
  CHECK(exp_of(0.0f) == 1.0f);
  CHECK(exp_of(-0.0f) == 1.0f);
  CHECK(log_of(0.0f) == -inf);
  CHECK(log_of(-0.0f) == -inf);
  CHECK(same_bits(log_of(1.0f), 0.0f));
  CHECK(std::isnan(log_of(-0x1p-149f)));
  CHECK(std::isnan(log_of(-inf)));
  CHECK(log_of(inf) == inf);
  CHECK(tanh_of(inf) == 1.0f);
  CHECK(tanh_of(-inf) == -1.0f);
  CHECK(erf_of(inf) == 1.0f);
  CHECK(erf_of(-inf) == -1.0f);
  CHECK(std::isnan(sin_of(inf)));
  CHECK(std::isnan(cos_of(-inf)));
  for (const auto f : {tanh_of, erf_of, sin_of}) {
    CHECK(same_bits(f(0.0f), 0.0f));
    CHECK(same_bits(f(-0.0f), -0.0f));
  }
  for (const auto f : {exp_of, log_of, tanh_of, erf_of, sin_of, cos_of})
    for (const float x :
         {not_a_number, -not_a_number, std::bit_cast<float>(0x7f800001u), std::bit_cast<float>(0xffffffffu)})
      CHECK(std::isnan(f(x)));
}

TEST_CASE("odd functions are odd and cos is even, in every bit") {
  draws random(11);
  for (int i = 0; i < 200'000; ++i) {
    const float x = random.any_float();
    if (std::isnan(x)) continue;
    for (const auto f : {tanh_of, erf_of, sin_of}) REQUIRE(same_bits(f(-x), -f(x)));
    REQUIRE(same_bits(cos_of(-x), cos_of(x)));
  }
}

TEST_CASE("constant expressions and running code give the same bits") {
  constexpr table exps(elementary::exp), logs(elementary::log), tanhs(elementary::tanh), erfs(elementary::erf);
  constexpr table sins(elementary::sin), coss(elementary::cos);
  for (size_t i = 0; i < sizeof(samples) / sizeof(float); ++i) {
    volatile float hidden = samples[i];
    const float x = hidden;
    CAPTURE(x);
    CHECK(same_bits(exp_of(x), exps.values[i]));
    CHECK(same_bits(log_of(x), logs.values[i]));
    CHECK(same_bits(tanh_of(x), tanhs.values[i]));
    CHECK(same_bits(erf_of(x), erfs.values[i]));
    CHECK(same_bits(sin_of(x), sins.values[i]));
    CHECK(same_bits(cos_of(x), coss.values[i]));
  }
  constexpr float power = elementary::pow(1.7f, -3.3f);
  volatile float base = 1.7f;
  CHECK(same_bits(elementary::pow(base, -3.3f), power));
}
