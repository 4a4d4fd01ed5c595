#pragma once
/// Operators and pointwise functions of tensors; operands broadcast as in NumPy. The same for free nodes, typed tensors
/// and run-time values.

#include <poot/dsl/literal.hpp>

namespace poot::dsl {

/// A number and the handle beside it, whichever comes first.
template <class A, class B>
using number_of = std::conditional_t<handle<A>, B, A>;
template <class A, class B>
using handle_of = std::conditional_t<handle<A>, A, B>;

template <ir::op Op, operand A, operand B>
constexpr auto binary(A a, B b) {
  if constexpr (!handle<A> || !handle<B>) {
    if constexpr (!accepted_number<number_of<A, B>, handle_of<A, B>>()) {
      static_assert(accepted_call<typename number_refused_as<Op, handle<A>, number_of<A, B>, handle_of<A, B>>::type>, "poot: this number is refused");
      return poison{};
    } else if constexpr (handle<A>) {
      return binary<Op>(a, as_handle<Op, 1>(b, a));
    } else {
      return binary<Op>(as_handle<Op, 0>(a, b), b);
    }
  } else if constexpr (constexpr operand_list<A, B> list; !accepted<Op, no_attributes>(list)) {
    static_assert(accepted_call<typename refused_as<Op, no_attributes, A, B>::type>, "poot: this call is refused");
    return poison{};
  } else {
    return call<Op>(no_attributes{}, a, b);
  }
}

template <operand A, operand B>
  requires operands<A, B>
constexpr auto operator+(A a, B b) {
  return binary<ir::op::add>(a, b);
}
template <operand A, operand B>
  requires operands<A, B>
constexpr auto operator-(A a, B b) {
  return binary<ir::op::sub>(a, b);
}
template <operand A, operand B>
  requires operands<A, B>
constexpr auto operator*(A a, B b) {
  return binary<ir::op::mul>(a, b);
}
template <operand A, operand B>
  requires operands<A, B>
constexpr auto operator/(A a, B b) {
  return binary<ir::op::div>(a, b);
}
template <operand A, operand B>
  requires operands<A, B>
constexpr auto operator&(A a, B b) {
  return binary<ir::op::bit_and>(a, b);
}
template <operand A, operand B>
  requires operands<A, B>
constexpr auto operator|(A a, B b) {
  return binary<ir::op::bit_or>(a, b);
}
template <operand A, operand B>
  requires operands<A, B>
constexpr auto operator^(A a, B b) {
  return binary<ir::op::bit_xor>(a, b);
}
template <operand A, operand B>
  requires operands<A, B>
constexpr auto operator<<(A a, B b) {
  return binary<ir::op::shl>(a, b);
}
template <operand A, operand B>
  requires operands<A, B>
constexpr auto operator>>(A a, B b) {
  return binary<ir::op::shr>(a, b);
}

// Comparisons give i32, 1 or 0. Equality is eq and ne: == between tensors would promise a bool.
template <operand A, operand B>
  requires operands<A, B>
constexpr auto operator<(A a, B b) {
  return binary<ir::op::lt>(a, b);
}
template <operand A, operand B>
  requires operands<A, B>
constexpr auto operator<=(A a, B b) {
  return binary<ir::op::le>(a, b);
}
template <operand A, operand B>
  requires operands<A, B>
constexpr auto operator>(A a, B b) {
  return binary<ir::op::gt>(a, b);
}
template <operand A, operand B>
  requires operands<A, B>
constexpr auto operator>=(A a, B b) {
  return binary<ir::op::ge>(a, b);
}
template <operand A, operand B>
  requires operands<A, B>
constexpr auto eq(A a, B b) {
  return binary<ir::op::eq>(a, b);
}
template <operand A, operand B>
  requires operands<A, B>
constexpr auto ne(A a, B b) {
  return binary<ir::op::ne>(a, b);
}

template <operand A, operand B>
  requires operands<A, B>
constexpr auto max(A a, B b) {
  return binary<ir::op::max>(a, b);
}
template <operand A, operand B>
  requires operands<A, B>
constexpr auto min(A a, B b) {
  return binary<ir::op::min>(a, b);
}
template <operand A, operand B>
  requires operands<A, B>
constexpr auto pow(A a, B b) {
  return binary<ir::op::pow>(a, b);
}

template <handle A>
constexpr auto operator-(A a) {
  return unary<ir::op::neg>(a);
}
template <handle A>
constexpr auto operator~(A a) {
  return unary<ir::op::bit_not>(a);
}
template <handle A>
constexpr auto neg(A a) {
  return unary<ir::op::neg>(a);
}
template <handle A>
constexpr auto exp(A a) {
  return unary<ir::op::exp>(a);
}
template <handle A>
constexpr auto log(A a) {
  return unary<ir::op::log>(a);
}
template <handle A>
constexpr auto sqrt(A a) {
  return unary<ir::op::sqrt>(a);
}
template <handle A>
constexpr auto recip(A a) {
  return unary<ir::op::recip>(a);
}
template <handle A>
constexpr auto sin(A a) {
  return unary<ir::op::sin>(a);
}
template <handle A>
constexpr auto cos(A a) {
  return unary<ir::op::cos>(a);
}
template <handle A>
constexpr auto tanh(A a) {
  return unary<ir::op::tanh>(a);
}
template <handle A>
constexpr auto erf(A a) {
  return unary<ir::op::erf>(a);
}
template <handle A>
constexpr auto abs(A a) {
  return unary<ir::op::abs>(a);
}
template <handle A>
constexpr auto floor(A a) {
  return unary<ir::op::floor>(a);
}

/// 1 / sqrt(x), as two equations that each round.
template <handle A>
constexpr auto rsqrt(A a) {
  return unary<ir::op::recip>(unary<ir::op::sqrt>(a));
}

/// `a` where `c` (i32) is not 0, else `b`; moves bits.
template <handle C, operand A, operand B>
  requires operands<A, B>
constexpr auto select(C c, A a, B b) {
  if constexpr (handle<A> && handle<B>) {
    return apply<ir::op::select>(no_attributes{}, c, a, b);
  } else if constexpr (!accepted_number<number_of<A, B>, handle_of<A, B>>()) {
    static_assert(accepted_call<typename number_refused_as<ir::op::select, 1 + handle<A>, number_of<A, B>, handle_of<A, B>>::type>,
                  "poot: this number is refused");
    return poison{};
  } else if constexpr (handle<A>) {
    return apply<ir::op::select>(no_attributes{}, c, a, as_handle<ir::op::select, 2>(b, a));
  } else {
    return apply<ir::op::select>(no_attributes{}, c, as_handle<ir::op::select, 1>(a, b), b);
  }
}

template <dtype T>
struct cast_to {
  constexpr void operator()(attributes& a, const tensor_type* in) const { a.declared = in[0].with(T); }
};
struct cast_to_run_time {
  dtype element;
  constexpr void operator()(attributes& a, const tensor_type* in) const { a.declared = in[0].with(element); }
};
template <dtype T, handle A>
constexpr auto cast(A a) {
  return apply<ir::op::cast>(cast_to<T>{}, a);
}
template <run_time V>
constexpr V cast(V a, dtype t) { return call<ir::op::cast>(cast_to_run_time{t}, a); }

/// `a` in the element type of `like`; `a` itself where it has it already.
template <handle A, handle Like>
constexpr auto cast_like(A a, Like like) {
  if constexpr (run_time<A>) {
    const dtype t = type_of_handle(like).element;
    return a.type().element == t ? a : cast(a, t);
  } else if constexpr (std::same_as<A, poison> || std::same_as<Like, poison>) {
    return poison{};
  } else {
    static_assert(typed<Like>, "cast_like: beside a typed tensor the other must be typed too");
    if constexpr (A::result.element == Like::result.element) return a;
    else return cast<Like::result.element>(a);
  }
}
template <dtype T, handle A>
constexpr auto cast_unless(A a) {
  if constexpr (run_time<A>) {
    return a.type().element == T ? a : cast(a, T);
  } else {
    if constexpr (A::result.element == T) return a;
    else return cast<T>(a);
  }
}

}  // namespace poot::dsl

namespace poot {
using dsl::abs, dsl::cast, dsl::cast_like, dsl::cos, dsl::eq, dsl::erf, dsl::exp, dsl::floor, dsl::log, dsl::max, dsl::min,
    dsl::ne, dsl::neg, dsl::pow, dsl::recip, dsl::rsqrt, dsl::select, dsl::sin, dsl::sqrt, dsl::tanh;

namespace ir {  // where argument-dependent look-up finds the operators of run-time values
using dsl::operator+, dsl::operator-, dsl::operator*, dsl::operator/, dsl::operator&, dsl::operator|, dsl::operator^,
    dsl::operator~, dsl::operator<<, dsl::operator>>, dsl::operator<, dsl::operator<=, dsl::operator>, dsl::operator>=;
}  // namespace ir
}  // namespace poot
