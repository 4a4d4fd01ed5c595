#pragma once
/// Typing rules of recognised chains.

#include <poot/ir/attention_memory.hpp>
#include <poot/ir/detail/typing_outcome.hpp>

namespace poot::ir::detail {

/// attrs: turned width, adjacent, signed
constexpr typing type_rope(view<int64> at, view<tensor_type> in) {
  const tensor_type& x = in[0];
  if (at.size() != 3) return refuse(rule::attribute_count);
  if (x.rank < 1 || at[0] < 2 || at[0] % 2 || x.last().is_dynamic() || at[0] > x.last().code) return refuse(rule::rope_width, 0);
  for (int k = 1; k < 3; ++k) {
    const tensor_type& table = in[k];
    if (table.element != x.element || table.rank < 1 || !table.same_extents(in[1])) return refuse(rule::rope_tables, k);
    const bool full = table.last() == extent(at[0]);
    if (!full && table.last() != extent(at[0] / 2)) return refuse(rule::rope_tables, k);
    if (!full && at[2]) return refuse(rule::rope_width, k);
    tensor_type turned = x.with(x.rank - 1, table.last());
    const tensor_type wanted = turned;
    if (!broadcast_into(turned, table) || !turned.same_extents(wanted)) return refuse(rule::rope_tables, k);
  }
  return {x};
}

/// The result in f32 of queries, keys, values and masks; attrs: the bits of scale and softcap in f32, 0 for no softcap. Entry i of an
/// extent of q reads entry i / (q's / k's) of k.
constexpr typing type_attending(view<int64> at, view<tensor_type> in) {
  if (in.size() < 3 || in.size() > 5) return refuse(rule::operand_count);
  const auto is_finite = [](int64 bits) { return bits >= 0 && bits <= 0xffffffff && (bits >> 23 & 0xff) != 0xff; };
  if (!is_finite(at[0]) || !is_finite(at[1]) || (at[1] >> 31 && at[1])) return refuse(rule::attention_scale);
  const tensor_type &q = in[0], &k = in[1], &v = in[2];
  for (int i = 0; i < 3; ++i) {
    if (!is_float(in[i].element) || in[i].element == dtype::f64) return refuse(rule::operand_dtype, i);
    if (in[i].rank < 2 || in[i].rank > q.rank) return refuse(rule::attention_ranks, i);
  }
  if (k.last() != q.last()) return refuse(rule::attention_keys, 1);
  if (v.extents[v.rank - 2] != k.extents[k.rank - 2]) return refuse(rule::attention_keys, 2);
  if (k.rank != v.rank) return refuse(rule::attention_heads, 2);
  for (int i = 0; i < k.rank - 2; ++i) {
    const extent heads = q.extents[i + q.rank - k.rank], shared = k.extents[i];
    if (shared != v.extents[i]) return refuse(rule::attention_heads, 2);
    if (shared == heads || shared == extent(1)) continue;
    if (shared.is_dynamic() || heads.is_dynamic() || shared.code < 1 || heads.code % shared.code) return refuse(rule::attention_heads, 1);
  }
  const tensor_type scores = q.with(q.rank - 1, k.extents[k.rank - 2]);
  bool chooses = false;
  for (size_t i = 3; i < in.size(); ++i) {
    tensor_type stretched = scores;
    const bool fits = !chooses && (in[i].element == dtype::i32 || (i == 3 && in[i].element == dtype::f32));
    if (!fits || !broadcast_into(stretched, in[i]) || !stretched.same_extents(scores)) return refuse(rule::attention_mask, static_cast<int>(i));
    chooses = in[i].element == dtype::i32;
  }
  return {q.with(q.rank - 1, v.last()).with(dtype::f32)};
}

/// A sink broadcasts into a column of the scores, which `rows` has a row for each of.
constexpr bool is_sink_of(const tensor_type& rows, const tensor_type& sink) {
  const tensor_type column = rows.with(rows.rank - 1, extent(1));
  tensor_type stretched = column;
  return is_float(sink.element) && sink.element != dtype::f64 && broadcast_into(stretched, sink) && stretched.same_extents(column);
}
constexpr bool is_attention_result(dtype declared) { return is_float(declared) && declared != dtype::f64; }

/// attrs: scale and softcap; whether the last operand is a sink; whether it is strict.
constexpr typing type_attention(view<int64> at, view<tensor_type> in, dtype declared) {
  if (at.size() != 4) return refuse(rule::attribute_count);
  const bool has_sink = at[2] != 0;
  if (at[2] >> 1) return refuse(rule::attention_sink);
  if (at[3] >> 1 || (at[3] && has_sink)) return refuse(rule::attention_strict);
  if (!is_attention_result(declared)) return refuse(rule::float_result);
  const size_t masks_end = in.size() - (has_sink ? 1 : 0);
  const typing made = type_attending(at, in.subview(0, masks_end));
  if (!made.ok()) return made;
  if (has_sink && !is_sink_of(made.type, in[masks_end])) return refuse(rule::attention_sink, static_cast<int>(masks_end));
  return {made.type.with(declared)};
}

/// attrs: scale and softcap.
constexpr typing type_attention_parts(view<int64> at, view<tensor_type> in) {
  if (at.size() != 2) return refuse(rule::attribute_count);
  const typing rows = type_attending(at, in);
  if (!rows.ok()) return rows;
  if (rows.type.rank == max_rank) return refuse(rule::rank_limit, 0);
  if (rows.type.last().is_dynamic()) return refuse(rule::attention_parts, 2);
  return {attention_parts_of(rows.type, in[1].extents[in[1].rank - 2])};
}
constexpr typing type_attention_join(view<tensor_type> in, dtype declared) {
  const tensor_type& parts = in[0];
  if (in.size() > 2) return refuse(rule::operand_count);
  if (!is_attention_result(declared)) return refuse(rule::float_result);
  const bool fits = parts.element == dtype::f32 && parts.rank >= 3 && !parts.last().is_dynamic() && parts.last().code >= attention_part_numbers;
  if (!fits || parts.extents[parts.rank - 2].is_dynamic() || parts.extents[parts.rank - 2].code < 1) return refuse(rule::attention_parts, 0);
  const tensor_type rows = joined_parts(parts);
  if (in.size() == 2 && !is_sink_of(rows, in[1])) return refuse(rule::attention_sink, 1);
  return {rows.with(declared)};
}

}  // namespace poot::ir::detail
