#pragma once
/// What a device keeps of each chunk of keys of an attention until all are joined.

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

/// Whether a target has the memory; no workgroups, no limit.
constexpr bool attention_fits(const device_caps& caps, extent keys, extent columns, bool strict) {
  return caps.max_workgroup == 0 || attention_workgroup(caps, keys, columns, strict) != 0;
}

}  // namespace poot::ir
