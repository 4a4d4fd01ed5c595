#include <poot/ir/evaluate.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace poot;
using namespace poot::ir;

namespace {

constexpr uint64 f(float x) { return ieee::to_bits(x); }
constexpr uint64 d(double x) { return ieee::to_bits(x); }
constexpr uint64 w(int32 x) { return static_cast<uint32>(x); }
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr uint64 nan_bits = 0x7fc00001;

constexpr uint64 run(op o, dtype t, uint64 a, uint64 b = 0) { return evaluate(o, t, t, a, b); }
constexpr uint64 compare(op o, dtype t, uint64 a, uint64 b) { return evaluate(o, t, dtype::i32, a, b); }
constexpr uint64 cast(dtype from, dtype to, uint64 a) { return evaluate(op::cast, from, to, a); }
constexpr bool is_nan_f32(uint64 bits) { return is_nan_bits(binary32, bits); }

// max and min: NaN wins, and -0 is less than +0
static_assert(is_nan_f32(run(op::max, f32, nan_bits, f(1))) && is_nan_f32(run(op::min, f32, f(1), nan_bits)));
static_assert(run(op::max, f32, f(-0.0f), f(0.0f)) == 0 && run(op::max, f32, f(0.0f), f(-0.0f)) == 0);
static_assert(run(op::min, f32, f(-0.0f), f(0.0f)) == 0x80000000 && run(op::min, f32, f(0.0f), f(-0.0f)) == 0x80000000);
static_assert(run(op::max, f32, f(-3), f(-2)) == f(-2) && run(op::min, f32, f(infinity), f(2)) == f(2));
// comparisons with NaN are 0, ne is 1; -0 equals +0
static_assert(compare(op::eq, f32, nan_bits, nan_bits) == 0 && compare(op::ne, f32, nan_bits, nan_bits) == 1);
static_assert(compare(op::le, f32, nan_bits, f(1)) == 0 && compare(op::ge, f32, f(1), nan_bits) == 0);
static_assert(compare(op::eq, f32, f(-0.0f), 0) == 1 && compare(op::lt, f32, f(-0.0f), 0) == 0);
static_assert(compare(op::gt, u32, 0x80000000, 1) == 1 && compare(op::gt, i32, 0x80000000, 1) == 0);
static_assert(compare(op::ne, boolean, 1, 0) == 1 && compare(op::eq, boolean, 1, 1) == 1);
// integers
static_assert(run(op::div, i32, w(-7), w(2)) == w(-3) && run(op::div, i32, w(5), 0) == 0);
static_assert(run(op::div, i32, 0x80000000, w(-1)) == 0x80000000 && run(op::div, i8, 0x80, 0xff) == 0x80);
static_assert(run(op::add, i32, 0x7fffffff, 1) == 0x80000000 && run(op::mul, u32, 0xffffffff, 0xffffffff) == 1);
static_assert(run(op::add, u8, 200, 100) == 44 && run(op::sub, i8, 0x80, 1) == 0x7f && run(op::neg, u8, 1) == 255);
static_assert(run(op::abs, i32, 0x80000000) == 0x80000000 && run(op::neg, i32, 0x80000000) == 0x80000000);
static_assert(run(op::shr, i32, w(-8), 33) == w(-4) && run(op::shr, u32, w(-8), 1) == 0x7ffffffc);
static_assert(run(op::shl, i32, 1, 32) == 1 && run(op::shl, u32, 3, 31) == 0x80000000);
static_assert(run(op::bit_not, u32, 0) == 0xffffffff && run(op::bit_xor, i32, w(-1), 1) == w(-2));
// select moves bits, also those of a signalling NaN
static_assert(evaluate(op::select, f32, f32, 1, 0x7f800001, 0) == 0x7f800001);
static_assert(evaluate(op::select, f16, f16, 0, 1, 0xfc01) == 0xfc01);
// narrow floats round once, from f32
static_assert(run(op::add, f16, 0x6800, 0x3c00) == 0x6800);                 // 2048 + 1 ties to even
static_assert(run(op::add, f16, 0x7bff, 0x4c00) == 0x7c00);                 // 65504 + 16 is a tie: to infinity
static_assert(run(op::mul, bf16, 0x3f81, 0x3f81) == 0x3f82);                // 1.0078125^2 = 1.01568…
static_assert(run(op::neg, bf16, 0x0000) == 0x8000 && run(op::abs, f16, 0x8001) == 0x0001);
// floor
static_assert(run(op::floor, f32, f(-0.25f)) == f(-1) && run(op::floor, f32, f(-0.0f)) == f(-0.0f));
static_assert(run(op::floor, f32, f(2.75f)) == f(2) && run(op::floor, f64, d(-2.5)) == d(-3));
// casts
static_assert(cast(f32, i32, f(3e9f)) == 0x7fffffff && cast(f32, i32, f(-infinity)) == 0x80000000);
static_assert(cast(f32, u32, f(-1)) == 0 && cast(f32, i8, f(-128.9f)) == 0x80 && cast(f32, i32, nan_bits) == 0);
static_assert(cast(f64, f16, d(1.0 + 0x1p-11 + 0x1p-40)) == 0x3c01);        // through f32 the tie would go to even
static_assert(cast(i32, f32, w(16777217)) == f(16777216.0f) && cast(u32, f32, 0xffffffff) == f(0x1p32f));
static_assert(cast(i32, bf16, w(-257)) == 0xc380 && cast(u32, f16, 65520) == 0x7c00);  // -257 ties to -256
static_assert(cast(f32, boolean, nan_bits) == 1 && cast(f32, boolean, f(-0.0f)) == 0 && cast(i32, boolean, 256) == 1);
static_assert(cast(boolean, f16, 1) == 0x3c00 && cast(boolean, i32, 1) == 1 && cast(i32, u8, w(-1)) == 0);
static_assert(cast(i32, i8, 300) == 127 && cast(u32, i32, 0xffffffff) == 0x7fffffff);

struct random_words {
  uint64 state;
  uint64 operator()() {
    state += 0x9E3779B97F4A7C15u;
    uint64 z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
};

/// Any bits, but often the special values and neighbours of powers of two.
uint64 some_f32(random_words& random) {
  constexpr uint32 special[] = {0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 1, 0x807fffff, 0x3f800000, 0x4f000000, 0xcf000000, 0x4effffff, 0x33800000};
  const uint64 r = random();
  if (r % 4 == 0) return special[(r >> 8) % 12];
  if (r % 4 == 1) return (0x30000000 + (r >> 8) % 0x20000000) | (r >> 63 << 31);
  return static_cast<uint32>(r >> 16);
}

bool same(uint64 got, float want) { return got == f(want) || (is_nan_f32(got) && std::isnan(want)); }

}  // namespace

TEST_CASE("f32 arithmetic and comparisons are the machine's") {
  random_words random{1};
  for (int i = 0; i < 300000; ++i) {
    const uint64 x = some_f32(random), y = some_f32(random);
    volatile float a = ieee::from_bits(static_cast<uint32>(x)), b = ieee::from_bits(static_cast<uint32>(y));
    volatile float sum = a + b, difference = a - b, product = a * b, quotient = a / b, inverse = 1.0f / a;
    REQUIRE(same(run(op::add, f32, x, y), sum));
    REQUIRE(same(run(op::sub, f32, x, y), difference));
    REQUIRE(same(run(op::mul, f32, x, y), product));
    REQUIRE(same(run(op::div, f32, x, y), quotient));
    REQUIRE(same(run(op::recip, f32, x), inverse));
    REQUIRE(same(run(op::sqrt, f32, x), std::sqrt(a)));
    REQUIRE(same(run(op::floor, f32, x), std::floor(a)));
    REQUIRE(same(run(op::abs, f32, x), std::fabs(a)));
    REQUIRE(compare(op::eq, f32, x, y) == (a == b));
    REQUIRE(compare(op::ne, f32, x, y) == (a != b));
    REQUIRE(compare(op::lt, f32, x, y) == (a < b));
    REQUIRE(compare(op::le, f32, x, y) == (a <= b));
    REQUIRE(compare(op::gt, f32, x, y) == (a > b));
    REQUIRE(compare(op::ge, f32, x, y) == (a >= b));
    if (!std::isnan(a) && !std::isnan(b) && a != b) {
      REQUIRE(same(run(op::max, f32, x, y), std::fmax(a, b)));
      REQUIRE(same(run(op::min, f32, x, y), std::fmin(a, b)));
    }
  }
}

TEST_CASE("f64 arithmetic is the machine's") {
  random_words random{2};
  for (int i = 0; i < 100000; ++i) {
    const uint64 x = random(), y = i % 2 ? random() : (x & ~uint64{0xfff}) | (random() & 0xfff);
    volatile double a = ieee::from_bits(x), b = ieee::from_bits(y);
    volatile double sum = a + b, difference = a - b, product = a * b, quotient = a / b;
    auto check = [](uint64 got, double want) { return got == d(want) || (is_nan_bits(binary64, got) && std::isnan(want)); };
    REQUIRE(check(run(op::add, f64, x, y), sum));
    REQUIRE(check(run(op::sub, f64, x, y), difference));
    REQUIRE(check(run(op::mul, f64, x, y), product));
    REQUIRE(check(run(op::div, f64, x, y), quotient));
    REQUIRE(check(run(op::floor, f64, x), std::floor(a)));
    REQUIRE(check(run(op::sqrt, f64, x), std::sqrt(a)));
  }
}

TEST_CASE("integers wrap in their own width") {
  random_words random{3};
  for (int i = 0; i < 200000; ++i) {
    const uint64 r = random();
    const uint32 a = static_cast<uint32>(r) >> (r >> 59), b = static_cast<uint32>(r >> 32) >> (random() & 31);
    REQUIRE(run(op::add, i32, a, b) == uint32(a + b));
    REQUIRE(run(op::sub, u32, a, b) == uint32(a - b));
    REQUIRE(run(op::mul, i32, a, b) == uint32(a * b));
    REQUIRE(run(op::shl, u32, a, b) == uint32(a << (b % 32)));
    REQUIRE(run(op::shr, u32, a, b) == a >> (b % 32));
    if (b) REQUIRE(run(op::div, u32, a, b) == a / b);
    if (b && !(a == 0x80000000 && b == 0xffffffff)) REQUIRE(run(op::div, i32, a, b) == w(int32(a) / int32(b)));
    REQUIRE(run(op::max, i32, a, b) == w(int32(a) > int32(b) ? int32(a) : int32(b)));
    REQUIRE(run(op::min, u32, a, b) == (a < b ? a : b));
    const uint8 p = static_cast<uint8>(a), q = static_cast<uint8>(b);
    REQUIRE(run(op::add, i8, p, q) == uint8(p + q));
    REQUIRE(run(op::mul, u8, p, q) == uint8(p * q));
    if (q) REQUIRE(run(op::div, i8, p, q) == uint8(int8(p) / int8(q)));
    REQUIRE(run(op::max, i8, p, q) == uint8(int8(p) > int8(q) ? p : q));
  }
}

TEST_CASE("f16 and bf16 arithmetic and casts are the nearest of the values of the format") {
  random_words random{4};
  // The value of 16 bits, and the bits of the nearest value, from the definition of the formats.
  struct form {
    dtype t;
    int fraction, bias;
    double value(uint64 bits) const {
      const int exponent = static_cast<int>(bits >> fraction & ((2 << (14 - fraction)) - 1));
      const double part = std::ldexp(static_cast<double>(bits & ((1u << fraction) - 1)), -fraction);
      const bool top = exponent == 2 * bias + 1;
      const double size = top ? (part == 0 ? double(infinity) : std::nan(""))
                              : exponent ? std::ldexp(1 + part, exponent - bias) : std::ldexp(part, 1 - bias);
      return bits >> 15 ? -size : size;
    }
    double nearest(double x) const {
      if (x == 0 || !std::isfinite(x)) return x;
      int exponent = 0;
      std::frexp(x, &exponent);
      const double unit = std::ldexp(1, std::max(exponent - 1, 1 - bias) - fraction);
      const double r = std::nearbyint(x / unit) * unit;
      return std::fabs(r) >= std::ldexp(2, bias) ? std::copysign(double(infinity), x) : r;
    }
    bool is(uint64 bits, double x) const {
      const double got = value(bits), want = nearest(x);
      return std::isnan(want) ? std::isnan(got) : got == want && std::signbit(got) == std::signbit(want);
    }
  };
  for (const form& h : {form{f16, 10, 15}, form{bf16, 7, 127}})
    for (int i = 0; i < 150000; ++i) {
      const uint64 r = random();
      const uint16 a = static_cast<uint16>(r), b = static_cast<uint16>(r >> 16);
      const float x = static_cast<float>(h.value(a)), y = static_cast<float>(h.value(b));
      volatile float sum = x + y, product = x * y, quotient = x / y;
      REQUIRE(h.is(run(op::add, h.t, a, b), sum));
      REQUIRE(h.is(run(op::mul, h.t, a, b), product));
      REQUIRE(h.is(run(op::div, h.t, a, b), quotient));
      REQUIRE(h.is(run(op::sqrt, h.t, a), std::sqrt(x)));
      REQUIRE(same(cast(h.t, f32, a), x));
      const uint64 wide = (r & 0x8000000fffffffff) | (0x3e00000000000000 + (r >> 10 & 0x03f0000000000000));
      REQUIRE(h.is(cast(f64, h.t, wide), ieee::from_bits(wide)));  // in one rounding
      const uint32 single = static_cast<uint32>(r >> 32);
      REQUIRE(h.is(cast(f32, h.t, single), static_cast<double>(ieee::from_bits(single))));
      REQUIRE(h.is(cast(i32, h.t, single), static_cast<double>(static_cast<int32>(single))));
    }
}

TEST_CASE("casts between f32, f64 and integers are the machine's where those are defined") {
  random_words random{5};
  for (int i = 0; i < 200000; ++i) {
    const uint64 r = random(), x = some_f32(random);
    const float a = ieee::from_bits(static_cast<uint32>(x));
    const double b = ieee::from_bits(r);
    if (a > -2147483904.0f && a < 2147483648.0f) REQUIRE(cast(f32, i32, x) == w(static_cast<int32>(a)));
    if (a > -1.0f && a < 4294967296.0f) REQUIRE(cast(f32, u32, x) == static_cast<uint32>(a));
    if (a >= 2147483648.0f) REQUIRE(cast(f32, i32, x) == 0x7fffffff);
    if (a <= -2147483648.0f) REQUIRE(cast(f32, i32, x) == 0x80000000);
    if (a > -129.0f && a < 128.0f) REQUIRE(cast(f32, i8, x) == uint8(static_cast<int8>(a)));
    REQUIRE(cast(i32, f32, r & 0xffffffff) == f(static_cast<float>(static_cast<int32>(r))));
    REQUIRE(cast(u32, f32, r & 0xffffffff) == f(static_cast<float>(static_cast<uint32>(r))));
    REQUIRE(cast(i32, f64, r & 0xffffffff) == d(static_cast<int32>(r)));
    if (!std::isnan(b)) REQUIRE(cast(f64, f32, r) == f(static_cast<float>(b)));
    if (!std::isnan(a)) REQUIRE(cast(f32, f64, x) == d(static_cast<double>(a)));
  }
}

TEST_CASE("every 16-bit pattern returns from f32, and bf16 is the upper half of f32") {
  for (uint32 bits = 0; bits < 0x10000; ++bits) {
    REQUIRE(cast(f32, f16, cast(f16, f32, bits)) == bits);
    REQUIRE(cast(bf16, f32, bits) == bits << 16);
    REQUIRE(cast(f32, bf16, uint64{bits} << 16) == bits);
  }
}

TEST_CASE("elementary functions of narrow floats go through f32 and round once") {
  for (uint32 bits = 0; bits < 0x10000; bits += 7) {
    const uint64 wide = cast(f16, f32, bits);
    for (op o : {op::exp, op::log, op::sin, op::cos, op::tanh, op::erf})
      REQUIRE(run(o, f16, bits) == cast(f32, f16, run(o, f32, wide)));
    REQUIRE(run(op::pow, bf16, bits, 0x4010) == cast(f32, bf16, run(op::pow, f32, bits << 16, 0x40100000)));
  }
}
