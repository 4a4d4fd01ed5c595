#pragma once
/// A partition of a graph's equations into groups, with what legality needs to know about each group.

#include <poot/fuse/turns.hpp>

namespace poot::fuse {

/// What is known about a group without looking at its members.
struct summary {
  region_kind kind = region_kind::pointwise;
  uint32 space_of = 0;          ///< equation whose extents are the iteration space, of contraction groups the contraction
  uint32 members = 1;
  uint32 written = 1;           ///< members that a kernel writes: of turns (fuse/turns.hpp) the first
  uint32 bindings = 0;          ///< upper bound on the buffers it binds
  uint32 narrow_casts = 0;
  int64 recomputed = 0;         ///< flops spent again, because members are smaller than the space
  bool float_select = false;
  bool non_float = false;
  bool prologue = false;
  bool scattered = false;       ///< was once joined sideways, of parts that do not read each other
  bool begins_with_rows = false;  ///< holds a row prologue
  int64 run = 0;                ///< columns of a run that its row epilogue reduces; 0 where it has none
};

/// Equations as nodes of a union-find forest; the members of a group form a ring. (Its arrays are read through pointers,
/// its edges by number: see core/vec.hpp.)
class grouping {
 public:
  static constexpr uint32 none = 0xffffffffu;

  constexpr explicit grouping(const graph_view& source) : g(source) {
    const auto size = static_cast<uint32>(g.size());
    numbers_.resize(2 * size, none);
    parent_ = numbers_.data();
    ring_ = parent_ + size;
    summaries_.resize(size);
    groups_ = summaries_.data();
    outputs_.resize(size, 0);
    is_output_ = outputs_.data();
    for (const ir::graph_output& o : g.outputs) is_output_[o.value] = 1;
    build_users();
    vec<uint8> constant_values(size, 0);
    uint8* const constant_only = constant_values.data();
    for (uint32 id = 0; id < size; ++id) {
      const eqn& e = g[id];
      const uint32* const in = g.first_operand(id);
      // (Ranks exchange in steps only: they load at times of their own.)
      bool constant = !ir::is_named_leaf(e.kind) && !ir::is_collective(e.kind) && !e.type.is_dynamic();
      for (uint32 k = 0; k < e.operands.count; ++k) constant = constant && constant_only[in[k]];
      constant_only[id] = constant;
      if (needs_no_region(e) || is_window(id)) continue;
      parent_[id] = ring_[id] = id;
      groups_[id] = summarise(id, constant);
    }
    find_turns();
  }
  grouping(const grouping&) = delete;

  const graph_view g;

  constexpr bool grouped(uint32 id) const { return parent_[id] != none; }
  constexpr uint32 root(uint32 id) const {
    while (parent_[id] != id) id = parent_[id];
    return id;
  }
  constexpr const summary& of(uint32 root_id) const { return groups_[root_id]; }
  /// The iteration space of a group; of row groups with the last axis whole.
  constexpr const tensor_type& space(const summary& s) const { return g.type(s.space_of); }
  constexpr const tensor_type& space(uint32 root_id) const { return space(groups_[root_id]); }
  constexpr uint32 next_in_ring(uint32 id) const { return ring_[id]; }
  constexpr const uint32* first_user(uint32 id) const { return user_ + user_start_[id]; }
  constexpr uint32 user_count(uint32 id) const { return user_start_[id + 1] - user_start_[id]; }
  constexpr view<uint32> users(uint32 id) const { return {first_user(id), user_count(id)}; }
  constexpr bool is_output(uint32 id) const { return is_output_[id]; }
  /// Does `id` do in a later turn what an equation of the first one does?
  constexpr bool is_repeated(uint32 id) const { return !repeated_.empty() && repeated_[id]; }

  /// The value whose memory `id` views: follows reshapes and windows.
  constexpr uint32 behind_views(uint32 id) const {
    while (parent_[id] == none && g.operand_count(id) > 0) id = *g.first_operand(id);
    return id;
  }

