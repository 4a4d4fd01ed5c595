#pragma once
/// Numbers of a user's own op: the op is a generic function of them, and is called with numbers that compute, or with
/// numbers that record what is done with them for devices. Every operation is that of the op table, of f32.

#include <poot/core/vec.hpp>
#include <poot/ir/evaluate.hpp>

#include <concepts>

namespace poot::ir {

/// An operation of a recorded op on earlier values, which are numbered in order. `input`: operand `a`; `constant`: the
/// number of bits `a`.
struct custom_step {
  op kind = op::input;
  uint32 a = 0, b = 0, c = 0;
  constexpr bool operator==(const custom_step&) const = default;
};

/// What a function did with its operands.
struct custom_recorder {
  vec<custom_step> steps;
  bool branched = false;  ///< a comparison was asked whether it holds, which nobody knows yet
  constexpr uint32 add(const custom_step& s) {
    steps.push_back(s);
    return static_cast<uint32>(steps.size() - 1);
  }
};

/// Computes at once. Words are the bits of an f32, or the i32 of a comparison.
struct computed {
  uint32 bits;
  constexpr computed() : bits(0) {}  // (no initialisers of members: clang 19 would not take `{}` for operands below)
  constexpr explicit computed(uint32 of_number) : bits(of_number) {}

  template <op O>
  static constexpr computed apply(computed a, computed b = {}, computed c = {}) {
    if constexpr (O == op::select) return a.bits ? b : c;
    else return computed(static_cast<uint32>(evaluate_as<O, float>(dtype::f32, a.bits, b.bits)));
  }
  static constexpr computed both(computed a, computed b) { return computed(a.bits & b.bits); }
  static constexpr computed either(computed a, computed b) { return computed(a.bits | b.bits); }
  constexpr bool holds() const { return bits != 0; }
};

/// Is recorded; a literal of these bits as long as it is in no recorder.
struct recorded {
  custom_recorder* in;
  uint32 id;
  constexpr recorded() : recorded(nullptr, 0) {}
  constexpr explicit recorded(uint32 bits) : recorded(nullptr, bits) {}
  constexpr recorded(custom_recorder* recorder, uint32 value) : in(recorder), id(value) {}

  /// Its number in `recorder`.
  constexpr uint32 value(custom_recorder* recorder) const { return in ? id : recorder->add({op::constant, id}); }

  template <op O>
  static constexpr recorded apply(recorded a, recorded b = {}, recorded c = {}) {
    custom_recorder* const in = a.in ? a.in : b.in ? b.in : c.in;
    if (!in) return recorded(computed::apply<O>(computed(a.id), computed(b.id), computed(c.id)).bits);
    const bool binary = row(O).arity >= 2;
    const uint32 x = a.value(in), y = binary ? b.value(in) : 0, z = O == op::select ? c.value(in) : 0;
    return {in, in->add({O, x, y, z})};
  }
  /// Of comparisons. (Above those that call it: clang 19 evaluates no template that is defined further down.)
  template <op O>
  static constexpr recorded of_words(recorded a, recorded b) {
    if (!a.in && !b.in) return recorded(O == op::bit_and ? a.id & b.id : a.id | b.id);
    custom_recorder* const in = a.in ? a.in : b.in;
    const uint32 x = a.value(in), y = b.value(in);
    return {in, in->add({O, x, y})};
  }
  static constexpr recorded both(recorded a, recorded b) { return of_words<op::bit_and>(a, b); }
  static constexpr recorded either(recorded a, recorded b) { return of_words<op::bit_or>(a, b); }
  constexpr bool holds() const {
    if (in) in->branched = true;
    return !in && id != 0;
  }
};

/// Whether a comparison holds. `select(t, a, b)` chooses by it on every device. As a condition of `if` or `?:` it is known
/// on the host only, and an op that asks is refused elsewhere.
template <class Value>
struct custom_truth {
  Value is{};
  constexpr explicit operator bool() const { return is.holds(); }
  friend constexpr custom_truth operator&(custom_truth a, custom_truth b) { return {Value::both(a.is, b.is)}; }
  friend constexpr custom_truth operator|(custom_truth a, custom_truth b) { return {Value::either(a.is, b.is)}; }
};

/// An f32. Floats and integers convert to it; functions are found by their argument: `sin(x)`, `select(x < y, x, y)`.
template <class Value>
struct custom_number {
  Value is{};
  constexpr custom_number() = default;
  constexpr explicit custom_number(Value v) : is(v) {}
  constexpr custom_number(float number) : is(ieee::to_bits(number)) {}
  template <std::same_as<int> Int>
  constexpr custom_number(Int number) : custom_number(static_cast<float>(number)) {}

#define POOT_BINARY(NAME, OP) \
  friend constexpr custom_number NAME(custom_number a, custom_number b) { return custom_number(Value::template apply<op::OP>(a.is, b.is)); }
  POOT_BINARY(operator+, add)
  POOT_BINARY(operator-, sub)
  POOT_BINARY(operator*, mul)
  POOT_BINARY(operator/, div)
  POOT_BINARY(max, max)
  POOT_BINARY(min, min)
  POOT_BINARY(pow, pow)
#undef POOT_BINARY
#define POOT_UNARY(NAME, OP) \
  friend constexpr custom_number NAME(custom_number a) { return custom_number(Value::template apply<op::OP>(a.is)); }
  POOT_UNARY(operator-, neg)
  POOT_UNARY(abs, abs)
  POOT_UNARY(exp, exp)
  POOT_UNARY(log, log)
  POOT_UNARY(sqrt, sqrt)
  POOT_UNARY(recip, recip)
  POOT_UNARY(sin, sin)
  POOT_UNARY(cos, cos)
  POOT_UNARY(tanh, tanh)
  POOT_UNARY(erf, erf)
  POOT_UNARY(floor, floor)
#undef POOT_UNARY
#define POOT_COMPARISON(NAME, OP) \
  friend constexpr custom_truth<Value> NAME(custom_number a, custom_number b) { return {Value::template apply<op::OP>(a.is, b.is)}; }
  POOT_COMPARISON(operator==, eq)
  POOT_COMPARISON(operator!=, ne)
  POOT_COMPARISON(operator<, lt)
  POOT_COMPARISON(operator<=, le)
  POOT_COMPARISON(operator>, gt)
  POOT_COMPARISON(operator>=, ge)
#undef POOT_COMPARISON
  friend constexpr custom_number select(custom_truth<Value> t, custom_number yes, custom_number no) {
    return custom_number(Value::template apply<op::select>(t.is, yes.is, no.is));
  }
};

}  // namespace poot::ir
