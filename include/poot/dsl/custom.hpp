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
template <class Op, handle... X>
constexpr auto custom(X... x) {
  if constexpr (!ir::named_op<Op>) {
    static_assert(ir::named_op<Op>, "poot::custom: an op has a name, an arity and flops");
    return poison{};
  } else if constexpr (!ir::counted_op<Op>) {
    static_assert(ir::counted_op<Op>, "poot::custom: an op takes one, two or three operands");
    return poison{};
  } else if constexpr (!ir::custom_op<Op>) {
    static_assert(ir::custom_op<Op>, "poot::custom: evaluate is a function of as many numbers as the op has operands, and gives one");
    return poison{};
  } else {
    static_assert(sizeof...(X) == static_cast<size_t>(Op::arity), "poot::custom: the number of operands is not the op's arity");
    return apply<ir::op::custom>(custom_rule<Op>{}, x...);
  }
}

}  // namespace poot::dsl

namespace poot {
using dsl::custom;
}  // namespace poot
