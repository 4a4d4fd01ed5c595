#pragma once
/// The value of every pointwise op on elements of a kernel, as numerics.md defines it.

#include <poot/ir/op.hpp>
#include <poot/kernel/scalar.hpp>

namespace poot::kernel {

using ir::op;

namespace detail {

/// NaN if either is NaN; -0 is less than +0.
constexpr word extremum(bool largest, const scalar& a, const scalar& b) {
  const number x = value_of(a), y = value_of(b);
  const word ties = largest ? a.bits & b.bits : a.bits | b.bits;  // equal, or zeros
  const word ordered = select(less(x, y), largest ? b.bits : a.bits, select(less(y, x), largest ? a.bits : b.bits, ties));
  return select(is_nan(x), a.bits, select(is_nan(y), b.bits, ordered));
}

constexpr flag compare_floats(op o, number a, number b) {
  switch (o) {
    case op::eq: return equal(a, b);
    case op::ne: return not_(equal(a, b));
    case op::lt: return less(a, b);
    case op::gt: return less(b, a);
    case op::le: return less_equal(a, b);
    default: return less_equal(b, a);
  }
}
constexpr flag compare_words(op o, bool is_unsigned, word a, word b) {
  const auto before = [&](word x, word y) { return is_unsigned ? below(x, y) : below_signed(x, y); };
  switch (o) {
    case op::eq: return same(a, b);
    case op::ne: return not_(same(a, b));
    case op::lt: return before(a, b);
    case op::gt: return before(b, a);
    case op::le: return not_(before(b, a));
    default: return not_(before(a, b));
  }
}

/// x / 0 = 0; the lowest value / -1 is itself.
constexpr word divide(bool is_unsigned, word a, word b) {
  const flag zero = same(b, 0u);
  if (is_unsigned) return select(zero, 0u, a / select(zero, 1u, b));
  const flag minus_one = same(b, 0xffffffffu);
  const word quotient = div_signed(a, select(zero | minus_one, 1u, b));
  return select(zero, 0u, select(minus_one, word(0u) - a, quotient));
}

constexpr number apply_to_floats(op o, number a, number b) {
  switch (o) {
    case op::exp: return exp(a);
    case op::log: return log(a);
    case op::sqrt: return sqrt(a);
    case op::recip: return div(1.0f, a);
    case op::sin: return sin(a);
    case op::cos: return cos(a);
    case op::tanh: return tanh(a);
    case op::erf: return erf(a);
    case op::floor: return floor(a);
    case op::add: return add(a, b);
    case op::sub: return sub(a, b);
    case op::mul: return mul(a, b);
    case op::div: return div(a, b);
    default: return pow(a, b);
  }
}

constexpr word apply_to_words(op o, bool is_unsigned, word a, word b) {
  switch (o) {
    case op::neg: return word(0u) - a;
    case op::abs: return is_unsigned ? a : select(below_signed(a, 0u), word(0u) - a, a);
    case op::bit_not: return ~a;
    case op::add: return a + b;
    case op::sub: return a - b;
    case op::mul: return a * b;
    case op::div: return divide(is_unsigned, a, b);
    case op::max: return select(compare_words(op::lt, is_unsigned, a, b), b, a);
    case op::min: return select(compare_words(op::lt, is_unsigned, b, a), b, a);
    case op::bit_and: return a & b;
    case op::bit_or: return a | b;
    case op::bit_xor: return a ^ b;
    case op::shl: return a << (b & 31u);
    default: return is_unsigned ? a >> (b & 31u) : shift_right_signed(a, b & 31u);
  }
}

}  // namespace detail

/// Op `o` of the op table over its operands; `result` is the element type of a cast. A user's op is steps of these.
constexpr scalar apply(op o, dtype result, const scalar& a, const scalar& b = {}, const scalar& c = {}) {
  if (o == op::select) return {b.element, select(same(a.bits, 0u), c.bits, b.bits)};
  if (o == op::cast) return cast(a, result);
  const dtype t = a.element;
  if (!is_float(t)) {
    const bool is_unsigned = t == dtype::u32 || t == dtype::u8 || t == dtype::boolean;
    if (ir::is_comparison(o)) return {dtype::i32, to_word(detail::compare_words(o, is_unsigned, a.bits, b.bits))};
    return {t, wrap(t, detail::apply_to_words(o, is_unsigned, a.bits, b.bits))};
  }
  const uint32 sign = is_narrow(t) ? 0x8000u : 0x80000000u;
  if (o == op::neg) return {t, a.bits ^ sign};
  if (o == op::abs) return {t, a.bits & (sign - 1)};
  if (o == op::max || o == op::min) return {t, detail::extremum(o == op::max, a, b)};
  const bool binary = ir::row(o).arity == 2;
  const number x = value_of(a), y = binary ? value_of(b) : x;
  if (ir::is_comparison(o)) return {dtype::i32, to_word(detail::compare_floats(o, x, y))};
  return round_to(t, detail::apply_to_floats(o, x, y));
}

}  // namespace poot::kernel
