#pragma once
/// Attention over many keys in two dispatches: the parts of its chunks of 256 keys, then their join. Devices with workgroups only. Every
/// bit stays: attention is defined by these chunks (numerics.md), and a join reads what the kernel of a whole one keeps in workgroup memory.
/// Requires: a verified graph for a target. Ensures: an attention that is not strict stays whole where its keys are fewer than `keys` and
/// fit the memory of a workgroup, and where no buffer or grid holds the parts.
///   %y : f32[32,1,64] = attention %q, %k, %v, %mask, %sink {sink=1}, of f32[8,40000,64]   →
///   %p : f32[32,1,157,67] = attention_parts %q, %k, %v, %mask;  %y : f32[32,1,64] = attention_join %p, %sink

#include <poot/core/target.hpp>
#include <poot/ir/attention_memory.hpp>
#include <poot/pass/rewriter.hpp>

namespace poot::pass {

namespace detail {

constexpr bool is_split(const graph_view& g, uint32 id, const device_caps& caps, int64 keys) {
  if (g[id].kind != op::attention || g.attrs(id)[3] != 0) return false;
  const tensor_type &q = g.type(g.operands(id)[0]), &k = g.type(g.operands(id)[1]);
  const extent length = k.extents[k.rank - 2];
  return (length.bound() >= keys || !ir::attention_fits(caps, length, g.type(id).last(), false)) && ir::attention_splits(caps, q, k, g.type(id));
}

}  // namespace detail

/// `keys`: least bound of the keys of an attention that is split although it fits.
constexpr graph split_attention(graph g, const target& where, int64 keys, record& notes) {
  if (where.caps.max_workgroup == 0) return g;
  const graph_view from = g;
  bool found = false;
  for (uint32 id = 0; id < from.size() && !found; ++id) found = detail::is_split(from, id, where.caps, keys);
  if (!found) return g;
  graph to = expanded(g, [&](graph& made, uint32 id, const vec<uint32>& in) {
    if (!detail::is_split(from, id, where.caps, keys)) return stays;
    const view<int64> attrs = from.attrs(id);
    const size_t masks_end = in.size() - static_cast<size_t>(attrs[2]);
    const uint32 parts = made.apply(op::attention_parts, view<uint32>(in).subview(0, masks_end), attrs.subview(0, 2), {});
    uint32 joined[2] = {parts, attrs[2] ? in[masks_end] : 0};
    const uint32 join = made.apply(op::attention_join, {joined, attrs[2] ? 2u : 1u}, {}, from.type(id));
    made.eqns[parts].origin = made.eqns[join].origin = from[id].origin;
    return join;
  });
  notes.changed.push_back(pass_id::split_attention);
  return to;
}

}  // namespace poot::pass
