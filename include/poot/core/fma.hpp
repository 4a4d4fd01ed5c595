#pragma once
/// The fused multiply-add: a·b + c rounded once, at run time and in constant expressions.

#include <poot/core/ieee.hpp>
#include <poot/core/rounding.hpp>

namespace poot::ieee {

namespace detail {

/// A finite value as (-1)^negative · significand · 2^exponent.
struct parts {
  bool negative;
  uint64 significand;
  int exponent;
};

constexpr parts split(float_format f, uint64 bits) {
  const uint64 fraction = bits & f.fraction_mask(), biased = (bits >> f.fraction_bits) & f.exponent_mask();
  const int least = 1 - f.bias() - f.fraction_bits;
  if (biased == 0) return {(bits & f.sign_bit()) != 0, fraction, least};
  return {(bits & f.sign_bit()) != 0, fraction | (f.fraction_mask() + 1), least + static_cast<int>(biased) - 1};
}

/// 128 bits, high word first.
struct wide {
  uint64 high = 0, low = 0;
  constexpr bool zero() const { return (high | low) == 0; }
  constexpr int top() const { return high ? 127 - std::countl_zero(high) : 63 - std::countl_zero(low); }
  constexpr wide left(int by) const {
    if (by == 0) return *this;
    if (by >= 64) return {low << (by - 64), 0};
    return {high << by | low >> (64 - by), low << by};
  }
  /// Shifted right; a lost 1 stays as the lowest bit, so that rounding still sees it.
  constexpr wide right_sticky(int by) const {
    if (by == 0) return *this;
    if (by >= 128) return {0, zero() ? uint64{0} : uint64{1}};
    const wide r = by >= 64 ? wide{0, by == 64 ? high : high >> (by - 64)} : wide{high >> by, low >> by | high << (64 - by)};
    const wide back = r.left(by);
    return {r.high, r.low | (back.high != high || back.low != low ? uint64{1} : uint64{0})};
  }
  constexpr bool less(wide o) const { return high < o.high || (high == o.high && low < o.low); }
  constexpr wide plus(wide o) const {
    const uint64 sum = low + o.low;
    return {high + o.high + (sum < low ? 1 : 0), sum};
  }
  constexpr wide minus(wide o) const { return {high - o.high - (low < o.low ? 1 : 0), low - o.low}; }
};

constexpr wide product(uint64 a, uint64 b) {
  const uint64 a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  const uint64 middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & 0xffffffffu);
  return {a1 * b1 + (middle >> 32) + (other >> 32), a * b};
}

}  // namespace detail

/// The bits of a·b + c in format `f`, by integers alone.
constexpr uint64 fma_bits(float_format f, uint64 a, uint64 b, uint64 c) {
  using namespace detail;
  const uint64 magnitude = ~f.sign_bit(), infinity = f.infinity();
  if (is_nan_bits(f, a) || is_nan_bits(f, b) || is_nan_bits(f, c)) return f.quiet_nan();
  const bool a_infinite = (a & magnitude) == infinity, b_infinite = (b & magnitude) == infinity;
  const uint64 sign = (a ^ b) & f.sign_bit();
  if (a_infinite || b_infinite) {
    if ((a & magnitude) == 0 || (b & magnitude) == 0) return f.quiet_nan();
    return (c & magnitude) == infinity && c != (sign | infinity) ? f.quiet_nan() : sign | infinity;
  }
  if ((c & magnitude) == infinity) return c;
  const parts pa = split(f, a), pb = split(f, b), pc = split(f, c);
  if (pa.significand == 0 || pb.significand == 0) return c & magnitude ? c : c & sign;  // -0 only where both are
  const bool p_negative = sign != 0;
  wide p = product(pa.significand, pb.significand), q{0, pc.significand};
  int exponent = pa.exponent + pb.exponent;
  if (pc.significand != 0) {
    // Both to the left until bit 125 is the top one, then the smaller to the right: what falls off is far below a
    // half unit, or nothing falls off where the difference cancels.
    const int p_shift = 125 - p.top(), q_shift = 125 - q.top();
    p = p.left(p_shift), q = q.left(q_shift);
    const int p_exponent = exponent - p_shift, q_exponent = pc.exponent - q_shift;
    if (p_exponent >= q_exponent) q = q.right_sticky(p_exponent - q_exponent), exponent = p_exponent;
    else p = p.right_sticky(q_exponent - p_exponent), exponent = q_exponent;
  }
  bool negative = p_negative;
  if (p_negative == pc.negative || q.zero()) {
    p = p.plus(q);
  } else {
    if (p.less(q)) negative = pc.negative, p = q.minus(p);
    else p = p.minus(q);
    if (p.zero()) return 0;
  }
  const int shift = p.top() - 63;
  if (shift <= 0) return round_bits(f, negative, p.low, exponent);
  // The sticky bit is 39 places below the last one kept by a 24-bit result, 10 below that of a 53-bit result.
  return round_bits(f, negative, p.right_sticky(shift).low, exponent + shift);
}

/// a·b + c with one rounding. Written as an instruction where the machine has it: under `-Ofast` clang replaces the
/// library's function by a product and a sum.
template <class Float>
constexpr Float fma(Float a, Float b, Float c) {
  using bits = decltype(to_bits(a));
  if (!std::is_constant_evaluated()) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("fma")) {
      if constexpr (sizeof(Float) == 4) asm("vfmadd231ss %2, %1, %0" : "+x"(c) : "x"(a), "x"(b));
      else asm("vfmadd231sd %2, %1, %0" : "+x"(c) : "x"(a), "x"(b));
      return c;
    }
#endif
#ifndef __FAST_MATH__
    if constexpr (sizeof(Float) == 4) return opaque(__builtin_fmaf(a, b, c));
    else return opaque(__builtin_fma(a, b, c));
#endif
  }
  return from_bits(static_cast<bits>(fma_bits(sizeof(bits) == 4 ? binary32 : binary64, to_bits(a), to_bits(b), to_bits(c))));
}

static_assert(fma(0x1.001p+0f, 0x1.001p+0f, -1.0f) == 0x1.0008p-11f);  // the product alone rounds to 1 + 2^-11
static_assert(fma(0x1p-100f, 0x1p-100f, 1.0f) == 1.0f && to_bits(fma(-0.0f, 1.0f, -0.0f)) == 0x80000000u);

}  // namespace poot::ieee
