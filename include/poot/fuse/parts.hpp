#pragma once
/// The parts of a contraction region: products that steps read together, with those steps. Parts share the rows that their
/// products read, and nothing else.

#include <poot/fuse/region.hpp>

namespace poot::fuse {

/// Products of equal extents, and the pointwise steps behind them; each ascending.
struct contraction_part {
  vec<uint32> heads, steps;
  constexpr bool holds(uint32 id) const {
    for (const vec<uint32>* list : {&heads, &steps})
      for (uint32 member : *list)
        if (member == id) return true;
    return false;
  }
};

/// Members joined by edges among them. `members` are those of a contraction region, ascending; parts come in the order of
/// their first products.
constexpr vec<contraction_part> parts_of(const graph_view& g, view<uint32> members) {
  const auto count = static_cast<uint32>(members.size());
  vec<uint32> part(count, 0);  // by position: the lowest position of what it is joined with so far
  for (uint32 m = 0; m < count; ++m) part[m] = m;
  const auto position = [&](uint32 id) {
    uint32 low = 0, high = count;
    while (low < high) {
      const uint32 middle = (low + high) / 2;
      if (members[middle] < id) low = middle + 1;
      else high = middle;
    }
    return low < count && members[low] == id ? low : count;
  };
  for (uint32 m = 0; m < count; ++m)
    for (uint32 in : g.operands(members[m])) {
      const uint32 at = position(in);
      if (at == count || part[at] == part[m]) continue;
      const uint32 kept = part[at] < part[m] ? part[at] : part[m], gone = part[at] < part[m] ? part[m] : part[at];
      for (uint32& p : part)
        if (p == gone) p = kept;
    }
  vec<contraction_part> out;
  vec<uint32> of_part;  // of out: its number in `part`
  for (uint32 m = 0; m < count; ++m) {
    if (!ir::is_contraction(g[members[m]].kind)) continue;
    size_t at = 0;
    while (at < out.size() && of_part[at] != part[m]) ++at;
    if (at == out.size()) {
      out.push_back({});
      of_part.push_back(part[m]);
    }
    out[at].heads.push_back(members[m]);
  }
  for (uint32 m = 0; m < count; ++m) {
    if (ir::is_contraction(g[members[m]].kind)) continue;
    for (size_t at = 0; at < out.size(); ++at)
      if (of_part[at] == part[m]) out[at].steps.push_back(members[m]);
  }
  return out;
}

}  // namespace poot::fuse
