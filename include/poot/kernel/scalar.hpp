#pragma once
/// One element of a tensor inside a kernel: its types, and conversions between them as numerics.md defines them.
///
/// An element is a word: the bits of f32, i32 and u32; f16 and bf16 in the low 16 bits; i8 with its sign extended, u8 and
/// bool as they are. Arithmetic on f16 and bf16 is exact in f32 and rounds once, by integer code. f64 has no such form.

#include <poot/core/rounding.hpp>
#include <poot/kernel/elementary.hpp>

namespace poot::kernel {

namespace detail {

constexpr number widen_f16(word h) {
  const word magnitude = h & 0x7fffu, sign = (h & 0x8000u) << 16u;
  const word normal = (magnitude << 13u) + (112u << 23), special = (magnitude << 13u) + (224u << 23);
  const word tiny = to_bits(mul(to_float(magnitude), 0x1p-24f));
  return from_bits(sign | select(below(magnitude, 0x0400u), tiny, select(below(magnitude, 0x7c00u), normal, special)));
}

/// The bits of the f16 nearest to an f32, ties to even. A NaN keeps its sign and leading payload bits.
constexpr word narrow_f16(word b) {
  const word sign = (b >> 16u) & 0x8000u, a = b & 0x7fffffffu;
  const word payload = (a & 0x7fffffu) >> 13u, nan = select(same(payload, 0u), 0x200u, payload) | 0x7c00u;
  const word normal = (a + (0xfffu - (112u << 23)) + ((a >> 13u) & 1u)) >> 13u;
  // below 2^-14: units of 2^-24, so `drop` bits of the significand fall away; from 25 on nothing is left
  const word exponent = a >> 23u, distance = word(126u) - exponent;
  const word drop = select(below(exponent, 101u), 25u, select(below(exponent, 126u), distance, 1u));
  const word significand = (a & 0x7fffffu) | 0x800000u, kept = significand >> drop;
  const word rest = significand & ((word(1u) << drop) - 1u), half = word(1u) << (drop - 1u);
  const flag up = below(half, rest) | (same(half, rest) & same(kept & 1u, 1u));
  const word tiny = select(below(exponent, 1u), 0u, kept + to_word(up));
  const word finite = select(below(a, 0x38800000u), tiny, select(below(a, 0x47800000u), normal, 0x7c00u));
  return sign | select(below(0x7f800000u, a), nan, finite);
}

/// The same for bf16.
constexpr word narrow_bf16(word b) {
  const word a = b & 0x7fffffffu, payload = (a & 0x7fffffu) >> 16u;
  const word nan = ((b >> 16u) & 0x8000u) | 0x7f80u | select(same(payload, 0u), 0x40u, payload);
  return select(below(0x7f800000u, a), nan, (b + 0x7fffu + ((b >> 16u) & 1u)) >> 16u);
}

/// |x| as an f32 that rounds to every narrower float as x itself does: exact, or its lowest bit stands for what is cut.
constexpr number magnitude_to_odd(word m) {
  const word cut = (m >> 8u) | to_word(not_(same(m & 0xffu, 0u)));
  return select(below(m, 1u << 24), to_float(m), mul(to_float(cut), 256.0f));
}

/// Nearest f32 of an unsigned word.
constexpr number unsigned_to_float(word m) {
  const number half = to_float((m >> 1u) | (m & 1u));  // the lowest bit stands for what is cut
  return select(below_signed(m, 0u), add(half, half), to_float(m));
}

constexpr word clamp_signed(word x, int32 low, int32 high) {
  const word l = static_cast<uint32>(low), h = static_cast<uint32>(high);
  return select(below_signed(x, l), l, select(below_signed(h, x), h, x));
}

/// Towards zero, held within the range; NaN gives 0.
constexpr word float_to_i32(number x) {
  const flag high = less_equal(0x1p+31f, x), low = less_equal(x, -0x1p+31f), nan = is_nan(x);
  const word whole = to_int(select(high | low | nan, number(0.0f), x));
  return select(nan, 0u, select(high, 0x7fffffffu, select(low, 0x80000000u, whole)));
}
constexpr word float_to_u32(number x) {
  const flag above = less_equal(0x1p+32f, x), upper = less_equal(0x1p+31f, x), positive = less(0.0f, x);
  const number offset = select(upper, sub(x, 0x1p+31f), x);
  const word whole = to_int(select(positive & not_(above), offset, number(0.0f)));
  return select(above, 0xffffffffu, select(upper, whole + 0x80000000u, whole));
}

}  // namespace detail

/// An element of a tensor.
struct scalar {
  dtype element = dtype::f32;
  word bits;
};

/// Brings a word that an integer op gave to the range of its type.
constexpr word wrap(dtype t, word x) {
  switch (t) {
    case dtype::i8: return shift_right_signed(x << 24u, 24u);
    case dtype::u8: return x & 0xffu;
    case dtype::boolean: return to_word(not_(same(x, 0u)));
    default: return x;
  }
}

/// The value of a float element; exact.
constexpr number value_of(const scalar& x) {
  switch (x.element) {
    case dtype::bf16: return from_bits(x.bits << 16u);
    case dtype::f16: {
      builder* const in = x.bits.in;
      if (!in) return f16_to_f32(static_cast<uint16>(x.bits.id));
      const function_id f = in->define<number, word>("poot_widen_f16", [](word h) { return detail::widen_f16(h); });
      return in->call<number>(f, x.bits);
    }
    default: return from_bits(x.bits);
  }
}

/// `value` rounded to the float type `t`.
constexpr scalar round_to(dtype t, number value) {
  if (t == dtype::f32) return {t, to_bits(value)};
  if (value.is_literal())
    return {t, t == dtype::f16 ? uint32{f32_to_f16(literal_value(value))} : uint32{f32_to_bf16(literal_value(value))}};
  builder& in = *value.in;
  const function_id f = t == dtype::f16
                            ? in.define<word, word>("poot_narrow_f16", [](word b) { return detail::narrow_f16(b); })
                            : in.define<word, word>("poot_narrow_bf16", [](word b) { return detail::narrow_bf16(b); });
  return {t, in.call<word>(f, to_bits(value))};
}

/// An element of packed or stored bits, as loaded: bits above the type's width are ignored.
constexpr scalar from_stored(dtype t, word raw) {
  if (t == dtype::i8 || t == dtype::u8 || t == dtype::boolean) return {t, wrap(t, t == dtype::boolean ? raw & 0xffu : raw)};
  return {t, is_narrow(t) ? raw & 0xffffu : raw};
}
/// The bits that are stored: the low block of the word.
constexpr word to_stored(const scalar& x) { return x.element == dtype::i8 ? x.bits & 0xffu : x.bits; }

/// A literal element.
constexpr scalar literal_of(dtype t, uint64 bits) {
  uint32 b = static_cast<uint32>(bits);
  if (t == dtype::i8) b = static_cast<uint32>(static_cast<int32>(static_cast<int8>(b)));
  else if (t == dtype::u8) b &= 0xffu;
  else if (t == dtype::boolean) b = (b & 0xffu) != 0;
  else if (is_narrow(t)) b &= 0xffffu;
  return {t, b};
}

/// Conversions of graph_text.md: floats round, floats to integers truncate and hold, integers hold.
constexpr scalar cast(const scalar& x, dtype to) {
  const dtype from = x.element;
  if (from == to) return x;
  if (is_float(from)) {
    if (is_float(to)) return round_to(to, value_of(x));
    if (to == dtype::boolean) {
      const uint32 sign = from == dtype::f32 ? 0x7fffffffu : 0x7fffu;
      return {to, to_word(not_(same(x.bits & sign, 0u)))};
    }
    if (to == dtype::u32) return {to, detail::float_to_u32(value_of(x))};
    const word whole = detail::float_to_i32(value_of(x));
    if (to == dtype::i32) return {to, whole};
    return {to, to == dtype::i8 ? detail::clamp_signed(whole, -128, 127) : detail::clamp_signed(whole, 0, 255)};
  }
  const bool is_unsigned = from == dtype::u32;
  if (is_float(to)) {
    if (to == dtype::f32) return {to, to_bits(is_unsigned ? detail::unsigned_to_float(x.bits) : to_float(x.bits))};
    const flag negative = is_unsigned ? flag(false) : below_signed(x.bits, 0u);
    const word magnitude = select(negative, word(0u) - x.bits, x.bits);
    const scalar rounded = round_to(to, detail::magnitude_to_odd(magnitude));
    return {to, rounded.bits | select(negative, 0x8000u, 0u)};
  }
  switch (to) {
    case dtype::boolean: return {to, to_word(not_(same(x.bits, 0u)))};
    case dtype::i32: return {to, is_unsigned ? select(below_signed(x.bits, 0u), 0x7fffffffu, x.bits) : x.bits};
    case dtype::u32: return {to, select(below_signed(x.bits, 0u), 0u, x.bits)};
    case dtype::i8:
      return {to, is_unsigned ? select(below(127u, x.bits), 127u, x.bits) : detail::clamp_signed(x.bits, -128, 127)};
    default: return {to, is_unsigned ? select(below(255u, x.bits), 255u, x.bits) : detail::clamp_signed(x.bits, 0, 255)};
  }
}

}  // namespace poot::kernel
