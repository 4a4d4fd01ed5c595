#pragma once
/// Binary floating-point formats as bit patterns, and the one rounding (to nearest, ties to even) that every
/// conversion goes through. Works in constant expressions and under any compiler flag: only integers are used.

#include <poot/core/dtype.hpp>

#include <bit>

namespace poot {

/// Widths in bits of the fields of an IEEE 754 binary interchange format (bfloat16 included).
struct float_format {
  int exponent_bits;
  int fraction_bits;
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr uint64 exponent_mask() const { return (uint64{1} << exponent_bits) - 1; }
  constexpr uint64 fraction_mask() const { return (uint64{1} << fraction_bits) - 1; }
  constexpr uint64 sign_bit() const { return uint64{1} << (exponent_bits + fraction_bits); }
  constexpr uint64 infinity() const { return exponent_mask() << fraction_bits; }
  constexpr uint64 quiet_nan() const { return infinity() | uint64{1} << (fraction_bits - 1); }
};

inline constexpr float_format binary64{11, 52};
inline constexpr float_format binary32{8, 23};
inline constexpr float_format binary16{5, 10};
inline constexpr float_format bfloat16{8, 7};

/// The format of a float dtype.
constexpr float_format format_of(dtype t) {
  switch (t) {
    case dtype::f64: return binary64;
    case dtype::f16: return binary16;
    case dtype::bf16: return bfloat16;
    default: return binary32;
  }
}

constexpr bool is_nan_bits(float_format f, uint64 bits) { return (bits & ~f.sign_bit()) > f.infinity(); }

/// The bits of (-1)^negative · significand · 2^exponent, rounded once. `inexact` says that the true value lies
/// strictly between `significand` and `significand + 1` (in units of 2^exponent).
constexpr uint64 round_bits(float_format f, bool negative, uint64 significand, int exponent, bool inexact = false) {
  const uint64 sign = negative ? f.sign_bit() : 0;
  if (significand == 0) return sign;  // an inexact value below the least unit needs a larger significand
  const int top = 63 - std::countl_zero(significand);
  int lowest = top + exponent - f.fraction_bits;  // exponent of the result's last place
  const int floor = 1 - f.bias() - f.fraction_bits;
  if (lowest < floor) lowest = floor;
  const int shift = lowest - exponent;
  uint64 kept;
  if (shift <= 0) {
    kept = significand << -shift;  // exact; -shift < 64 because `top` stays within fraction_bits
  } else {
    const uint64 rest = shift > 63 ? significand : significand & ((uint64{1} << shift) - 1);
    const uint64 half = shift > 64 ? 0 : uint64{1} << (shift - 1);
    kept = shift > 63 ? 0 : significand >> shift;
    const bool above = shift <= 64 && (rest > half || (rest == half && inexact));
    const bool tie = shift <= 64 && rest == half && !inexact;
    if (above || (tie && (kept & 1))) ++kept;
  }
  // `kept` counts units of 2^lowest; a carry into the next binade gives the right bits by itself.
  const uint64 biased = kept >> f.fraction_bits ? static_cast<uint64>(lowest - floor) + 1 : 0;
  if (biased >= f.exponent_mask()) return sign | f.infinity();
  const uint64 bits = biased ? ((biased - 1) << f.fraction_bits) + kept : kept;
  return sign | (bits >= f.infinity() ? f.infinity() : bits);
}

/// Converts bits between formats, rounding once. A NaN keeps sign and leading payload bits (never becomes
/// infinity), so widening and narrowing back returns the same bits.
constexpr uint64 convert_bits(float_format from, float_format to, uint64 bits) {
  const bool negative = bits & from.sign_bit();
  const uint64 exponent = (bits >> from.fraction_bits) & from.exponent_mask();
  const uint64 fraction = bits & from.fraction_mask();
  const uint64 sign = negative ? to.sign_bit() : 0;
  if (exponent == from.exponent_mask()) {
    if (fraction == 0) return sign | to.infinity();
    const int shift = from.fraction_bits - to.fraction_bits;
    uint64 payload = shift >= 0 ? fraction >> shift : fraction << -shift;
    if (payload == 0) payload = uint64{1} << (to.fraction_bits - 1);
    return sign | to.infinity() | payload;
  }
  const int lowest = 1 - from.bias() - from.fraction_bits;
  if (exponent == 0) return round_bits(to, negative, fraction, lowest);
  return round_bits(to, negative, fraction | (from.fraction_mask() + 1), lowest + static_cast<int>(exponent) - 1);
}

/// f16 and bf16 are carried as their 16 bits.
constexpr float f16_to_f32(uint16 bits) {
  return std::bit_cast<float>(static_cast<uint32>(convert_bits(binary16, binary32, bits)));
}
constexpr uint16 f32_to_f16(float value) {
  return static_cast<uint16>(convert_bits(binary32, binary16, std::bit_cast<uint32>(value)));
}
constexpr float bf16_to_f32(uint16 bits) { return std::bit_cast<float>(static_cast<uint32>(bits) << 16); }
constexpr uint16 f32_to_bf16(float value) {
  return static_cast<uint16>(convert_bits(binary32, bfloat16, std::bit_cast<uint32>(value)));
}

static_assert(f32_to_f16(65519.996f) == 0x7bff && f32_to_f16(65520.0f) == 0x7c00);
static_assert(f32_to_f16(0x1.000002p-25f) == 1 && f32_to_f16(0x1p-25f) == 0);
static_assert(f32_to_bf16(1.00390625f) == 0x3f80 && f32_to_bf16(1.01171875f) == 0x3f82);
static_assert(f16_to_f32(0x0001) == 0x1p-24f && f16_to_f32(0xfc00) < -3.4e38f);

}  // namespace poot
