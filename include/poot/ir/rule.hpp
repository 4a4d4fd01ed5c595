#pragma once
/// The rules that an equation must satisfy, and a sentence for each.

#include <poot/core/integers.hpp>

#include <string_view>

namespace poot::ir {

/// What an equation must satisfy. The sentence for each is `explain(rule)`.
enum class rule : uint8 {
  none, operand_count, operand_dtype, same_dtype, condition_is_i32, broadcast_extents, axis_in_range, attribute_count,
  inner_extents, batch_extents, float_result, index_is_i32, index_extent, indexed_ranks, matmul_ranks, conv_ranks,
  conv_channels, conv_groups, conv_window, conv_attributes, packed_is_transposed, packed_axis, packed_cast,
  packed_block, wide_contraction, slice_range, slice_step, slice_dynamic, concat_extents, concat_dynamic, permutation,
  broadcast_target, reshape_count, update_extents, start_extent, start_is_i32, seed_is_u32_scalar, random_is_f32,
  rank_limit, declared_type, argmax_of_nothing, negative_extent, constant_count,
  collective_dynamic, gathered_extent, scattered_extent,
  rope_width, rope_tables, attention_ranks, attention_heads, attention_keys, attention_mask, attention_scale,
  attention_sink, attention_strict, attention_parts,
};

constexpr std::string_view explain(rule r) {
  switch (r) {
    case rule::none: return "no rule is broken";
    case rule::operand_count: return "the number of operands is wrong";
    case rule::operand_dtype: return "this element type is not accepted here";
    case rule::same_dtype: return "operands must have one element type (use cast)";
    case rule::condition_is_i32: return "the condition must be i32";
    case rule::broadcast_extents: return "extents, aligned at the last axis, must be equal or 1";
    case rule::axis_in_range: return "the axis must lie inside the operand's rank";
    case rule::attribute_count: return "an attribute has the wrong number of entries";
    case rule::inner_extents: return "the inner extents K must be equal";
    case rule::batch_extents: return "batch extents must be equal or 1";
    case rule::float_result: return "the result must be a float";
    case rule::index_is_i32: return "the index must be i32";
    case rule::index_extent: return "the index must have one entry per row";
    case rule::indexed_ranks: return "the operands must be x[T,K], w[E,N,K] and idx[T]";
    case rule::matmul_ranks: return "both operands need at least two axes";
    case rule::conv_ranks: return "the operands must be x[N,C,H,W] and w[O,C/groups,kh,kw]";
    case rule::conv_channels: return "w's second extent must be the channels of x divided by groups";
    case rule::conv_groups: return "groups must divide the channels of x and of w";
    case rule::conv_window: return "the dilated window must fit into the padded image";
    case rule::conv_attributes: return "stride, dilation and groups must be positive and pad not negative";
    case rule::packed_is_transposed: return "a packed weight is read in [N,K] order: transpose_b=1";
    case rule::packed_axis: return "a packed value is gathered along axis 0 of at least two";
    case rule::packed_cast: return "a packed value can only be cast to a float";
    case rule::packed_block: return "the last extent must be a multiple of the packed block";
    case rule::wide_contraction: return "f64 contracts with f64 to f64 only (use cast)";
    case rule::slice_range: return "start + (size - 1) * step must lie inside the operand";
    case rule::slice_step: return "steps must be at least 1, starts and sizes at least 0";
    case rule::slice_dynamic: return "a dynamic axis can only be taken whole";
    case rule::concat_extents: return "all extents but the one along the axis must be equal";
    case rule::concat_dynamic: return "the axis of a concatenation cannot be dynamic";
    case rule::permutation: return "perm must name every axis once";
    case rule::broadcast_target: return "the operand must broadcast to the declared extents";
    case rule::reshape_count: return "the number of elements must stay the same";
    case rule::update_extents: return "the update must have x's rank and fit inside it";
    case rule::start_extent: return "start must have one entry per axis of x";
    case rule::start_is_i32: return "start must be i32";
    case rule::seed_is_u32_scalar: return "seed and offset must be u32 scalars";
    case rule::random_is_f32: return "random_uniform gives f32";
    case rule::rank_limit: return "at most 6 axes";
    case rule::declared_type: return "the declared type is not the type the op gives";
    case rule::argmax_of_nothing: return "argmax needs at least one element along the axis";
    case rule::negative_extent: return "extents must not be negative";
    case rule::constant_count: return "a constant needs one value, or one per element";
    case rule::collective_dynamic: return "a collective takes fixed extents only, for every rank brings as many elements";
    case rule::gathered_extent: return "along the axis, the declared extent must be a multiple of the operand's, and not 0: that of all ranks";
    case rule::scattered_extent: return "along the axis, the operand's extent must be a multiple of the declared one, and not 0: that of one rank";
    case rule::rope_width: return "the turned width must be even, at least 2 and at most the last extent of x, and signs need a table of that width";
    case rule::rope_tables: return "cos and sin must be as x, one entry for each pair or for each turned element, and broadcast into x";
    case rule::attention_ranks: return "q, k and v need at least two axes, and k and v no more than q";
    case rule::attention_heads: return "each batch or head extent of k must be that of v, and divide that of q";
    case rule::attention_keys: return "q and k must have one width, k and v one number of keys";
    case rule::attention_mask: return "a mask of f32 to add, then one of i32 to choose by, broadcast into the scores";
    case rule::attention_scale: return "scale must be a finite f32 and softcap a positive one, or 0 for none";
    case rule::attention_sink: return "with sink=1 the last operand is a sink of f32, f16 or bf16, which broadcasts into a column of the scores";
    case rule::attention_strict: return "strict is 0 or 1, and with strict=1 there is no sink";
    case rule::attention_parts: return "parts are f32[..., L, chunks, E + 3] of at least one chunk, and numbers say how many chunks and columns there are";
  }
  return "";
}

}  // namespace poot::ir