  /// The only equation that reads `id`, where that is no output; else none.
  constexpr uint32 only_user(uint32 id) const { return user_count(id) == 1 && !is_output_[id] ? *first_user(id) : none; }

  /// Is update `id` sure to overwrite its state in place, whenever it runs? It is the only one to read the state, and the
  /// state's new value and nothing else.
  constexpr bool is_update_in_place(uint32 id) const {
    if (g[id].kind != op::dynamic_update_slice || g[*g.first_operand(id)].kind != op::state) return false;
    const uint32 state = *g.first_operand(id);
    if (only_user(state) != id) return false;
    uint32 outputs = 0;
    bool is_new_value = false;
    for (const ir::graph_output& o : g.outputs) {
      if (behind_reshapes(o.value) != id) continue;
      ++outputs;
      is_new_value = is_new_value || g.chars(o.name) == g.name_of(state);
    }
    return outputs == 1 && is_new_value;
  }

  /// Does update `id`, which may overwrite its first operand in place, take away what `other` reads?
  constexpr bool overwrites_operand_of(uint32 id, uint32 other) const {
    if (g[id].kind != op::dynamic_update_slice || id == other) return false;
    const uint32 overwritten = behind_views(*g.first_operand(id));
    for (uint32 in : g.operands(other))
      if (behind_views(in) == overwritten) return true;
    return false;
  }

  /// Is `id` needed outside the groups `a` and `b`?
  constexpr bool read_outside(uint32 id, uint32 a, uint32 b) const {
    if (is_output_[id]) return true;
    const uint32* const user = first_user(id);
    for (uint32 k = 0, count = user_count(id); k < count; ++k) {
      if (!grouped(user[k])) return true;  // through a view
      const uint32 r = root(user[k]);
      if (r != a && r != b) return true;
    }
    return false;
  }

  /// Calls `visit(member)` for each member of the group, until it returns false.
  template <class Visit>
  constexpr bool each_member(uint32 root_id, Visit visit) const {
    uint32 id = root_id;
    do {
      if (!visit(id)) return false;
      id = ring_[id];
    } while (id != root_id);
    return true;
  }

  /// Makes reshape `id` a member of a group, where it stands between two others.
  constexpr void adopt(uint32 id, uint32 root_id) {
    parent_[id] = root_id;
    ring_[id] = ring_[root_id];
    ring_[root_id] = id;
    ++groups_[root_id].members;
    ++groups_[root_id].written;
  }

  constexpr void begin_with_rows(uint32 root_id) { groups_[root_id].begins_with_rows = true; }
  constexpr void end_with_rows(uint32 root_id, int64 run) { groups_[root_id].run = run; }

  /// Makes one group of two and returns its root; `kind`, `space_of` and `recomputed` are what legality found for the union.
  constexpr uint32 merge(uint32 a, uint32 b, region_kind kind, uint32 space_of, int64 recomputed, bool along_an_edge) {
    if (groups_[a].members < groups_[b].members) std::swap(a, b);
    summary& into = groups_[a];
    const summary& from = groups_[b];
    into.begins_with_rows |= from.begins_with_rows;
    into.run = into.run ? into.run : from.run;
    into.kind = kind;
    into.space_of = space_of;
    into.recomputed = recomputed;
    into.members += from.members;
    into.written += from.written;
    into.bindings += from.bindings;
    into.narrow_casts += from.narrow_casts;
    into.float_select |= from.float_select;
    into.non_float |= from.non_float;
    into.scattered |= from.scattered || !along_an_edge;
    parent_[b] = a;
    std::swap(ring_[a], ring_[b]);
    return a;
  }

