#pragma once
/// The value of every pointwise op on the bits of its operands, as numerics.md defines it. Every float operation is a
/// single IEEE operation or an elementary function of core, so that no compiler flag changes a bit.

#include <poot/core/elementary.hpp>
#include <poot/core/elementary_f64.hpp>
#include <poot/core/ieee.hpp>
#include <poot/core/rounding.hpp>
#include <poot/ir/op.hpp>

namespace poot::ir {

namespace detail {

// ---- bits to values and back. Bits above the width of a type are ignored when read and zero when written.

constexpr int64 load_integer(dtype t, uint64 bits) {
  switch (t) {
    case dtype::i32: return static_cast<int32>(bits);
    case dtype::u32: return static_cast<uint32>(bits);
    case dtype::i8: return static_cast<int8>(bits);
    case dtype::u8: return static_cast<uint8>(bits);
    default: return (bits & 0xff) != 0;  // bool
  }
}

/// Wraps; anything but 0 is the bool 1.
constexpr uint64 store_integer(dtype t, uint64 value) {
  switch (t) {
    case dtype::i8:
    case dtype::u8: return value & 0xff;
    case dtype::boolean: return value != 0;
    default: return value & 0xffffffffu;
  }
}

struct integer_range {
  int64 lowest, highest;
};
constexpr integer_range range_of(dtype t) {
  switch (t) {
    case dtype::i32: return {-0x80000000ll, 0x7fffffff};
    case dtype::u32: return {0, 0xffffffffll};
    case dtype::i8: return {-128, 127};
    default: return {0, 255};
  }
}

/// f64 for f64, f32 for f32 and for the narrow floats.
template <class Float>
constexpr Float load_float(dtype t, uint64 bits) {
  if constexpr (sizeof(Float) == 8) {
    return ieee::from_bits(t == dtype::f64 ? bits : convert_bits(format_of(t), binary64, bits));
  } else {
    if (t == dtype::bf16) return bf16_to_f32(static_cast<uint16>(bits));
    if (t == dtype::f16) return f16_to_f32(static_cast<uint16>(bits));
    return ieee::from_bits(static_cast<uint32>(bits));
  }
}

template <class Float>
constexpr uint64 store_float(dtype t, Float value) {
  const auto bits = ieee::to_bits(value);
  constexpr float_format own = sizeof(Float) == 8 ? binary64 : binary32;
  if (t == (sizeof(Float) == 8 ? dtype::f64 : dtype::f32)) return bits;
  return convert_bits(own, format_of(t), bits);
}

// ---- float operations that are not one IEEE operation

/// NaN if either is NaN; -0 is less than +0.
template <bool Largest, class Float>
constexpr Float extremum(Float a, Float b) {
  if (ieee::is_nan(a)) return a;
  if (ieee::is_nan(b)) return b;
  if (ieee::less(a, b)) return Largest ? b : a;
  if (ieee::less(b, a)) return Largest ? a : b;
  const auto x = ieee::to_bits(a), y = ieee::to_bits(b);  // equal, or zeros
  return ieee::from_bits(static_cast<decltype(ieee::to_bits(a))>(Largest ? x & y : x | y));
}

template <class Float>
constexpr Float round_down(Float x) {
  using bits = decltype(ieee::to_bits(x));
  constexpr float_format f = sizeof(Float) == 8 ? binary64 : binary32;
  constexpr bits top_bit = ieee::scalar_bits<Float>::sign;
  const bits b = ieee::to_bits(x);
  const int exponent = static_cast<int>((b >> f.fraction_bits) & f.exponent_mask()) - f.bias();
  if (exponent >= f.fraction_bits || (b & ~top_bit) == 0) return x;  // whole, infinite, NaN or zero
  if (exponent < 0) return b & top_bit ? Float(-1) : Float(0);
  const bits below = static_cast<bits>(f.fraction_mask() >> exponent);
  if ((b & below) == 0) return x;
  return ieee::from_bits(static_cast<bits>((b & top_bit ? b + below : b) & ~below));
}

template <op O, class Float>
constexpr Float float_value(Float a, Float b) {
  using bits = decltype(ieee::to_bits(a));
  if constexpr (O == op::neg) return ieee::from_bits(static_cast<bits>(ieee::to_bits(a) ^ ieee::scalar_bits<Float>::sign));
  else if constexpr (O == op::abs) return ieee::from_bits(static_cast<bits>(ieee::to_bits(a) & ~ieee::scalar_bits<Float>::sign));
  else if constexpr (O == op::floor) return round_down(a);
  else if constexpr (O == op::sqrt) return ieee::sqrt(a);
  else if constexpr (O == op::recip) return ieee::div(Float(1), a);
  else if constexpr (O == op::exp) return elementary::exp(a);
  else if constexpr (O == op::log) return elementary::log(a);
  else if constexpr (O == op::sin) return elementary::sin(a);
  else if constexpr (O == op::cos) return elementary::cos(a);
  else if constexpr (O == op::tanh) return elementary::tanh(a);
  else if constexpr (O == op::erf) return elementary::erf(a);
  else if constexpr (O == op::add) return ieee::add(a, b);
  else if constexpr (O == op::sub) return ieee::sub(a, b);
  else if constexpr (O == op::mul) return ieee::mul(a, b);
  else if constexpr (O == op::div) return ieee::div(a, b);
  else if constexpr (O == op::max) return extremum<true>(a, b);
  else if constexpr (O == op::min) return extremum<false>(a, b);
  else return elementary::pow(a, b);
}

template <op O, class Float>
constexpr bool float_comparison(Float a, Float b) {
  if constexpr (O == op::eq) return ieee::equal(a, b);
  else if constexpr (O == op::ne) return !ieee::equal(a, b);
  else if constexpr (O == op::lt) return ieee::less(a, b);
  else if constexpr (O == op::gt) return ieee::less(b, a);
  else if constexpr (O == op::le) return ieee::less(a, b) || ieee::equal(a, b);
  else return ieee::less(b, a) || ieee::equal(a, b);
}

/// Modulo 2^64; the caller wraps to the type's width, which gives the same bits.
template <op O>
constexpr uint64 integer_value(int64 a, int64 b) {
  const uint64 x = static_cast<uint64>(a), y = static_cast<uint64>(b);
  if constexpr (O == op::neg) return 0 - x;
  else if constexpr (O == op::abs) return a < 0 ? 0 - x : x;
  else if constexpr (O == op::bit_not) return ~x;
  else if constexpr (O == op::add) return x + y;
  else if constexpr (O == op::sub) return x - y;
  else if constexpr (O == op::mul) return x * y;
  else if constexpr (O == op::div) return b == 0 ? 0 : static_cast<uint64>(a / b);
  else if constexpr (O == op::max) return a < b ? y : x;
  else if constexpr (O == op::min) return b < a ? y : x;
  else if constexpr (O == op::bit_and) return x & y;
  else if constexpr (O == op::bit_or) return x | y;
  else if constexpr (O == op::bit_xor) return x ^ y;
  else if constexpr (O == op::shl) return x << (y & 31);
  else if constexpr (O == op::shr) return static_cast<uint64>(a >> (y & 31));  // `a` carries the sign of its type
  else if constexpr (O == op::eq) return a == b;
  else if constexpr (O == op::ne) return a != b;
  else if constexpr (O == op::lt) return a < b;
  else if constexpr (O == op::le) return a <= b;
  else if constexpr (O == op::gt) return a > b;
  else return a >= b;
}

/// Towards zero; beyond 2^62 in magnitude, 2^62. NaN gives 0.
constexpr int64 truncate(uint64 bits) {
  if (is_nan_bits(binary64, bits)) return 0;
  const bool negative = bits >> 63;
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  if (exponent < 0) return 0;
  const uint64 significand = (bits & binary64.fraction_mask()) | uint64{1} << 52;
  const int64 magnitude = static_cast<int64>(exponent >= 62   ? uint64{1} << 62
                                             : exponent >= 52 ? significand << (exponent - 52)
                                                              : significand >> (52 - exponent));
  return negative ? -magnitude : magnitude;
}

constexpr uint64 cast_bits(dtype from, dtype to, uint64 bits) {
  if (from == to) return bits;
  if (is_float(from)) {
    if (is_float(to)) return convert_bits(format_of(from), format_of(to), bits);
    if (to == dtype::boolean) return (bits & ~format_of(from).sign_bit()) != 0;
    const int64 whole = truncate(convert_bits(format_of(from), binary64, bits));
    const integer_range r = range_of(to);
    return store_integer(to, static_cast<uint64>(whole < r.lowest ? r.lowest : whole > r.highest ? r.highest : whole));
  }
  const int64 value = load_integer(from, bits);
  if (is_float(to)) {
    const uint64 magnitude = value < 0 ? 0 - static_cast<uint64>(value) : static_cast<uint64>(value);
    return round_bits(format_of(to), value < 0, magnitude, 0);
  }
  if (to == dtype::boolean) return value != 0;
  const integer_range r = range_of(to);
  return store_integer(to, static_cast<uint64>(value < r.lowest ? r.lowest : value > r.highest ? r.highest : value));
}

constexpr bool has_float_form(op o) {
  return o != op::bit_not && o != op::bit_and && o != op::bit_or && o != op::bit_xor && o != op::shl && o != op::shr;
}
constexpr bool has_integer_form(op o) {
  return o == op::neg || o == op::abs || o == op::bit_not || is_comparison(o) ||
         (o >= op::add && o <= op::shr && o != op::pow);
}

}  // namespace detail

/// What stands between the bits of operands of one kind and the bits of the result; `Float` is the type that floats
/// are computed in (float for f16, bf16 and f32), void for integers and bool.
template <op O, class Float>
constexpr uint64 evaluate_as(dtype t, uint64 a, uint64 b) {
  using namespace detail;
  if constexpr (std::is_void_v<Float>) {
    const uint64 value = integer_value<O>(load_integer(t, a), load_integer(t, b));
    return is_comparison(O) ? value : store_integer(t, value);
  } else if constexpr (is_comparison(O)) {
    return float_comparison<O>(load_float<Float>(t, a), load_float<Float>(t, b));
  } else {
    return store_float(t, float_value<O>(load_float<Float>(t, a), load_float<Float>(t, b)));
  }
}

namespace detail {

/// Calls `f.template operator()<O, Float>()` for the op and the kind of `t`. `select` and `cast` are not among them.
template <op O, class F>
constexpr void with_kind(dtype t, F& f) {
  if (t == dtype::f64) {
    if constexpr (has_float_form(O)) f.template operator()<O, double>();
  } else if (is_float(t)) {
    if constexpr (has_float_form(O)) f.template operator()<O, float>();
  } else {
    if constexpr (has_integer_form(O)) f.template operator()<O, void>();
  }
}

template <class F>
constexpr void with_op(op o, dtype t, F f) {
  switch (o) {
    case op::neg: return with_kind<op::neg>(t, f);
    case op::exp: return with_kind<op::exp>(t, f);
    case op::log: return with_kind<op::log>(t, f);
    case op::sqrt: return with_kind<op::sqrt>(t, f);
    case op::recip: return with_kind<op::recip>(t, f);
    case op::sin: return with_kind<op::sin>(t, f);
    case op::cos: return with_kind<op::cos>(t, f);
    case op::tanh: return with_kind<op::tanh>(t, f);
    case op::erf: return with_kind<op::erf>(t, f);
    case op::abs: return with_kind<op::abs>(t, f);
    case op::floor: return with_kind<op::floor>(t, f);
    case op::bit_not: return with_kind<op::bit_not>(t, f);
    case op::add: return with_kind<op::add>(t, f);
    case op::sub: return with_kind<op::sub>(t, f);
    case op::mul: return with_kind<op::mul>(t, f);
    case op::div: return with_kind<op::div>(t, f);
    case op::max: return with_kind<op::max>(t, f);
    case op::min: return with_kind<op::min>(t, f);
    case op::pow: return with_kind<op::pow>(t, f);
    case op::bit_and: return with_kind<op::bit_and>(t, f);
    case op::bit_or: return with_kind<op::bit_or>(t, f);
    case op::bit_xor: return with_kind<op::bit_xor>(t, f);
    case op::shl: return with_kind<op::shl>(t, f);
    case op::shr: return with_kind<op::shr>(t, f);
    case op::eq: return with_kind<op::eq>(t, f);
    case op::ne: return with_kind<op::ne>(t, f);
    case op::lt: return with_kind<op::lt>(t, f);
    case op::le: return with_kind<op::le>(t, f);
    case op::gt: return with_kind<op::gt>(t, f);
    default: return with_kind<op::ge>(t, f);
  }
}

/// An operand of many elements: element i is `bits[i * step]`.
struct reading {
  const uint64* bits = nullptr;
  size_t step = 0;
};

/// `count` elements.
struct evaluate_each {
  dtype t;
  reading a, b;
  uint64* to;
  size_t count;
  template <op O, class Float>
  constexpr void operator()() {
    for (size_t i = 0; i < count; ++i) to[i] = evaluate_as<O, Float>(t, a.bits[i * a.step], b.bits[i * b.step]);
  }
};

}  // namespace detail

/// The bits of `o` applied to operands of type `operand` (of `select`: the type of both branches). Operands beyond
/// the op's arity are ignored; of `select`, `a` is the i32 condition. A cast of a packed value is not pointwise in bits.
constexpr uint64 evaluate(op o, dtype operand, dtype result, uint64 a, uint64 b = 0, uint64 c = 0) {
  if (o == op::select) return (a & 0xffffffffu) != 0 ? b : c;
  if (o == op::cast) return detail::cast_bits(operand, result, a);
  uint64 bits = 0;
  detail::with_op(o, operand, detail::evaluate_each{operand, {&a, 0}, {&b, 0}, &bits, 1});
  return bits;
}

}  // namespace poot::ir
