#include <poot/core/elementary_f64.hpp>

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

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

int sample_count() {
  const char* s = std::getenv("POOT_LONG");
  return s && *s == '1' ? 10'000'000 : 100'000;
}
bool wide_long_double() {
  if (std::numeric_limits<long double>::digits >= 64) return true;
  MESSAGE("[SKIP] long double is no wider than double here");
  return false;
}

/// The greatest error against the long double function of the C library: over `least` ... `most`, over that interval
/// shrunk by powers of two, and over any bits.
template <class F, class Reference>
void check_error(const char* name, F f, Reference reference, double least, double most, double bound) {
  draws random(3);
  double worst = 0.0, at = 0.0;
  const int count = sample_count();
  for (int i = 0; i < count; ++i) {
    double x = random.between(least, most);
    if (i % 4 == 1) x = std::ldexp(x, -static_cast<int>(random.less_than(60)));
    if (i % 4 == 2) x = random.any_double();
    const double e = ulp_error(f(x), reference(static_cast<long double>(x)));
    if (e > worst) worst = e, at = x;
  }
  if (count > 100'000) MESSAGE(doctest::String(name) << ": at most " << worst << " ULP, at " << at);
  CHECK_MESSAGE(worst <= bound, doctest::String(name) << "(" << at << ")");
}

double exp_of(double x) { return elementary::exp(x); }
double log_of(double x) { return elementary::log(x); }
double tanh_of(double x) { return elementary::tanh(x); }
double erf_of(double x) { return elementary::erf(x); }
double sin_of(double x) { return elementary::sin(x); }
double cos_of(double x) { return elementary::cos(x); }

bool same_bits(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<uint64>(a) == std::bit_cast<uint64>(b);
}

}  // namespace

TEST_CASE("f64: exp, log, tanh, erf, sin and cos stay within 2 ULP") {
  if (!wide_long_double()) return;
  check_error(
      "exp", exp_of, [](long double x) { return std::exp(x); }, -750.0, 715.0, 2.0);
  check_error(
      "log", log_of, [](long double x) { return std::log(x); }, 0.3, 3.0, 2.0);
  check_error(
      "tanh", tanh_of, [](long double x) { return std::tanh(x); }, -4.0, 4.0, 2.0);
  check_error(
      "erf", erf_of, [](long double x) { return std::erf(x); }, -6.0, 6.0, 2.0);
  check_error(
      "sin", sin_of, [](long double x) { return std::sin(x); }, -0x1p+20, 0x1p+20, 2.0);
  check_error(
      "cos", cos_of, [](long double x) { return std::cos(x); }, -0x1p+20, 0x1p+20, 2.0);
}

TEST_CASE("f64: sin and cos keep their relative error next to multiples of pi/2") {
  if (!wide_long_double()) return;
  for (int k = 1; k <= 50'000; ++k) {
    const double x = k * 1.5707963267948966;
    for (const double y : {x, std::nextafter(x, inf), -std::ldexp(x, 40)}) {
      REQUIRE(ulp_error(sin_of(y), std::sin(static_cast<long double>(y))) <= 2.0);
      REQUIRE(ulp_error(cos_of(y), std::cos(static_cast<long double>(y))) <= 2.0);
    }
  }
}

