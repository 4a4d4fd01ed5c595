#pragma once
/// Chains that nearly were rope, attention or a contraction over a packed weight, and the first check that failed.

#include <poot/core/integers.hpp>

#include <string_view>

namespace poot::pass {

enum class chain_check : uint8 {
  // several
  read_elsewhere, narrow_value, element_type, no_kernel, grid_limit,
  // attention
  workgroup_memory, reciprocal_softmax, softmax_form, softmax_axis, softmax_shift, step_between, moved_inside, scale_form, softcap_form, mask_form, mask_value, operand_order,
  single_key_head, heads_differ, unbounded_length, strict, sink_shape, sink_kept, sink_form,
  // rope
  turn_form, pair_order, tables, turned_width,
  // packed weights
  weight_order,
};
inline constexpr chain_check last_chain_check = chain_check::weight_order;

/// The sentence of a check; its name up to the colon.
constexpr std::string_view explain(chain_check c) {
  switch (c) {
    case chain_check::read_elsewhere: return "read_elsewhere: a value inside the chain is read outside, or more often than the chain does";
    case chain_check::narrow_value: return "narrow_value: a value inside the chain is rounded to a narrower type";
    case chain_check::element_type: return "element_type: the chain computes in another type than f32";
    case chain_check::no_kernel: return "no_kernel: the target has no kernel for the chain";
    case chain_check::grid_limit: return "x_grid_limit: heads times queries are more workgroups than the target starts along x";
    case chain_check::workgroup_memory: return "workgroup_memory: what is kept of each chunk of so many keys does not fit the target's workgroup memory, nor their parts one buffer and the grid along x";
    case chain_check::reciprocal_softmax: return "reciprocal_softmax: a product with the reciprocal of the sum rounds otherwise than the division";
    case chain_check::softmax_form: return "softmax_form: the weights are not exponentials divided by their own sum";
    case chain_check::softmax_axis: return "softmax_axis: the softmax does not run along the keys";
    case chain_check::softmax_shift: return "softmax_shift: the exponent is not the score less the greatest of its row";
    case chain_check::step_between: return "step_between: a step that is no scale, softcap or mask stands between the contractions";
    case chain_check::moved_inside: return "moved_inside: a value inside the chain takes another shape";
    case chain_check::scale_form: return "scale_form: the scale is no constant to multiply by";
    case chain_check::softcap_form: return "softcap_form: a softcap is cap * tanh(score / cap) with one positive constant";
    case chain_check::mask_form: return "mask_form: a mask is added, then chosen by, once each, and broadcasts into the scores";
    case chain_check::mask_value: return "mask_value: masked scores are not -inf";
    case chain_check::operand_order: return "operand_order: keys are read as [S,D] and values as [S,E], or transposed to it";
    case chain_check::single_key_head: return "single_key_head: the contraction broadcasts a single key head";
    case chain_check::heads_differ: return "heads_differ: the heads of keys and values are not alike, or not a part of the queries'";
    case chain_check::unbounded_length: return "unbounded_length: nothing bounds the number of keys";
    case chain_check::strict: return "strict: the division would move, for so many scores, or a sink among them, do not stay in workgroup memory";
    case chain_check::sink_shape: return "sink_shape: a sink is one number for each head or query, one column beside the scores";
    case chain_check::sink_kept: return "sink_kept: the weight of the sink, and no other, is dropped before the values";
    case chain_check::sink_form: return "sink_form: a sink joins the finished scores, the same in their greatest and in the sum of exponentials";
    case chain_check::turn_form: return "turn_form: the pairs do not become a*c - b*s and b*c + a*s";
    case chain_check::pair_order: return "pair_order: the elements of a pair are neither half of the turned ones apart nor adjacent";
    case chain_check::tables: return "tables: the pairs do not turn by one table of cos and one of sin";
    case chain_check::turned_width: return "turned_width: the turned elements are not the first of each row";
    case chain_check::weight_order: return "weight_order: a packed weight is the second operand, read as [N,K] or transposed to it";
  }
  return "";
}

/// A chain that was left alone: the equation of the traced graph that failed a check.
struct chain_decline {
  uint32 origin = 0;
  chain_check failed{};
  constexpr bool operator==(const chain_decline&) const = default;
};

}  // namespace poot::pass