 private:
  constexpr uint32 behind_reshapes(uint32 id) const {
    while (g[id].kind == op::reshape) id = *g.first_operand(id);
    return id;
  }
  constexpr summary summarise(uint32 id, bool prologue) const {
    const eqn& e = g[id];
    summary s;
    s.kind = kind_of(g, id);
    const uint32* const in = g.first_operand(id);
    s.space_of = s.kind == region_kind::row ? in[0] : id;
    s.bindings = e.operands.count + 1;
    s.narrow_casts = is_narrowing_cast(g, id);
    s.float_select = e.kind == op::select && is_float(e.type.element);
    s.non_float = s.kind == region_kind::pointwise && !is_float(e.type.element);
    if (s.kind == region_kind::pointwise)
      for (uint32 k = 0; k < e.operands.count; ++k) s.non_float |= !is_float(g.type(in[k]).element);
    s.prologue = prologue;
    return s;
  }

  /// Do three reductions of rows follow each other, alike but for what is pointwise between them? Else there are no turns.
  constexpr bool may_have_turns() const {
    uint32 before = none, alike = 0;
    for (uint32 id = 0, size = static_cast<uint32>(g.size()); id < size; ++id) {
      if (parent_[id] == none) continue;
      const region_kind kind = groups_[id].kind;
      if (kind == region_kind::pointwise) continue;
      const bool follows = kind == region_kind::row && before != none && g[id].kind == g[before].kind && g[id].type == g[before].type;
      alike = kind != region_kind::row ? 0 : follows ? alike + 1 : 1;
      before = kind == region_kind::row ? id : none;
      if (alike == 3) return true;
    }
    return false;
  }
  constexpr void find_turns() {
    if (!may_have_turns()) return;
    vec<uint32> list;
    for (uint32 id = 0; id < g.size(); ++id)
      if (grouped(id)) list.push_back(id);
    const vec<turns> all = turn_finder(g, list).find([&](uint32 id, uint32 last) {
      bool is_read = is_output(id);
      for (uint32 user : users(id)) is_read = is_read || user > last || !grouped(user);
      return is_read;
    });
    if (!all.empty()) repeated_.resize(g.size(), 0);
    for (const turns& t : all)
      for (uint32 at = t.first + t.period; at < t.end(); ++at) {
        repeated_[list[at]] = 1;
        groups_[list[at]].written = 0;
      }
  }

  /// A slice read only as an operand of matmuls and attention, which take it as a strided view; of attention, under other
  /// axes of 1 too.
  constexpr bool is_window(uint32 id) const {
    if (!takes_whole_rows(g, id) || is_output_[id] || users(id).empty()) return false;
    for (uint32 user : users(id))
      if (g[user].kind != op::matmul && !ir::attends(g[user].kind) && !is_window_of_attention(id, user)) return false;
    return true;
  }
  constexpr bool is_window_of_attention(uint32 slice, uint32 id) const {
    if (g[id].kind != op::reshape || is_output_[id] || users(id).empty() || !differs_in_ones(g.type(slice), g.type(id))) return false;
    for (uint32 user : users(id))
      if (!ir::attends(g[user].kind)) return false;
    return true;
  }

  constexpr void build_users() {
    const auto size = static_cast<uint32>(g.size());
    user_starts_.resize(size + 1, 0);
    user_start_ = user_starts_.data();
    uint32 total = 0;
    for (uint32 id = 0; id < size; ++id) {
      const uint32* const in = g.first_operand(id);
      const uint32 count = g.operand_count(id);
      for (uint32 k = 0; k < count; ++k) ++user_start_[in[k]];
      total += count;
    }
    // Filled from behind, each start ends where it belongs.
    for (uint32 id = 0, end = 0; id <= size; ++id) user_start_[id] = end += user_start_[id];
    users_.resize(total);
    user_ = users_.data();
    for (uint32 id = size; id-- > 0;) {
      const uint32* const in = g.first_operand(id);
      for (uint32 k = g.operand_count(id); k-- > 0;) user_[--user_start_[in[k]]] = id;
    }
  }

  vec<uint32> numbers_, user_starts_, users_;
  vec<summary> summaries_;
  vec<uint8> outputs_, repeated_;
  uint32 *parent_ = nullptr, *ring_ = nullptr, *user_start_ = nullptr, *user_ = nullptr;
  summary* groups_ = nullptr;
  uint8* is_output_ = nullptr;
};

}  // namespace poot::fuse
