#include <poot/core/ieee.hpp>

#include <support/draws.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

using namespace poot;
using poot_tests::draws;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

// what compilers refuse in constant expressions
static_assert(ieee::is_infinite(ieee::div(1.0f, 0.0f)) && ieee::div(-1.0f, 0.0f) < 0 && ieee::div(1.0, -0.0) < 0);
static_assert(ieee::is_nan(ieee::div(0.0f, 0.0f)) && ieee::is_nan(ieee::div(inf, inf)) && ieee::div(1.0f, inf) == 0.0f);
static_assert(ieee::is_nan(ieee::mul(0.0f, inf)) && ieee::is_infinite(ieee::mul(0x1p+127f, -2.0f)));
static_assert(ieee::is_nan(ieee::add(inf, -inf)) && ieee::add(inf, inf) == inf && ieee::sub(1.0f, inf) == -inf);
static_assert(ieee::is_infinite(ieee::sub(-0x1.fffffffffffffp+1023, 0x1p+970)));
static_assert(ieee::sub(-0x1.fffffffffffffp+1023, 0x1p+969) == -0x1.fffffffffffffp+1023);
static_assert(ieee::is_nan(ieee::add(std::numeric_limits<float>::quiet_NaN(), 1.0f)));
static_assert(ieee::mul(0x1p-149f, 0.5f) == 0.0f && ieee::mul(0x1.8p-149f, 0.5f) == 0x1p-149f);
static_assert(!ieee::less(0.0f, -0.0f) && ieee::equal(0.0f, -0.0f) && ieee::less(-inf, -0x1.fffffep+127f));

float any(draws& random, float) {
  const uint64 kind = random.less_than(4);
  if (kind == 0) return random.any_float();
  if (kind == 1) {  // near the ends of the range
    const uint32 bits = random.less_than(2) ? 0x7f800000u - static_cast<uint32>(random.less_than(4))
                                            : static_cast<uint32>(random.less_than(4));
    return std::bit_cast<float>(bits | static_cast<uint32>(random.less_than(2)) << 31);
  }
  if (kind == 2) return static_cast<float>(random.between(-8, 8));
  return std::bit_cast<float>(static_cast<uint32>(random.less_than(2)) << 31 |
                              static_cast<uint32>(random.less_than(256)) << 23);
}
double any(draws& random, double) {
  const uint64 kind = random.less_than(4);
  if (kind == 0) return random.any_double();
  if (kind == 1) {
    const uint64 bits = random.less_than(2) ? 0x7ff0000000000000u - random.less_than(4) : random.less_than(4);
    return std::bit_cast<double>(bits | random.less_than(2) << 63);
  }
  if (kind == 2) return random.between(-8, 8);
  return std::bit_cast<double>(random.less_than(2) << 63 | random.less_than(2048) << 52);
}

template <class Float>
bool same(Float a, Float b) {
  return std::isnan(a) ? std::isnan(b) : ieee::to_bits(a) == ieee::to_bits(b);
}

/// The machine's own operation, out of the optimiser's sight.
template <class Float>
struct machine {
  volatile Float a, b;
  Float add() const { return a + b; }
  Float sub() const { return a - b; }
  Float mul() const { return a * b; }
  Float div() const { return a / b; }
};

template <class Float>
void check_operations(int count) {
  draws random(1);
  for (int i = 0; i < count; ++i) {
    const Float a = any(random, Float{}), b = any(random, Float{});
    const machine<Float> m{a, b};
    CAPTURE(a);
    CAPTURE(b);
    REQUIRE(same(ieee::add(a, b), m.add()));
    REQUIRE(same(ieee::sub(a, b), m.sub()));
    REQUIRE(same(ieee::mul(a, b), m.mul()));
    REQUIRE(same(ieee::div(a, b), m.div()));
    REQUIRE(same(ieee::folded_add(a, b), m.add()));
    REQUIRE(same(ieee::folded_mul(a, b), m.mul()));
    REQUIRE(same(ieee::folded_div(a, b), m.div()));
    REQUIRE(ieee::less(a, b) == (a < b));
    REQUIRE(ieee::equal(a, b) == (a == b));
    REQUIRE(ieee::is_nan(a) == std::isnan(a));
    REQUIRE(ieee::is_infinite(a) == std::isinf(a));
  }
}

template <class Float>
void check_square_roots(int count) {
  draws random(2);
  for (int i = 0; i < count; ++i) {
    const Float x = any(random, Float{});
    CAPTURE(x);
    REQUIRE(same(ieee::sqrt_by_digits(x), std::sqrt(x)));
    REQUIRE(same(ieee::sqrt(x), std::sqrt(x)));
  }
}

}  // namespace

TEST_CASE("operations agree with the machine, and those of constant expressions with both") {
  check_operations<float>(300'000);
  check_operations<double>(300'000);
}

TEST_CASE("square roots by digits are correctly rounded") {
  check_square_roots<float>(300'000);
  check_square_roots<double>(100'000);
}

TEST_CASE("a product rounds before it is added") {
  draws random(3);
  for (int i = 0; i < 100'000; ++i) {
    const float a = static_cast<float>(random.between(-2, 2)), b = static_cast<float>(random.between(-2, 2));
    const float c = static_cast<float>(random.between(-2, 2));
    const volatile float product = a * b;
    REQUIRE(ieee::to_bits(ieee::add(ieee::mul(a, b), c)) == ieee::to_bits(product + c));
    // the exact product and sum fit a double; two roundings differ from one in some of these
    const volatile double exact = static_cast<double>(a) * b;
    REQUIRE(ieee::mul(a, b) == static_cast<float>(exact));
  }
}
