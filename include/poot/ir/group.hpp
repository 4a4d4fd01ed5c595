#pragma once
/// Groups of ranks, as the collectives of a graph name them. Every rank runs the same graph.

#include <poot/ir/graph.hpp>

namespace poot::ir {

/// How many ranks the group of collective `id` has, as its extents say; 0 where they do not (all_reduce_sum).
constexpr int64 ranks_of(const graph_view& g, uint32 id) {
  const eqn& e = g[id];
  if (e.kind == op::all_reduce_sum) return 0;
  const auto axis = static_cast<int>(g.attrs(e)[0]);
  const int64 before = g.type(g.first_operand(id)[0]).extents[axis].code, after = e.type.extents[axis].code;
  return e.kind == op::all_gather ? after / before : before / after;
}

/// Tells the graphs of ranks apart by their equations: ops, types, operands and names. What a rank may say of itself, in a
/// constant or an attribute, does not count.
constexpr uint64 digest_of(const graph_view& g) {
  uint64 h = g.size();
  for (uint32 id = 0; id < g.size(); ++id) {
    const eqn& e = g[id];
    h = mix(h, uint64{static_cast<uint8>(e.kind)} << 32 | uint64{static_cast<uint8>(e.type.element)} << 8 | static_cast<uint8>(e.type.rank));
    for (int i = 0; i < e.type.rank; ++i) h = mix(h, static_cast<uint64>(e.type.extents[i].code));
    for (uint32 in : g.operands(id)) h = mix(h, in);
    h = mix(h, hash_text(g.name_of(id)));
    if (e.custom) h = mix(h, e.custom->hash);
  }
  return h;
}

/// The sizes that collectives give their groups, one after the other.
class group_sizes {
 public:
  /// Why collective `id`, whose typing holds, cannot stand behind those that were noted; empty where it can.
  constexpr text note(const graph_view& g, uint32 id) {
    const std::string_view group = g.name_of(id);
    if (group.empty()) return "a collective needs the name of its group";
    const int64 ranks = ranks_of(g, id);
    if (ranks == 0) return {};
    for (uint32 other : first_)
      if (g.name_of(other) == group) {
        if (ranks_of(g, other) == ranks) return {};
        return text{} << "the group \"" << group << "\" has " << ranks << " ranks here and " << ranks_of(g, other) << " before ("
                      << name(g[other].kind) << ")";
      }
    first_.push_back(id);
    return {};
  }

 private:
  vec<uint32> first_;  ///< of each group, the first equation that says its size
};

}  // namespace poot::ir
