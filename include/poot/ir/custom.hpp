#pragma once
/// A user's own pointwise op: one row of the op table in a header of their own. It goes through every stage like the
/// built-in ones; its arithmetic is the one function it names.
///
///   struct snake {                                     // x + sin²(a·x) / a
///     static constexpr std::string_view name = "snake";
///     static constexpr int arity = 2, flops = 24;
///     static constexpr float evaluate(const float* in);  // from poot::ieee and poot::elementary, so that bits hold
///   };
///   auto y = poot::custom<snake>(x, a);

#include <poot/core/integers.hpp>

#include <concepts>
#include <string_view>

namespace poot::ir {

/// Operands that a user's op may have.
inline constexpr int max_custom_arity = 2;

/// What the stages know about a user's op. Computes in f32; f16 and bf16 operands are widened and the result is rounded
/// once. `evaluate` reads `arity` operands; it must be the same function of them at compile time and at run time.
struct custom_row {
  std::string_view name;
  int arity = 1;
  int flops = 1;  ///< per element of the result
  float (*evaluate)(const float* operands) = nullptr;
};

template <class Op>
concept custom_op = requires(const float* in) {
  { Op::name } -> std::convertible_to<std::string_view>;
  requires Op::arity >= 1 && Op::arity <= max_custom_arity;
  requires Op::flops >= 0;
  { Op::evaluate(in) } -> std::same_as<float>;
};

/// The row of `Op`; equal ops share its address.
template <custom_op Op>
inline constexpr custom_row custom_row_of{Op::name, Op::arity, Op::flops, &Op::evaluate};

}  // namespace poot::ir
