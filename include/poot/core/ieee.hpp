#pragma once
/// Single IEEE 754 operations on scalars that stay single under every compiler flag.
///
/// g++ contracts `a * b + c` by default, and `-Ofast` reassociates, replaces division by an estimate and removes
/// NaN tests. So every result passes through an empty `asm`, which costs no instruction and which no optimiser looks
/// through; under `-ffast-math` the operands do too, and division and square root are written as instructions.
/// The vector twins of these functions live in run/host/simd; elementary functions are written once over both.

#include <poot/core/integers.hpp>

#include <bit>
#include <type_traits>

#if defined(__SSE2__)
#define POOT_FLOAT_REGISTER "+x"
#elif defined(__aarch64__)
#define POOT_FLOAT_REGISTER "+w"
#else
#define POOT_FLOAT_REGISTER "+m"
#endif

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#define POOT_FINITE_ALGEBRA
#endif

namespace poot::ieee {

/// Hides a value from the optimiser.
template <class Float>
constexpr Float opaque(Float x) {
  if (!std::is_constant_evaluated()) asm("" : POOT_FLOAT_REGISTER(x));
  return x;
}

/// Hides two operands where the flags allow the compiler to reason with non-IEEE algebra, in one `asm`: of two equal ones
/// it makes one value, and then infinity - infinity is 0. (clang 19 also takes every float argument and result of a
/// function for a finite number.)
template <class Float>
constexpr void hide([[maybe_unused]] Float& a, [[maybe_unused]] Float& b) {
#ifdef POOT_FINITE_ALGEBRA
  asm("" : POOT_FLOAT_REGISTER(a), POOT_FLOAT_REGISTER(b));
#endif
}

/// The same for bits on their way from or to a float, in an integer register: clang takes the result of a floating
/// `asm` for finite too.
template <class Bits>
constexpr Bits hidden(Bits b) {
#ifdef POOT_FINITE_ALGEBRA
  if (!std::is_constant_evaluated()) asm("" : "+r"(b));
#endif
  return b;
}

constexpr uint32 to_bits(float x) { return hidden(std::bit_cast<uint32>(x)); }
constexpr uint64 to_bits(double x) { return hidden(std::bit_cast<uint64>(x)); }
constexpr float from_bits(uint32 b) { return std::bit_cast<float>(hidden(b)); }
constexpr double from_bits(uint64 b) { return std::bit_cast<double>(hidden(b)); }

constexpr bool is_nan(float x) { return (to_bits(x) & 0x7fffffffu) > 0x7f800000u; }
constexpr bool is_nan(double x) { return (to_bits(x) & ~(uint64{1} << 63)) > (uint64{0x7ff} << 52); }

/// The fields of a scalar format, for the integer side of the functions below.
template <class Float>
struct scalar_bits {
  using bits = decltype(to_bits(Float{}));
  static constexpr bits sign = bits{1} << (8 * sizeof(bits) - 1);
  static constexpr bits infinity = sizeof(bits) == 4 ? bits{0xff} << 23 : static_cast<bits>(uint64{0x7ff} << 52);
  static constexpr Float quiet_nan = from_bits(static_cast<bits>(infinity | (infinity >> 1)));
  static constexpr Float half_range = sizeof(bits) == 4 ? Float(0x1p64) : Float(0x1p512);  // sqrt of the first overflow
};

template <class Float>
constexpr bool is_infinite(Float x) { return (to_bits(x) & ~scalar_bits<Float>::sign) == scalar_bits<Float>::infinity; }

/// Infinity with the sign of `x`.
template <class Float>
constexpr Float infinity_like(Float x) {
  using fields = scalar_bits<Float>;
  return from_bits(static_cast<typename fields::bits>((to_bits(x) & fields::sign) | fields::infinity));
}

/// |x| < half_range, the common case, which costs few steps of constant evaluation.
template <class Float>
constexpr bool is_moderate(Float x) {
  return x < scalar_bits<Float>::half_range && x > -scalar_bits<Float>::half_range;
}

/// The operations in constant expressions, where compilers refuse to overflow, to divide by zero and to touch a NaN:
/// those results are spelt out, found from a copy of the operation scaled by powers of two.
template <class Float>
constexpr Float folded_add(Float a, Float b) {
  if (is_moderate(a) && is_moderate(b)) return a + b;
  if (is_nan(a) || is_nan(b)) return scalar_bits<Float>::quiet_nan;
  if (is_infinite(a)) return is_infinite(b) && to_bits(a) != to_bits(b) ? scalar_bits<Float>::quiet_nan : a;
  if (is_infinite(b)) return b;
  using fields = scalar_bits<Float>;
  constexpr Float fourth = Float(0.25), limit = fourth * fields::half_range * fields::half_range;
  const Float quarter = a * fourth + b * fourth;
  if (quarter >= limit || quarter <= -limit) return infinity_like(quarter);
  return a + b;
}
template <class Float>
constexpr Float folded_mul(Float a, Float b) {
  if (is_moderate(a) && is_moderate(b)) return a * b;
  if (is_nan(a) || is_nan(b)) return scalar_bits<Float>::quiet_nan;
  const Float signs = from_bits(static_cast<decltype(to_bits(a))>(to_bits(a) ^ to_bits(b)));
  if (is_infinite(a) || is_infinite(b)) return a == 0 || b == 0 ? scalar_bits<Float>::quiet_nan : infinity_like(signs);
  const Float scaled = (a / scalar_bits<Float>::half_range) * (b / scalar_bits<Float>::half_range);
  if (scaled >= 1 || scaled <= -1) return infinity_like(scaled);
  return a * b;
}
template <class Float>
constexpr Float folded_div(Float a, Float b) {
  if (is_moderate(a) && b >= 1 && is_moderate(b)) return a / b;
  if (is_nan(a) || is_nan(b)) return scalar_bits<Float>::quiet_nan;
  const Float signs = from_bits(static_cast<decltype(to_bits(a))>(to_bits(a) ^ to_bits(b)));
  if (is_infinite(a) || b == 0)
    return is_infinite(b) || a == 0 ? scalar_bits<Float>::quiet_nan : infinity_like(signs);
  if (b < 1 && b > -1) {
    const Float scaled = (a / scalar_bits<Float>::half_range) / (b * scalar_bits<Float>::half_range);
    if (scaled >= 1 || scaled <= -1) return infinity_like(scaled);
  }
  return a / b;
}

template <class Float>
constexpr Float add(Float a, Float b) {
  if (std::is_constant_evaluated()) return folded_add(a, b);
  hide(a, b);
  return opaque(a + b);
}
template <class Float>
constexpr Float sub(Float a, Float b) {
  if (std::is_constant_evaluated()) return folded_add(a, is_nan(b) ? b : -b);
  hide(a, b);
  return opaque(a - b);
}
template <class Float>
constexpr Float mul(Float a, Float b) {
  if (std::is_constant_evaluated()) return folded_mul(a, b);
  hide(a, b);
  return opaque(a * b);
}

/// a < b as IEEE says, false with a NaN; by integer comparison, so that `-ffinite-math-only` cannot invert it.
template <class Float>
constexpr bool less(Float a, Float b) {
  if (is_nan(a) || is_nan(b)) return false;
  using bits = decltype(to_bits(a));
  constexpr bits sign = bits{1} << (8 * sizeof(bits) - 1);
  const bits x = to_bits(a), y = to_bits(b);
  if (((x | y) & ~sign) == 0) return false;
  const bits ordered_x = x & sign ? ~x : x | sign, ordered_y = y & sign ? ~y : y | sign;
  return ordered_x < ordered_y;
}
template <class Float>
constexpr bool equal(Float a, Float b) { return !is_nan(a) && !is_nan(b) && !less(a, b) && !less(b, a); }

template <class Float>
constexpr Float div(Float a, Float b) {
  if (std::is_constant_evaluated()) return folded_div(a, b);
#if defined(__FAST_MATH__) && defined(__SSE2__)
  if constexpr (sizeof(Float) == 4) asm("divss %1, %0" : "+x"(a) : "x"(b));
  else asm("divsd %1, %0" : "+x"(a) : "x"(b));
  return a;
#else
  hide(a, b);
  return opaque(a / b);
#endif
}

/// Correctly rounded square root, digit by digit; for constant expressions and machines without the instruction.
template <class Float>
constexpr Float sqrt_by_digits(Float x) {
  using bits = decltype(to_bits(x));
  constexpr int fraction = sizeof(bits) == 4 ? 23 : 52, bias = sizeof(bits) == 4 ? 127 : 1023;
  constexpr bits sign = bits{1} << (8 * sizeof(bits) - 1), infinity = bits(2 * bias + 1) << fraction;
  const bits b = to_bits(x);
  if (is_nan(x) || (b & ~sign) == 0 || b == infinity) return x;
  if (b & sign) return from_bits(static_cast<bits>(infinity | (infinity >> 1)));
  int exponent = static_cast<int>(b >> fraction);
  uint64 significand = b & ((bits{1} << fraction) - 1);
  if (exponent == 0) {
    const int shift = std::countl_zero(significand) - (63 - fraction);
    significand <<= shift;
    exponent = 1 - shift;
  } else {
    significand |= uint64{1} << fraction;
  }
  exponent -= bias;
  if (exponent & 1) significand <<= 1, exponent -= 1;
  // Binary digits of sqrt(significand / 2^fraction): `fraction + 1` of the result and one for rounding.
  uint64 root = 0, remainder = 0;
  for (int digit = 0; digit < fraction + 2; ++digit) {
    // bring down two digits of the radicand: two integer digits first, then the fraction, then zeros
    const int position = fraction - 2 * digit;
    const uint64 next = position >= 0 ? (significand >> position) & 3 : position == -1 ? (significand & 1) << 1 : 0;
    remainder = remainder << 2 | next;
    const uint64 trial = root << 2 | 1;
    root <<= 1;
    if (remainder >= trial) remainder -= trial, root |= 1;
  }
  uint64 result = root >> 1;
  if ((root & 1) && (remainder != 0 || (result & 1))) ++result;
  return from_bits(static_cast<bits>((bits(exponent / 2 + bias - 1) << fraction) + result));
}

template <class Float>
constexpr Float sqrt(Float x) {
  if (std::is_constant_evaluated()) return sqrt_by_digits(x);
#if defined(__SSE2__)
  if constexpr (sizeof(Float) == 4) asm("sqrtss %0, %0" : "+x"(x));
  else asm("sqrtsd %0, %0" : "+x"(x));
  return x;
#elif defined(__aarch64__)
  if constexpr (sizeof(Float) == 4) asm("fsqrt %s0, %s0" : "+w"(x));
  else asm("fsqrt %d0, %d0" : "+w"(x));
  return x;
#else
  return sqrt_by_digits(x);
#endif
}

static_assert(sqrt_by_digits(2.0f) == 0x1.6a09e6p+0f && sqrt_by_digits(9.0) == 3.0);
static_assert(is_nan(sub(div(1.0f, 0.0f), div(2.0f, 0.0f))) && is_infinite(mul(0x1p1023, 2.0)));
static_assert(add(0x1.fffffep+127f, 0x1p+102f) == 0x1.fffffep+127f && is_infinite(add(0x1.fffffep+127f, 0x1p+103f)));
static_assert(sqrt_by_digits(0x1p-149f) == 0x1.6a09e6p-75f && sqrt_by_digits(2.0) == 0x1.6a09e667f3bcdp+0);

}  // namespace poot::ieee

#undef POOT_FINITE_ALGEBRA
