#include <poot/core/rounding.hpp>

#include <support/draws.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>

using namespace poot;
using poot_tests::draws;

namespace {

// to nearest, ties to even, at the ends of each range
static_assert(round_bits(binary16, false, 1, -25) == 0 && round_bits(binary16, false, 1, -25, true) == 1);
static_assert(round_bits(binary16, true, 0, 0) == 0x8000 && round_bits(binary16, true, 3, -25) == 0x8002);
static_assert(round_bits(binary16, false, 2047, 5) == 0x7bff && round_bits(binary16, false, 4095, 4) == 0x7c00);
static_assert(round_bits(binary32, false, 1, 127) == 0x7f000000 && round_bits(binary32, false, 1, 128) == 0x7f800000);
static_assert(round_bits(bfloat16, false, ~uint64{0}, -64) == 0x3f80);
static_assert(f16_to_f32(0x3c00) == 1.0f && f16_to_f32(0x03ff) == 0x3ffp-24f && f16_to_f32(0x7bff) == 65504.0f);
static_assert(bf16_to_f32(0xc000) == -2.0f && f32_to_bf16(-2.0f) == 0xc000);

#if defined(__SSE2__) || defined(__aarch64__)
#define POOT_TEST_FLOAT16
#endif

/// The format's numbers in order of value, so that a rounding can be checked without one: the result of x is the
/// nearer neighbour, or the even one.
bool rounds_to_nearest(double x, uint16 result, float (*widen)(uint16), uint16 infinity) {
  if ((result & 0x8000) != (std::signbit(x) ? 0x8000 : 0)) return false;
  const uint16 size = result & 0x7fff;
  const double a = std::fabs(x);
  // infinity stands where the next number would be
  const auto value = [&](int bits) {
    if (bits < infinity) return static_cast<double>(widen(static_cast<uint16>(bits)));
    return 2.0 * widen(static_cast<uint16>(infinity - 1)) - widen(static_cast<uint16>(infinity - 2));
  };
  const double here = value(size);
  if (size == infinity) {
    const double edge = (value(size - 1) + here) / 2;
    return a >= edge;
  }
  const double above = (here + value(size + 1)) / 2, below = size ? (here + value(size - 1)) / 2 : -1.0;
  const bool even = !(size & 1);
  return even ? below <= a && a <= above : below < a && a < above;
}

}  // namespace

TEST_CASE("f16 and bf16 widen and narrow back to the same bits, NaN payloads included") {
  for (uint32 b = 0; b < 65536; ++b) {
    const uint16 bits = static_cast<uint16>(b);
    REQUIRE(f32_to_f16(f16_to_f32(bits)) == bits);
    REQUIRE(f32_to_bf16(bf16_to_f32(bits)) == bits);
    REQUIRE(convert_bits(binary64, binary16, convert_bits(binary16, binary64, b)) == b);
    REQUIRE(convert_bits(binary64, bfloat16, convert_bits(bfloat16, binary64, b)) == b);
  }
}

TEST_CASE("f16 values are sign, significand and exponent as IEEE 754 defines them") {
  for (uint32 b = 0; b < 0x7c00; ++b) {
    const int exponent = static_cast<int>(b >> 10), fraction = static_cast<int>(b & 1023);
    const float value = exponent ? std::ldexp(static_cast<float>(1024 + fraction), exponent - 25)
                                 : std::ldexp(static_cast<float>(fraction), -24);
    REQUIRE(f16_to_f32(static_cast<uint16>(b)) == value);
    REQUIRE(f16_to_f32(static_cast<uint16>(b | 0x8000)) == -value);
  }
  CHECK(f16_to_f32(0x7c00) == INFINITY);
  CHECK(f16_to_f32(0xfc00) == -INFINITY);
}

