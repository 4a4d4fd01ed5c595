#pragma once
/// Numbers, index tables and extents worked out from the type of a tensor: constants for typed callers, and the same
/// at run time for values. A composition that uses them needs no sizes as arguments.

#include <poot/dsl/leaf.hpp>
#include <poot/dsl/literal.hpp>

namespace poot::dsl {

/// `axis`, counted from the end where it is negative.
constexpr int64 axis_of(int64 axis, const tensor_type& t) { return axis < 0 ? axis + t.rank : axis; }

/// The bits of 1/count, rounded once to a float type.
constexpr uint64 reciprocal_bits(dtype t, int64 count) {
  if (count <= 0) return format_of(t).infinity();
  const uint64 n = static_cast<uint64>(count);
  uint64 quotient = n == 1, rest = n == 1 ? 0 : 1;  // the first digits of 2^-exponent / n, by long division
  int exponent = 0;
  while (quotient >> 62 == 0) {
    rest <<= 1;
    quotient <<= 1;
    --exponent;
    if (rest >= n) rest -= n, quotient |= 1;
  }
  return round_bits(format_of(t), false, quotient, exponent, rest != 0);
}

/// A number worked out from the type of a handle: `Rule{}(type)` gives its bits in the type's element type.
template <class Rule, handle X>
constexpr auto literal_from(X x) {
  if constexpr (run_time<X>) {
    return ir::value{x.owner, literal_in(*x.owner, x.type().element, Rule{}(x.type()))};
  } else if constexpr (std::same_as<X, poison>) {
    return x;
  } else {
    return typename literal_<X::result.element, Rule{}(X::result)>::type{};
  }
}

/// The index along the first axis of a type worked out from that of a handle: `Rule{}(type)`.
template <class Rule, handle X>
constexpr auto iota_from(X x) {
  if constexpr (run_time<X>) {
    const tensor_type t = Rule{}(x.type());
    for (uint32 id = 0; id < x.owner->size(); ++id) {
      const ir::eqn& e = x.owner->eqns[id];
      if (e.kind == ir::op::iota && e.type == t && x.owner->attr_pool[e.attrs.first] == 0) return ir::value{x.owner, id};
    }
    const int64 axis[1]{0};
    return ir::value{x.owner, x.owner->leaf(ir::op::iota, t, {axis, 1})};
  } else if constexpr (std::same_as<X, poison>) {
    return x;
  } else {
    return apply<ir::op::iota>(iota_rule<Rule{}(X::result), 0>{});
  }
}

constexpr int64 code_along(int64 axis, const tensor_type& t) {
  const int64 at = axis_of(axis, t);
  return at < 0 || at >= t.rank ? 0 : t[static_cast<int>(at)].code;
}
/// The extent along an axis as its code, below 0 for a dynamic one; 0 where there is no such axis. A constant where the type has it.
template <int Axis, handle X>
constexpr auto extent_of(X x) {
  if constexpr (run_time<X>) return code_along(Axis, x.type());
  else return index_constant<code_along(Axis, X::result)>{};
}
/// Integers that are constants or not.
template <class N>
inline constexpr bool is_index = std::same_as<N, int64>;
template <int64 I>
inline constexpr bool is_index<index_constant<I>> = true;

}  // namespace poot::dsl