TEST_CASE("f64: pow stays within 4 ULP") {
  if (!wide_long_double()) return;
  draws random(5);
  double worst = 0.0, at_x = 0.0, at_y = 0.0;
  const int count = sample_count();
  for (int i = 0; i < count; ++i) {
    double x = random.any_double(), y = random.any_double();
    if (i % 4 == 1) x = std::ldexp(1.0 + random.unit(), static_cast<int>(random.less_than(3)) - 1);
    if (i % 4 == 2) x = 1.0 + random.between(-1, 1) * std::ldexp(1.0, -static_cast<int>(random.less_than(53)));
    if (i % 4 != 0)
      y = static_cast<double>(random.between(-1080, 1030) / std::log2(std::fabs(static_cast<long double>(x))));
    if (i % 5 == 0) y = std::rint(y);
    const double e =
        ulp_error(elementary::pow(x, y), std::pow(static_cast<long double>(x), static_cast<long double>(y)));
    if (e > worst) worst = e, at_x = x, at_y = y;
  }
  if (count > 100'000) MESSAGE("pow: at most " << worst << " ULP, at " << at_x << ", " << at_y);
  CHECK_MESSAGE(worst <= 4.0, "pow(" << at_x << ", " << at_y << ")");
}

TEST_CASE("f64: pow of every pair of special values is that of C99") {
  const double values[] = {0.0,
                           1.0,
                           2.0,
                           3.0,
                           0.5,
                           1.5,
                           0x1p-1074,
                           0x1p-1022,
                           0x1.fffffffffffffp+1023,
                           0x1p+53,
                           9007199254740991.0,
                           4503599627370495.5,
                           0x1p+64,
                           inf,
                           not_a_number};
  for (const double a : values)
    for (const double b : values)
      for (const double x : {a, -a})
        for (const double y : {b, -b}) {
          CAPTURE(x);
          CAPTURE(y);
          const double expected = std::pow(x, y), got = elementary::pow(x, y);
          if (expected == 0.0 || std::isinf(expected) || std::isnan(expected) || expected == 1.0)
            CHECK(same_bits(got, expected));
          else
            CHECK(ulp_error(got, static_cast<long double>(expected)) <= 4.0);
        }
}

TEST_CASE("f64: special values are those of C99") {
  CHECK(same_bits(exp_of(-inf), 0.0));
  CHECK(exp_of(inf) == inf);
  CHECK(exp_of(-0.0) == 1.0);
  CHECK(log_of(0.0) == -inf);
  CHECK(log_of(-0.0) == -inf);
  CHECK(same_bits(log_of(1.0), 0.0));
  CHECK(std::isnan(log_of(-0x1p-1074)));
  CHECK(std::isnan(log_of(-inf)));
  CHECK(log_of(inf) == inf);
  CHECK(std::isnan(sin_of(inf)));
  CHECK(std::isnan(cos_of(-inf)));
  for (const auto f : {tanh_of, erf_of}) {
    CHECK(f(inf) == 1.0);
    CHECK(f(-inf) == -1.0);
  }
  for (const auto f : {tanh_of, erf_of, sin_of}) {
    CHECK(same_bits(f(0.0), 0.0));
    CHECK(same_bits(f(-0.0), -0.0));
    CHECK(same_bits(f(-0.7), -f(0.7)));
  }
  for (const auto f : {exp_of, log_of, tanh_of, erf_of, sin_of, cos_of})
    for (const double x : {not_a_number, -not_a_number}) CHECK(std::isnan(f(x)));
}

TEST_CASE("f64: constant expressions and running code give the same bits") {
  constexpr double exps[] = {elementary::exp(0.3), elementary::exp(-740.0), elementary::exp(709.0)};
  constexpr double sines[] = {elementary::sin(0.3), elementary::sin(-740.0), elementary::sin(1e300)};
  constexpr double others[] = {elementary::log(0.3), elementary::erf(-1.3), elementary::tanh(0.7),
                               elementary::pow(1.3, -80.5)};
  volatile double x[] = {0.3, -740.0, 709.0, 1e300, -1.3, 0.7, 1.3};
  CHECK(same_bits(exp_of(x[0]), exps[0]));
  CHECK(same_bits(exp_of(x[1]), exps[1]));
  CHECK(same_bits(exp_of(x[2]), exps[2]));
  CHECK(same_bits(sin_of(x[0]), sines[0]));
  CHECK(same_bits(sin_of(x[1]), sines[1]));
  CHECK(same_bits(sin_of(x[3]), sines[2]));
  CHECK(same_bits(log_of(x[0]), others[0]));
  CHECK(same_bits(erf_of(x[4]), others[1]));
  CHECK(same_bits(tanh_of(x[5]), others[2]));
  CHECK(same_bits(elementary::pow(x[6], -80.5), others[3]));
}
