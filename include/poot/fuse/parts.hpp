#pragma once
/// The parts of a contraction region: rows that its products read, where these are computed first; products that steps read
/// together, with those steps; rows that reduce runs of a result. Parts share the rows before them, and nothing else.
///
///   %h = … %x …                       prologue: rows
///   %a = matmul %h, %w;  %b = neg %a  a part
///   %r = reshape %b                   the view: [1, runs · columns] as [1, runs, columns]
///   %m = reduce_max %r                epilogue: rows, of one run each

#include <poot/core/ascending.hpp>
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

struct contraction_parts {
  static constexpr uint32 none = 0xffffffffu;
  vec<uint32> prologue;  ///< the row prologue: the left operand and what is joined with it ahead of products, ascending; empty where it lies in memory
  vec<contraction_part> parts;
  uint32 runs = none;    ///< the view of a result by runs, the one reshape among the members
  vec<uint32> epilogue;  ///< the row epilogue: what reads that view, and what is joined with it otherwise, ascending
};

/// Members joined by edges among them. `members` are those of a contraction region, ascending; parts come in the order of
/// their first products.
constexpr contraction_parts parts_of(const graph_view& g, view<uint32> members) {
  const auto count = static_cast<uint32>(members.size());
  vec<uint32> part(count, 0);    // by position: the lowest position of what it is joined with so far
  // by position: is it a product or made of one, short of the view? does it belong to the prologue, to the epilogue?
  vec<uint8> behind(count, 0), before(count, 0), after(count, 0);
  for (uint32 m = 0; m < count; ++m) part[m] = m;
  const auto position = [&](uint32 id) { return position_in(members, id); };
  const auto join = [&](uint32 m, uint32 at) {
    if (part[at] == part[m]) return;
    const uint32 kept = part[at] < part[m] ? part[at] : part[m], gone = part[at] < part[m] ? part[m] : part[at];
    for (uint32& p : part)
      if (p == gone) p = kept;
  };
  contraction_parts out;
  uint32 runs = count;
  for (uint32 m = 0; m < count; ++m) {
    if (g[members[m]].kind == op::reshape && runs == count) {
      runs = m;
      out.runs = members[m];
      continue;
    }
    behind[m] = ir::is_contraction(g[members[m]].kind);
    for (uint32 in : g.operands(members[m]))
      if (const uint32 at = position(in); at < count) behind[m] |= behind[at];
    if (behind[m]) continue;
    for (uint32 in : g.operands(members[m]))
      if (const uint32 at = position(in); at < count) join(m, at);
  }
  for (uint32 m = 0; m < count; ++m) after[m] = runs < count && !behind[m] && part[m] == part[runs];
  for (uint32 m = 0; m < count; ++m) {
    if (!ir::is_contraction(g[members[m]].kind)) continue;
    const uint32 left = position(g.first_operand(members[m])[0]);
    if (left == count || behind[left]) continue;
    for (uint32 k = 0; k < count; ++k) before[k] |= !behind[k] && part[k] == part[left];
  }
  for (uint32 m = 0; m < count; ++m) {
    if (before[m]) out.prologue.push_back(members[m]);
    else if (after[m] && m != runs) out.epilogue.push_back(members[m]);
    if (!behind[m]) continue;
    for (uint32 in : g.operands(members[m]))
      if (const uint32 at = position(in); at < count && !before[at] && !after[at]) join(m, at);
  }
  vec<uint32> of_part;  // of out.parts: its number in `part`
  for (uint32 m = 0; m < count; ++m) {
    if (before[m] || !ir::is_contraction(g[members[m]].kind)) continue;
    size_t at = 0;
    while (at < of_part.size() && of_part[at] != part[m]) ++at;
    if (at == of_part.size()) {
      out.parts.push_back({});
      of_part.push_back(part[m]);
    }
    out.parts[at].heads.push_back(members[m]);
  }
  for (uint32 m = 0; m < count; ++m) {
    if (before[m] || after[m] || ir::is_contraction(g[members[m]].kind)) continue;
    for (size_t at = 0; at < of_part.size(); ++at)
      if (of_part[at] == part[m]) out.parts[at].steps.push_back(members[m]);
  }
  return out;
}

}  // namespace poot::fuse
