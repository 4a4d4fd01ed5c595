#pragma once
/// Into how many dispatches a launch is split, where its grid is larger than the target's: chunks of equal grids, one behind
/// the other in the numbers of its workgroups. A chunk waits for no other.

#include <poot/fuse/region.hpp>
#include <poot/plan/countable.hpp>
#include <poot/plan/program.hpp>

namespace poot::plan::detail {

/// No kernel of a region takes fewer invocations in a workgroup, nor gives one a smaller tile of a product than 8 by 8 or 1 by 64,
/// but for kernels of rows, which take a workgroup each.
inline constexpr int64 invocations = 64, tile_side = 8;

constexpr int64 rounded_up(int64 count, int64 divide) { return count / divide + (count % divide != 0); }

/// At least the workgroups that a launch starts, dynamic extents at their bounds. Kernels are generated after the plan: an
/// executor refuses to start more.
constexpr int64 most_workgroups(const graph_view& g, const launch& l, const uint32* ids) {
  const view<uint32> members(ids + l.members.first, l.members.count), outputs(ids + l.outputs.first, l.outputs.count);
  const auto rows = [&](const tensor_type& t) {
    int64 count = 1;
    for (int i = 0; i + 1 < t.rank; ++i) count = limited_product(count, t.extents[i].bound());
    return count;
  };
  int64 count = 0;
  switch (l.kind) {
    case fuse::region_kind::reduction: return g.type(members[0]).element_count();
    case fuse::region_kind::attention: return rows(g.type(members[0]));
    case fuse::region_kind::row:
      for (uint32 id : members)
        if (ir::is_reduction(g[id].kind)) count = rows(g.type(g.first_operand(id)[0]));
      return count;
    case fuse::region_kind::contraction:
      for (uint32 id : members) {
        if (g[id].kind == ir::op::reshape) return rows(g.type(id));  // runs of the only product: a workgroup each
        if (!ir::is_contraction(g[id].kind)) continue;
        const tensor_type& t = g.type(id);
        const int64 m = t.extents[t.rank - 2].bound(), n = t.last().bound();
        const int64 squares = limited_product(rounded_up(m, tile_side), rounded_up(n, tile_side)), lines = limited_product(m, rounded_up(n, invocations));
        int64 tiles = squares > lines ? squares : lines;
        for (int i = 0; i + 2 < t.rank; ++i) tiles = limited_product(tiles, t.extents[i].bound());
        count += tiles;
      }
      return count;
    case fuse::region_kind::pointwise:
      for (uint32 id : outputs) count = g.type(id).element_count() > count ? g.type(id).element_count() : count;
      return rounded_up(count, invocations);
    default:  // parts beside each other, a result each
      for (uint32 id : outputs) count += g.type(id).element_count();
      return rounded_up(count, invocations);
  }
}

constexpr void split_launches(program& p, const graph_view& g) {
  const device_caps& caps = p.planned_for.caps;
  if (caps.max_workgroup == 0) return;  // no workgroups
  const int64 most = int64{caps.max_groups_x} * caps.max_groups_y;
  if (most >= 0xffffffff) return;  // more than a kernel numbers
  for (vec<launch>* list : {&p.prologue, &p.launches})
    for (launch& l : *list) {
      const int64 chunks = rounded_up(most_workgroups(g, l, p.ids.data()), most > 0 ? most : 1);
      l.chunks = chunks < 1 ? 1 : chunks > 0xffffffff ? 0xffffffffu : static_cast<uint32>(chunks);
    }
}

}  // namespace poot::plan::detail
