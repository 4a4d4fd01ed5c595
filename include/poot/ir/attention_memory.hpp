#pragma once
/// What a device keeps of each chunk of keys of an attention until all are joined, in workgroup memory or, split, in parts.

#include <poot/core/extent.hpp>
#include <poot/core/target.hpp>

namespace poot::ir {

/// Keys that are joined as one: the chunks of numerics.md, "Attention".
inline constexpr int64 attention_chunk = 256;

/// Bytes of workgroup memory for one query over at most `keys` keys and values of `columns` elements: the scores of a
/// chunk; of each chunk its greatest score, the sum and the weighted values; one number for each of `workgroup` invocations.
constexpr int64 attention_memory(extent keys, extent columns, int64 workgroup) {
  const int64 chunks = (keys.bound() + attention_chunk - 1) / attention_chunk;
  return 4 * (attention_chunk + workgroup + chunks * (columns.bound() + 2));
}

/// The same of a strict one: the scores of all keys.
constexpr int64 strict_attention_memory(extent keys, int64 workgroup) {
  return 4 * ((keys.bound() + attention_chunk - 1) / attention_chunk * attention_chunk + workgroup);
}

/// Invocations of the workgroup of one query: 64, or 32 where a barrier costs much; half as many, and again, where that makes the
/// memory fit, but at least 8. 0 where not even these do. (How many there are changes no bit.)
constexpr int64 attention_workgroup(const device_caps& caps, extent keys, extent columns, bool strict) {
  for (int64 lanes = caps.is_processor() ? 32 : 64; lanes >= 8; lanes /= 2)
    if (lanes <= caps.max_workgroup && (strict ? strict_attention_memory(keys, lanes) : attention_memory(keys, columns, lanes)) <= caps.shared_bytes)
      return lanes;
  return 0;
}

/// Numbers that stand behind the weighted values of a chunk in its part: the greatest score, the sum, and how many keys the chunk has.
inline constexpr int64 attention_part_numbers = 3;

/// Chunks of at most `keys` keys; of no key one, whose part says so.
constexpr int64 attention_chunks(extent keys) {
  const int64 chunks = (keys.bound() + attention_chunk - 1) / attention_chunk;
  return chunks < 1 ? 1 : chunks;
}

/// What the chunks of at most `keys` keys give for a result of f32 […, L, E]: […, L, chunks, E + 3].
constexpr tensor_type attention_parts_of(const tensor_type& rows, extent keys) {
  tensor_type parts = rows;
  parts.extents[rows.rank - 1] = attention_chunks(keys);
  parts.extents[rows.rank] = rows.last().code + attention_part_numbers;
  parts.rank = static_cast<uint8>(rows.rank + 1);
  return parts;
}
/// […, L, E] of […, L, chunks, E + 3].
constexpr tensor_type joined_parts(const tensor_type& parts) {
  tensor_type rows = parts;
  rows.rank = static_cast<uint8>(parts.rank - 1);
  rows.extents[rows.rank - 1] = parts.last().code - attention_part_numbers;
  return rows;
}

/// Query heads whose scores one workgroup takes, each key and value being loaded once for all of them: of those that read the same
/// keys the largest divisor up to 4, or 5 or 7 of so many.
constexpr int64 heads_at_once(const tensor_type& q, const tensor_type& k) {
  if (q.rank < 3) return 1;
  const extent heads = q.extents[q.rank - 3], shared = k.rank < 3 ? extent(1) : k.extents[k.rank - 3];
  if (heads.is_dynamic() || shared.is_dynamic() || shared.code < 1) return 1;
  const int64 group = heads.code / shared.code;
  for (int64 some = 4; some > 1; --some)
    if (group % some == 0 && group > 0) return some;
  return group == 5 || group == 7 ? group : 1;
}

/// Invocations of the workgroup of one chunk, which keeps the scores of the chunk for each of `heads`; 0 where they do not fit.
constexpr int64 attention_parts_workgroup(const device_caps& caps, int64 heads) {
  for (int64 lanes = caps.is_processor() ? 32 : 64; lanes >= 8; lanes /= 2)
    if (lanes <= caps.max_workgroup && 4 * heads * (attention_chunk + lanes) <= caps.shared_bytes) return lanes;
  return 0;
}

/// Whether a target has the memory; no workgroups, no limit.
constexpr bool attention_fits(const device_caps& caps, extent keys, extent columns, bool strict) {
  return caps.max_workgroup == 0 || attention_workgroup(caps, keys, columns, strict) != 0;
}

/// Whether a target can split an attention with a result of type `rows` over chunks of keys: their parts lie in one buffer, and their
/// workgroups along the first axis of the grid.
constexpr bool attention_splits(const device_caps& caps, const tensor_type& q, const tensor_type& k, const tensor_type& rows) {
  const int64 heads = heads_at_once(q, k);
  if (attention_parts_workgroup(caps, heads) == 0 || rows.rank == max_rank || rows.last().is_dynamic()) return false;
  const tensor_type parts = attention_parts_of(rows.with(dtype::f32), k.extents[k.rank - 2]);
  int64 groups = 1, numbers = 0;
  for (int i = 0; i + 1 < parts.rank; ++i)
    if (__builtin_mul_overflow(groups, parts.extents[i].bound(), &groups)) return false;
  if (__builtin_mul_overflow(groups, parts.last().code, &numbers)) return false;
  return numbers <= caps.buffer_bytes / 4 && groups / heads <= caps.max_groups_x;
}

}  // namespace poot::ir