TEST_CASE("narrowing picks the nearest number, the even one of two") {
  for (uint64 b = 0; b < uint64{1} << 32; b += 9973) {
    const float x = std::bit_cast<float>(static_cast<uint32>(b));
    if (std::isnan(x)) {
      REQUIRE(is_nan_bits(binary16, f32_to_f16(x)));
      REQUIRE(is_nan_bits(bfloat16, f32_to_bf16(x)));
      continue;
    }
    REQUIRE(rounds_to_nearest(x, f32_to_f16(x), f16_to_f32, 0x7c00));
    REQUIRE(rounds_to_nearest(x, f32_to_bf16(x), bf16_to_f32, 0x7f80));
  }
  // on and beside every tie of f16
  for (uint32 b = 0; b < 0x7bff; ++b) {
    const float tie = (f16_to_f32(static_cast<uint16>(b)) + f16_to_f32(static_cast<uint16>(b + 1))) / 2;
    for (const float x : {tie, std::nextafter(tie, 0.0f), std::nextafter(tie, INFINITY), -tie})
      REQUIRE(rounds_to_nearest(x, f32_to_f16(x), f16_to_f32, 0x7c00));
  }
}

#ifdef POOT_TEST_FLOAT16
TEST_CASE("f16 conversions are the compiler's") {
  for (uint64 b = 0; b < uint64{1} << 32; b += 997) {
    const float x = std::bit_cast<float>(static_cast<uint32>(b));
    if (!std::isnan(x)) REQUIRE(f32_to_f16(x) == std::bit_cast<uint16>(static_cast<_Float16>(x)));
  }
  draws random(1);
  for (int i = 0; i < 200'000; ++i) {
    // straight from f64, in one rounding
    const double x = std::ldexp(random.between(-2, 2), static_cast<int>(random.less_than(44)) - 27);
    REQUIRE(convert_bits(binary64, binary16, std::bit_cast<uint64>(x)) ==
            std::bit_cast<uint16>(static_cast<_Float16>(x)));
  }
}
#endif

TEST_CASE("conversions between f32 and f64 are the machine's") {
  draws random(2);
  for (int i = 0; i < 500'000; ++i) {
    double x = random.any_double();
    if (i & 1) x = std::ldexp(random.between(-2, 2), static_cast<int>(random.less_than(290)) - 155);
    if (!std::isnan(x))
      REQUIRE(convert_bits(binary64, binary32, std::bit_cast<uint64>(x)) ==
              std::bit_cast<uint32>(static_cast<float>(x)));
    const float y = random.any_float();
    if (!std::isnan(y))
      REQUIRE(convert_bits(binary32, binary64, std::bit_cast<uint32>(y)) ==
              std::bit_cast<uint64>(static_cast<double>(y)));
  }
}

TEST_CASE("an inexact significand with bits to spare rounds like one with a nonzero bit further down") {
  draws random(3);
  for (int i = 0; i < 200'000; ++i) {
    uint64 significand = random.next() >> (1 + random.less_than(36)) | uint64{1} << 27;
    if (i & 1) significand &= ~uint64{0} << random.less_than(27);  // often on a tie
    const int exponent = static_cast<int>(random.less_than(300)) - 200;
    for (const float_format f : {binary16, bfloat16, binary32})
      REQUIRE(round_bits(f, false, significand, exponent, true) ==
              round_bits(f, false, significand << 1 | 1, exponent - 1));
  }
}

TEST_CASE("scaling by powers of two commutes with rounding away from the ends") {
  draws random(4);
  for (int i = 0; i < 200'000; ++i) {
    const uint64 significand = random.next() >> random.less_than(64);
    if (!significand) continue;
    const uint64 rounded = round_bits(binary64, random.less_than(2), significand, 0);
    const int shift = static_cast<int>(random.less_than(800)) - 400;
    const double expected = std::ldexp(std::bit_cast<double>(rounded), shift);
    REQUIRE(round_bits(binary64, rounded >> 63, significand, shift) == std::bit_cast<uint64>(expected));
    REQUIRE(std::bit_cast<double>(rounded & ~(uint64{1} << 63)) == static_cast<double>(significand));
  }
}
