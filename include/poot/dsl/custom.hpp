#pragma once
/// Calls of a user's own op; see ir/custom.hpp for how to write one.

#include <poot/dsl/apply.hpp>

namespace poot::dsl {

template <ir::custom_op Op>
struct custom_rule {
  static constexpr const ir::custom_row* custom = &ir::custom_row_of<Op>;
  constexpr void operator()(attributes&, const tensor_type*) const {}
};

/// `Op` of its operands, which broadcast; f32, f16 or bf16.
template <ir::custom_op Op, handle... X>
constexpr auto custom(X... x) {
  static_assert(sizeof...(X) == Op::arity, "poot::custom: the number of operands is not the op's arity");
  return apply<ir::op::custom>(custom_rule<Op>{}, x...);
}

}  // namespace poot::dsl

namespace poot {
using dsl::custom;
}  // namespace poot
