#pragma once
/// What a typing rule answers, and broadcasting.

#include <poot/core/extent.hpp>
#include <poot/ir/op.hpp>
#include <poot/ir/rule.hpp>

namespace poot::ir {

/// The outcome of a typing rule: a type, or the broken rule and the operand that breaks it (-1: the call itself).
struct typing {
  tensor_type type;
  rule broken = rule::none;
  int8 operand = -1;
  constexpr bool ok() const { return broken == rule::none; }
};

namespace detail {

constexpr typing refuse(rule r, int operand = -1) { return {tensor_type{}, r, static_cast<int8>(operand)}; }

/// NumPy broadcasting of extents; false if they do not fit. A dynamic extent fits itself and 1.
constexpr bool broadcast_into(tensor_type& result, const tensor_type& other) {
  const int rank = result.rank > other.rank ? result.rank : other.rank;
  tensor_type r;
  r.element = result.element;
  r.rank = static_cast<uint8>(rank);
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - result.rank), ib = i - (rank - other.rank);
    const extent a = ia < 0 ? extent(1) : result.extents[ia], b = ib < 0 ? extent(1) : other.extents[ib];
    if (a != b && a != extent(1) && b != extent(1)) return false;
    r.extents[i] = a == extent(1) ? b : a;
  }
  result = r;
  return true;
}

}  // namespace detail

}  // namespace poot::ir
