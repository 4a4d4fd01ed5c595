#pragma once
/// Tails: what stands behind a movement, a rope or attention in one dispatch. Each member reads the one before it and
/// nothing else that the dispatch makes, so an element goes from the head through all of them and is written once, where
/// the last one puts it.
///
///   %q = rope %x, %cos, %sin;  %k = cast %q;  %r = reshape %k;  %c = dynamic_update_slice %cache, %r, %at
///
/// Dispatches of movements and ropes hold several such parts beside each other, and pointwise regions among them.

#include <poot/core/ascending.hpp>
#include <poot/fuse/region.hpp>

namespace poot::fuse {

/// Stands in a tail, but does not end it: a view.
constexpr bool is_view_in_tail(const graph_view& g, uint32 id) { return g[id].kind == op::reshape; }
/// Gives elements other places.
constexpr bool relocates(const graph_view& g, uint32 id) {
  return g[id].kind == op::transpose || g[id].kind == op::dynamic_update_slice;
}

/// The operand through which `id` continues a tail; its number of operands where it cannot. Pointwise steps read one value,
/// and constants.
constexpr uint32 tail_operand(const graph_view& g, uint32 id) {
  const eqn& e = g[id];
  const uint32 none = e.operands.count;
  if (e.kind == op::reshape || e.kind == op::transpose) return 0;
  if (e.kind == op::dynamic_update_slice) return 1;
  if (ir::row(e.kind).kind != ir::op_class::pointwise || kind_of(g, id) != region_kind::pointwise) return none;
  const uint32* const in = g.first_operand(id);
  uint32 found = none;
  for (uint32 k = 0; k < none; ++k) {
    if (g.is_scalar_constant(in[k])) continue;
    if (found != none && in[found] != in[k]) return none;
    found = k;
  }
  return found;
}

/// May `id` pass its elements on to a tail?
constexpr bool takes_tail(const graph_view& g, uint32 id) {
  const region_kind k = kind_of(g, id);
  return (stands_side_by_side(k) || (k == region_kind::attention && g[id].kind != op::attention_parts)) && g[id].kind != op::dynamic_update_slice && !is_packed(g[id].type.element);
}

/// Does reshape `id` make one axis of the heads of attention's result, [heads…, L, E] to [all heads, L, E]? Such a view may stand
/// between attention and a transpose.
constexpr bool joins_heads(const graph_view& g, uint32 id) {
  const tensor_type &from = g.type(g.first_operand(id)[0]), &to = g[id].type;
  const op head = g[g.first_operand(id)[0]].kind;
  if (g[id].kind != op::reshape || (head != op::attention && head != op::attention_join) || to.rank != 3 || from.rank < 3) return false;
  return to.extents[1] == from.extents[from.rank - 2] && to.extents[2] == from.extents[from.rank - 1];
}

/// Members of a dispatch joined by edges among them, each part ascending; parts in the order of their first members.
/// `members` ascend.
constexpr vec<vec<uint32>> parts_beside(const graph_view& g, view<uint32> members) {
  const auto count = static_cast<uint32>(members.size());
  vec<vec<uint32>> parts;
  vec<uint32> part_of;  // of the members so far
  const auto part_of_member = [&](uint32 id) {
    const uint32 at = position_in(members.subview(0, part_of.size()), id);
    return at < part_of.size() ? part_of[at] : count;
  };
  for (uint32 id : members) {
    auto own = static_cast<uint32>(parts.size());
    for (uint32 in : g.operands(id)) {
      const uint32 other = part_of_member(in);
      if (other == count || other == own) continue;
      const uint32 kept = other < own ? other : own, gone = other < own ? own : other;
      for (uint32& p : part_of)
        if (p == gone) p = kept;
      own = kept;
    }
    parts.push_back({});
    part_of.push_back(own);
  }
  for (uint32 m = 0; m < count; ++m) parts[part_of[m]].push_back(members[m]);
  vec<vec<uint32>> joined;
  for (vec<uint32>& p : parts)
    if (!p.empty()) joined.push_back(std::move(p));
  return joined;
}

/// Is a part a head with its tail? Else it is a pointwise region.
constexpr bool has_head(const graph_view& g, view<uint32> part) { return kind_of(g, part[0]) != region_kind::pointwise; }

}  // namespace poot::fuse
