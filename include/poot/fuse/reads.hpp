#pragma once
/// What groups read of each other.

#include <poot/fuse/grouping.hpp>

namespace poot::fuse {

/// Does a contraction of group `group` read a member of `other`?
constexpr bool feeds_head(const grouping& groups, uint32 group, uint32 other) {
  if (groups.of(group).kind != region_kind::contraction) return false;
  return !groups.each_member(group, [&](uint32 id) {
    if (!ir::is_contraction(groups.g[id].kind)) return true;
    for (uint32 in : groups.g.operands(id))
      if (groups.grouped(in) && groups.root(in) == other) return false;
    return true;
  });
}

/// Do members of group `head` read only `left` of group `row`, and that as the rows of products? What is read outside both is
/// stored by the first workgroup, which must run.
constexpr bool is_read_as_left_operand(const grouping& groups, uint32 row, uint32 left, uint32 head) {
  bool is_stored = false;
  const bool fits = groups.each_member(row, [&](uint32 id) {
    is_stored = is_stored || groups.read_outside(id, row, head);
    for (uint32 user : groups.users(id)) {
      if (!groups.grouped(user) || groups.root(user) != head) continue;
      if (id != left || !ir::is_contraction(groups.g[user].kind) || groups.g.first_operand(user)[1] == left) return false;
    }
    return true;
  });
  return fits && (!is_stored || !groups.each_member(head, [&](uint32 id) {
           return !ir::is_contraction(groups.g[id].kind) || !always_has_columns(groups.g, id);
         }));
}

/// Is `runs`, a view of a member of group `head`, all that group `row` reads of it, and read by nothing else?
constexpr bool is_read_by_runs(const grouping& groups, uint32 head, uint32 runs, uint32 row) {
  if (groups.is_output(runs)) return false;
  for (uint32 user : groups.users(runs))
    if (!groups.grouped(user) || groups.root(user) != row) return false;
  return groups.each_member(row, [&](uint32 id) {
    for (uint32 in : groups.g.operands(id)) {
      const uint32 made = groups.behind_views(in);
      if (in != runs && groups.grouped(made) && groups.root(made) == head) return false;
    }
    return true;
  });
}

/// Does an update in one group take away what the other reads?
constexpr bool overwrites(const grouping& groups, uint32 group, uint32 other) {
  return !groups.each_member(group, [&](uint32 id) {
    return groups.each_member(other, [&](uint32 reader) { return !groups.overwrites_operand_of(id, reader); });
  });
}

/// Does a member of `to` read a narrowing cast of `from`?
constexpr bool reads_narrow_cast(const grouping& groups, uint32 from, uint32 to) {
  if (groups.of(from).narrow_casts == 0) return false;
  return !groups.each_member(from, [&](uint32 id) {
    if (!is_narrowing_cast(groups.g, id)) return true;
    const uint32* const user = groups.first_user(id);
    for (uint32 k = 0, count = groups.user_count(id); k < count; ++k)
      if (groups.grouped(user[k]) && groups.root(user[k]) == to) return false;
    return true;
  });
}

/// The view through which the row group `row` reads what products make; none where it reads nothing so.
constexpr uint32 runs_of_products(const grouping& groups, uint32 row) {
  uint32 found = grouping::none;
  groups.each_member(row, [&](uint32 id) {
    for (uint32 in : groups.g.operands(id))
      if (found == grouping::none && !groups.grouped(in) && groups.g[in].kind == op::reshape && groups.grouped(*groups.g.first_operand(in)) &&
          groups.of(groups.root(*groups.g.first_operand(in))).kind == region_kind::contraction)
        found = in;
    return found == grouping::none;
  });
  return found;
}

}  // namespace poot::fuse
