#pragma once
/// Operations on the values of a kernel under construction. Literals fold.

#include <poot/core/error.hpp>
#include <poot/kernel/build.hpp>

namespace poot::kernel {

namespace detail {

template <class A>
constexpr builder* owner(const A& a) { return a.in; }
template <class A, class... More>
constexpr builder* owner(const A& a, const More&... more) { return a.in ? a.in : owner(more...); }

/// The instruction `c` over values of which one at least is no literal. Out of line: elementary functions are a hundred
/// of these, and compilers would spend minutes on them.
template <class Result, class... Values>
[[gnu::noinline]] constexpr Result record(opcode c, const Values&... values) {
  builder* const in = owner(values...);
  if (!in) fail(text{} << "kernel: " << name(c) << " of literals alone");
  uint32 ids[3] = {};
  int at = 0;
  ((ids[at++] = in->use(values)), ...);
  return {in, in->emit(c, type_of_handle<Result>, ids[0], ids[1], ids[2])};
}

template <class... Values>
constexpr bool all_literal(const Values&... values) { return (values.is_literal() && ...); }

constexpr bool is_literal(word a, uint32 bits) { return a.is_literal() && a.id == bits; }

}  // namespace detail

// ---- words

constexpr word operator+(word a, word b) {
  if (detail::all_literal(a, b)) return a.id + b.id;
  if (detail::is_literal(a, 0)) return b;
  if (detail::is_literal(b, 0)) return a;
  return detail::record<word>(opcode::add, a, b);
}
constexpr word operator-(word a, word b) {
  if (detail::all_literal(a, b)) return a.id - b.id;
  if (detail::is_literal(b, 0)) return a;
  return detail::record<word>(opcode::sub, a, b);
}
constexpr word operator*(word a, word b) {
  if (detail::all_literal(a, b)) return a.id * b.id;
  if (detail::is_literal(a, 1)) return b;
  if (detail::is_literal(b, 1)) return a;
  if (detail::is_literal(a, 0) || detail::is_literal(b, 0)) return 0u;
  return detail::record<word>(opcode::mul, a, b);
}
/// The upper half of the product of two unsigned words.
constexpr word mul_high(word a, word b) {
  if (detail::all_literal(a, b)) return static_cast<uint32>(uint64{a.id} * b.id >> 32);
  return detail::record<word>(opcode::mul_high, a, b);
}
/// Unsigned; b is not 0.
constexpr word operator/(word a, word b) {
  if (detail::is_literal(b, 1)) return a;
  if (detail::all_literal(a, b)) return a.id / b.id;
  return detail::record<word>(opcode::div, a, b);
}
constexpr word operator%(word a, word b) {
  if (detail::is_literal(b, 1)) return 0u;
  if (detail::all_literal(a, b)) return a.id % b.id;
  return detail::record<word>(opcode::rem, a, b);
}
/// Signed, towards zero; b is not 0, nor -1 where a is the lowest value.
constexpr word div_signed(word a, word b) { return detail::record<word>(opcode::div_signed, a, b); }
constexpr word operator&(word a, word b) {
  if (detail::all_literal(a, b)) return a.id & b.id;
  return detail::record<word>(opcode::bit_and, a, b);
}
constexpr word operator|(word a, word b) {
  if (detail::all_literal(a, b)) return a.id | b.id;
  if (detail::is_literal(a, 0)) return b;
  if (detail::is_literal(b, 0)) return a;
  return detail::record<word>(opcode::bit_or, a, b);
}
constexpr word operator^(word a, word b) {
  if (detail::all_literal(a, b)) return a.id ^ b.id;
  return detail::record<word>(opcode::bit_xor, a, b);
}
constexpr word operator~(word a) { return a.is_literal() ? word(~a.id) : detail::record<word>(opcode::bit_not, a); }
/// Counts are less than 32.
constexpr word operator<<(word a, word b) {
  if (detail::all_literal(a, b)) return a.id << b.id;
  if (detail::is_literal(b, 0)) return a;
  return detail::record<word>(opcode::shl, a, b);
}
constexpr word operator>>(word a, word b) {
  if (detail::all_literal(a, b)) return a.id >> b.id;
  if (detail::is_literal(b, 0)) return a;
  return detail::record<word>(opcode::shr, a, b);
}
constexpr word shift_right_signed(word a, word b) {
  if (detail::all_literal(a, b)) return static_cast<uint32>(static_cast<int32>(a.id) >> b.id);
  if (detail::is_literal(b, 0)) return a;
  return detail::record<word>(opcode::shr_signed, a, b);
}

constexpr flag below(word a, word b) {
  if (detail::all_literal(a, b)) return a.id < b.id;
  return detail::record<flag>(opcode::less, a, b);
}
constexpr flag below_signed(word a, word b) {
  if (detail::all_literal(a, b)) return static_cast<int32>(a.id) < static_cast<int32>(b.id);
  return detail::record<flag>(opcode::less_signed, a, b);
}
constexpr flag same(word a, word b) {
  if (detail::all_literal(a, b)) return a.id == b.id;
  return detail::record<flag>(opcode::equal, a, b);
}

// ---- numbers

constexpr word to_bits(number a) { return a.is_literal() ? word(a.id) : detail::record<word>(opcode::to_bits, a); }
constexpr number from_bits(word a) {
  return a.is_literal() ? number(nullptr, a.id) : detail::record<number>(opcode::from_bits, a);
}
constexpr float literal_value(number a) { return ieee::from_bits(a.id); }

constexpr number add(number a, number b) {
  if (detail::all_literal(a, b)) return ieee::add(literal_value(a), literal_value(b));
  return detail::record<number>(opcode::fadd, a, b);
}
constexpr number sub(number a, number b) {
  if (detail::all_literal(a, b)) return ieee::sub(literal_value(a), literal_value(b));
  return detail::record<number>(opcode::fsub, a, b);
}
constexpr number mul(number a, number b) {
  if (detail::all_literal(a, b)) return ieee::mul(literal_value(a), literal_value(b));
  return detail::record<number>(opcode::fmul, a, b);
}
constexpr number div(number a, number b) {
  if (detail::all_literal(a, b)) return ieee::div(literal_value(a), literal_value(b));
  return detail::record<number>(opcode::fdiv, a, b);
}
constexpr number sqrt(number a) { return detail::record<number>(opcode::fsqrt, a); }
/// a * b + c, rounded once; only where the target's is exact.
constexpr number fma(number a, number b, number c) { return detail::record<number>(opcode::ffma, a, b, c); }
constexpr number floor(number a) { return detail::record<number>(opcode::ffloor, a); }
constexpr flag less(number a, number b) { return detail::record<flag>(opcode::fless, a, b); }
constexpr flag less_equal(number a, number b) { return detail::record<flag>(opcode::fless_equal, a, b); }
constexpr flag equal(number a, number b) { return detail::record<flag>(opcode::fequal, a, b); }
/// Of bits: a compiler must not reason about it.
constexpr flag is_nan(number a) { return below(0x7f800000u, to_bits(a) & 0x7fffffffu); }
/// A signed word, to the nearest number.
constexpr number to_float(word a) {
  return a.is_literal() ? number(static_cast<float>(static_cast<int32>(a.id))) : detail::record<number>(opcode::to_number, a);
}
/// Towards zero; |a| < 2^31.
constexpr word to_int(number a) { return detail::record<word>(opcode::to_int, a); }

// ---- flags

constexpr word to_word(flag a) { return a.is_literal() ? word(a.id) : detail::record<word>(opcode::to_word, a); }
constexpr flag not_(flag a) { return a.is_literal() ? flag(!a.id) : detail::record<flag>(opcode::not_, a); }
constexpr flag operator&(flag a, flag b) {
  if (a.is_literal()) return a.id ? b : a;
  if (b.is_literal()) return b.id ? a : b;
  return detail::record<flag>(opcode::and_, a, b);
}
constexpr flag operator|(flag a, flag b) {
  if (a.is_literal()) return a.id ? a : b;
  if (b.is_literal()) return b.id ? b : a;
  return detail::record<flag>(opcode::or_, a, b);
}

constexpr word select(flag m, word yes, word no) {
  if (m.is_literal()) return m.id ? yes : no;
  return detail::record<word>(opcode::select, m, yes, no);
}
/// Of bits, so that no compiler drops the choice of a NaN.
constexpr number select(flag m, number yes, number no) { return from_bits(select(m, to_bits(yes), to_bits(no))); }

constexpr word builder::invocation() { return group() * word(made_.workgroup) + lane(); }

}  // namespace poot::kernel
