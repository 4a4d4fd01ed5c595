#pragma once
/// Whether two groups may become one, and if not, the first check that fails. Nothing here prefers one plan to another.

#include <poot/fuse/reads.hpp>
#include <poot/fuse/run_order.hpp>
#include <poot/fuse/tails.hpp>

namespace poot::fuse {

/// The union of two groups, or why there is none.
struct verdict {
  reason why = reason::none;
  region_kind kind = region_kind::pointwise;
  uint32 space_of = 0;   ///< equation whose extents are the iteration space
  int64 recomputed = 0;  ///< flops spent again
  constexpr bool legal() const { return why == reason::none; }
};

class legality {
 public:
  constexpr legality(grouping& partition, const rules& r)
      : groups(partition), allowed(r), stamp_(partition.g.size(), 0), order_(static_cast<uint32>(partition.g.size())) {}

  grouping& groups;
  const rules allowed;

  /// May groups `a` and `b` (roots) be one region? Symmetric.
  constexpr verdict check(uint32 a, uint32 b) {
    const summary &x = groups.of(a), &y = groups.of(b);
    if (x.begins_with_rows || y.begins_with_rows) return refused(reason::head_operand);
    if (feeds_head(groups, a, b) || feeds_head(groups, b, a)) return refused(reason::head_operand);
    if (x.run || y.run) return refused(reason::two_heads);
    verdict v = unite_kinds(x, y);
    if (!v.legal()) return v;
    if (x.prologue != y.prologue) return refused(reason::prologue);
    if (x.written + y.written > allowed.max_members) return refused(reason::member_limit);
    const bool apart = stands_side_by_side(v.kind);
    if (apart && (overwrites(groups, a, b) || overwrites(groups, b, a))) return refused(reason::alias);
    if (v.kind == region_kind::row) {
      if (x.float_select || y.float_select) return refused(reason::select_in_row);
      if (!allowed.integer_rows && (x.non_float || y.non_float)) return refused(reason::non_float_in_row);
    }
    for (uint32 side : {a, b}) {
      if (apart) break;
      const reason why = fits(side, a, b, v);
      if (why != reason::none) return refused(why);
    }
    if (!allowed.fuse_narrow_casts && (reads_narrow_cast(groups, a, b) || reads_narrow_cast(groups, b, a)))
      return refused(reason::narrow_cast);
    if (x.bindings + y.bindings > allowed.max_buffers && count_bindings(a, b) > allowed.max_buffers)
      return refused(reason::buffer_limit);
    if (order_.is_before(a, b) ? path_around(a, b) : path_around(b, a)) return refused(reason::cycle);
    const bool two_heads = x.kind == region_kind::contraction && y.kind == region_kind::contraction;
    // a step that reads several products reads them at one place
    if (two_heads && reads_directly_ && (x.scattered || y.scattered || !groups.space(x).same_extents(groups.space(y))))
      return refused(reason::head_space);
    if (apart) return reads_directly_ ? refused(reason::boundary) : v;
    const bool connected = reads_directly_ && !x.scattered && !y.scattered;
    if (!connected && !(allowed.horizontal && (v.kind == region_kind::pointwise || two_heads))) return refused(reason::boundary);
    return v;
  }

  /// May the row group `row` stand before the products of group `head`, which read its result? Such a group takes nothing more.
  constexpr verdict check_prologue(uint32 row, uint32 head) {
    const graph_view& g = groups.g;
    const summary &x = groups.of(row), &y = groups.of(head);
    if (!allowed.row_prologue || !allowed.horizontal || x.kind != region_kind::row || y.kind != region_kind::contraction ||
        y.begins_with_rows || !is_plain_product(g, y.space_of))
      return refused(reason::head_operand);
    const uint32 left = g.first_operand(y.space_of)[0];
    if (!groups.grouped(left) || groups.root(left) != row) return refused(reason::head_operand);
    const tensor_type& t = g.type(left);
    if (!t.same_extents(groups.space(x))) return refused(reason::row_space);
    const bool one_matrix = groups.each_member(head, [&](uint32 id) { return !ir::is_contraction(g[id].kind) || multiplies_one_matrix(g, id); });
    if (!one_matrix || rows_of(t) > allowed.max_prologue_rows) return refused(reason::many_rows);
    if (!is_read_as_left_operand(groups, row, left, head)) return refused(reason::read_elsewhere);
    if (saturating_sum(t.element_count(), y.run) > allowed.max_prologue_bytes / 4) return refused(reason::shared_exceeded);
    return check_rows(row, head, y.space_of, left);
  }

  /// The member behind which `id`, alone in its group, could stand in a tail: what it reads, or what reshapes make of that; else none.
  constexpr uint32 tail_source(uint32 id) const {
    const graph_view& g = groups.g;
    const uint32 operand = tail_operand(g, id);
    if (operand == g.operand_count(id) || groups.of(groups.root(id)).members > 1) return grouping::none;
    uint32 from = g.first_operand(id)[operand];
    while (is_view_in_tail(g, from) && !groups.grouped(from)) from = *g.first_operand(from);
    if (!groups.grouped(from)) return grouping::none;
    const summary& source = groups.of(groups.root(from));
    const bool has_head = stands_side_by_side(source.kind) || source.kind == region_kind::attention;
    return has_head && !source.scattered && takes_tail(g, source.space_of) ? from : grouping::none;
  }

  /// May `id`, alone in its group, stand in the tail behind its `tail_source`? Reshapes between the two come with it.
  constexpr verdict check_tail(uint32 from, uint32 id) {
    const graph_view& g = groups.g;
    const uint32 a = groups.root(from), b = groups.root(id), through = g.first_operand(id)[tail_operand(g, id)];
    const summary &x = groups.of(a), &y = groups.of(b);
    const bool is_step = y.kind == region_kind::pointwise;
    if (!allowed.tails || (x.kind == region_kind::attention && g[id].kind != op::transpose)) return refused(reason::boundary);
    if (g[from].kind == op::dynamic_update_slice || is_packed(g.type(id).element)) return refused(reason::boundary);
    if (x.kind == region_kind::attention && through != from && (g.first_operand(through)[0] != from || !joins_heads(g, through)))
      return refused(reason::boundary);
    if (x.prologue != y.prologue) return refused(reason::prologue);
    uint32 views = 0;
    for (uint32 at = through; at != from; at = *g.first_operand(at), ++views)
      if (groups.only_user(at) == grouping::none) return refused(reason::read_elsewhere);
    for (uint32 k = 0; k < groups.user_count(from); ++k)  // a step may read a value twice
      if (groups.first_user(from)[k] != *groups.first_user(from)) return refused(reason::read_elsewhere);
    if (groups.is_output(from)) return refused(reason::read_elsewhere);
    if (is_step && !g.type(id).same_extents(g.type(through))) return refused(reason::spaces_differ);
    if (is_step && !allowed.fuse_narrow_casts && is_narrowing_cast(g, from)) return refused(reason::narrow_cast);
    if (g[id].kind == op::dynamic_update_slice && !groups.is_update_in_place(id)) return refused(reason::copied_update);
    if (overwrites(groups, a, b) || overwrites(groups, b, a)) return refused(reason::alias);
    if (x.written + views + y.written > allowed.max_members) return refused(reason::member_limit);
    if (x.bindings + y.bindings > allowed.max_buffers && count_bindings(a, b) > allowed.max_buffers)
      return refused(reason::buffer_limit);
    view_between_ = views ? through : grouping::none;
    const bool cycle = !order_.is_before(a, b) || path_around(a, b);
    view_between_ = grouping::none;
    if (cycle) return refused(reason::cycle);
    verdict v;
    v.kind = x.kind;
    v.space_of = x.space_of;
    return v;
  }

  /// Makes `id` the end of the tail behind `from` if that is legal.
  constexpr verdict join_tail(uint32 from, uint32 id) {
    const verdict v = check_tail(from, id);
    if (!v.legal()) return v;
    const uint32 kept = unite(groups.root(from), groups.root(id), v);
    for (uint32 at = groups.g.first_operand(id)[tail_operand(groups.g, id)]; at != from; at = *groups.g.first_operand(at))
      groups.adopt(at, kept);
    return v;
  }

  /// Makes `a` and `b` one group if that is legal.
  constexpr verdict join(uint32 a, uint32 b) {
    const verdict v = check(a, b);
    if (v.legal()) unite(a, b, v);
    return v;
  }
  /// The same for rows and the products that read them.
  constexpr verdict join_prologue(uint32 row, uint32 head) {
    const verdict v = check_prologue(row, head);
    if (v.legal()) groups.begin_with_rows(unite(row, head, v));
    return v;
  }

  /// May the row group `row` stand behind products, of whose result it reduces the runs that view `runs` makes? Such a group takes
  /// nothing more but rows before its products.
  constexpr verdict check_epilogue(uint32 row, uint32 runs) {
    const graph_view& g = groups.g;
    const uint32 made = *g.first_operand(runs), head = groups.root(made);
    const summary &x = groups.of(head), &y = groups.of(row);
    if (!allowed.row_epilogue || !allowed.horizontal || y.kind != region_kind::row || x.scattered || x.begins_with_rows || x.run ||
        !is_plain_product(g, x.space_of))
      return refused(reason::two_heads);
    const tensor_type &t = g.type(made), &r = g.type(runs);
    if (!t.same_extents(groups.space(x))) return refused(reason::head_space);
    if (!r.same_extents(groups.space(y))) return refused(reason::row_space);
    if (!are_runs(t, r)) return refused(reason::run_split);
    if (rows_of(t) > 1) return refused(reason::many_rows);
    if (r.last().code > allowed.max_run) return refused(reason::long_run);
    if (!is_read_by_runs(groups, head, runs, row)) return refused(reason::read_elsewhere);
    if (r.last().code > allowed.max_prologue_bytes / 4) return refused(reason::shared_exceeded);
    return check_rows(head, row, x.space_of, made, runs);
  }
  constexpr verdict join_epilogue(uint32 row, uint32 runs) {
    const verdict v = check_epilogue(row, runs);
    if (!v.legal()) return v;
    const uint32 kept = unite(groups.root(*groups.g.first_operand(runs)), row, v);
    groups.adopt(runs, kept);
    groups.end_with_rows(kept, groups.g.type(runs).last().code);
    return v;
  }

 private:
  /// What holds for rows on either side of products: group `first` hands `passed` on to `second`, through `view` if there is one, and
  /// `head` is the first product.
  constexpr verdict check_rows(uint32 first, uint32 second, uint32 head, uint32 passed, uint32 view = grouping::none) {
    const summary &x = groups.of(first), &y = groups.of(second);
    const bool is_viewed = view != grouping::none;
    if (x.prologue != y.prologue) return refused(reason::prologue);
    if (x.written + is_viewed + y.written > allowed.max_members) return refused(reason::member_limit);
    verdict v;
    v.kind = region_kind::contraction;
    v.space_of = head;
    v.recomputed = saturating_sum(x.recomputed, y.recomputed);
    if (v.recomputed > allowed.max_recomputed_flops) return refused(reason::recompute_cost);
    if (!allowed.fuse_narrow_casts && is_narrowing_cast(groups.g, passed)) return refused(reason::narrow_cast);
    const uint32 inside = is_viewed ? 1 + (groups.only_user(passed) == view) : 0;  // counted as read, and as stored for the view
    if (x.bindings + y.bindings > allowed.max_buffers && count_bindings(first, second) - inside > allowed.max_buffers)
      return refused(reason::buffer_limit);
    view_between_ = view;
    const bool cycle = !order_.is_before(first, second) || path_around(first, second);
    view_between_ = grouping::none;
    return cycle ? refused(reason::cycle) : v;
  }

  /// One group of two whose union was just found legal; returns its root.
  constexpr uint32 unite(uint32 a, uint32 b, const verdict& v) {
    if (!order_.is_before(a, b)) std::swap(a, b);
    // What `b` needs and stands behind `a` must run before both; the check has just found it.
    for (size_t i = 2; i < reached_.size(); ++i)
      for (size_t j = i; j > 1 && order_.is_before(reached_[j], reached_[j - 1]); --j) std::swap(reached_[j], reached_[j - 1]);
    if (reached_.size() > 1) order_.move_before(view<uint32>(reached_).subview(1, reached_.size() - 1), a);
    const uint32 kept = groups.merge(a, b, v.kind, v.space_of, v.recomputed, reads_directly_);
    order_.merge(kept, kept == a ? b : a, a);
    return kept;
  }

  static constexpr verdict refused(reason why) {
    verdict v;
    v.why = why;
    return v;
  }

  /// Does `small` broadcast into `big` without changing it?
  static constexpr bool broadcasts_into(const tensor_type& small, const tensor_type& big) {
    tensor_type t = big;
    return ir::detail::broadcast_into(t, small) && t.same_extents(big);
  }

  /// Kind and space of the union.
  constexpr verdict unite_kinds(const summary& x, const summary& y) const {
    const bool aside = stands_side_by_side(x.kind) || stands_side_by_side(y.kind);
    const auto stands = [](region_kind k) { return k == region_kind::pointwise || k == region_kind::generator || stands_side_by_side(k); };
    if (allowed.side_by_side && allowed.horizontal && aside && stands(x.kind) && stands(y.kind)) {
      verdict v;
      const bool turns = x.kind == region_kind::rope || y.kind == region_kind::rope;
      v.kind = turns ? region_kind::rope : region_kind::movement;
      const bool first = y.kind == region_kind::pointwise || (x.kind != region_kind::pointwise && x.space_of < y.space_of);
      v.space_of = first ? x.space_of : y.space_of;  // that of the first head
      return v;
    }
    const auto joins = [](region_kind k) {
      return k == region_kind::pointwise || k == region_kind::row || k == region_kind::contraction;
    };
    if (!joins(x.kind) || !joins(y.kind)) return refused(reason::boundary);
    for (const summary* s : {&x, &y})  // (the space of a row group may be a product that it reads)
      if (s->kind == region_kind::contraction && is_on_matrix_unit(groups.g, s->space_of)) return refused(reason::matrix_unit);
    const bool px = x.kind == region_kind::pointwise, py = y.kind == region_kind::pointwise;
    const tensor_type &x_space = groups.space(x), &y_space = groups.space(y);
    const bool equal = x_space.same_extents(y_space);
    verdict v;
    v.space_of = x.space_of;
    if (!px && !py) {
      if (x.kind == region_kind::contraction && y.kind == region_kind::contraction && allowed.sibling_heads &&
          are_siblings(groups.g, x.space_of, y.space_of)) {
        v.kind = region_kind::contraction;
        if (y.space_of < v.space_of) v.space_of = y.space_of;
        return v;
      }
      if (x.kind != region_kind::row || y.kind != region_kind::row) return refused(reason::two_heads);
      if (!equal) return refused(reason::row_space);
      v.kind = region_kind::row;
      return v;
    }
    if (px && py) {
      if (!equal && !broadcasts_into(y_space, x_space)) {
        v.space_of = y.space_of;
        if (!broadcasts_into(x_space, y_space)) return refused(reason::spaces_differ);
      }
    } else {
      const summary &head = px ? y : x, &chain = px ? x : y;
      v.kind = head.kind;
      v.space_of = head.space_of;
      if (head.kind == region_kind::contraction && groups.space(head).element == dtype::f64) return refused(reason::wide_head);
      if (head.kind == region_kind::contraction && head.scattered) return refused(reason::head_space);
      if (!equal && !broadcasts_into(groups.space(chain), groups.space(head)))
        return refused(head.kind == region_kind::row ? reason::row_space : reason::head_space);
    }
    if (!allowed.with_broadcast && !equal) return refused(reason::spaces_differ);
    return v;
  }

  /// One value per row of a row region.
  static constexpr bool is_row_value(const tensor_type& t, const tensor_type& space) {
    return t.rank == space.rank && t.same_extents(space.with(space.rank - 1, extent(1)));
  }

  /// Members of `side` in the united space: values smaller than it are cheap, in all, and stay inside.
  constexpr reason fits(uint32 side, uint32 a, uint32 b, verdict& v) const {
    const graph_view& g = groups.g;
    const summary& s = groups.of(side);
    const tensor_type& space = g.type(v.space_of);
    reason why = reason::none;
    if (s.kind == v.kind && (s.kind == region_kind::contraction || groups.space(s).same_extents(space))) {
      v.recomputed = saturating_sum(v.recomputed, s.recomputed);
      return v.recomputed > allowed.max_recomputed_flops ? reason::recompute_cost : reason::none;
    }
    groups.each_member(side, [&](uint32 id) {
      const tensor_type& t = g.type(id);
      if (t.same_extents(space)) return true;
      if (v.kind == region_kind::row && is_row_value(t, space)) return true;
      if (!is_widening_load(g, id)) {
        v.recomputed = saturating_sum(v.recomputed, recomputed_flops(g, id, space));
        if (v.recomputed > allowed.max_recomputed_flops) why = reason::recompute_cost;
      }
      if (!allowed.small_outputs && groups.read_outside(id, a, b)) why = reason::output_not_full;
      return why == reason::none;
    });
    return why;
  }

  /// Distinct buffers the union reads and writes.
  constexpr uint32 count_bindings(uint32 a, uint32 b) {
    const uint32 mark = ++now_;
    uint32 bindings = 0;
    for (uint32 side : {a, b})
      groups.each_member(side, [&](uint32 id) {
        if (groups.read_outside(id, a, b)) ++bindings;
        for (uint32 in : groups.g.operands(id)) {
          if (groups.g.is_scalar_constant(in) || stamp_[in] == mark) continue;
          const uint32 r = groups.grouped(in) ? groups.root(in) : grouping::none;
          if (r == a || r == b) continue;
          stamp_[in] = mark;
          ++bindings;
        }
        return true;
      });
    return bindings;
  }

  /// Is there a path from group `from` through other groups to group `to`, which stands behind it in the order? Walks
  /// backwards from `to`; what stands before `from` cannot depend on it, which keeps the walk within a window. Without a
  /// path, `reached_` holds `to` and all it needs within the window, and `reads_directly_` whether `to` reads `from`.
  constexpr bool path_around(uint32 from, uint32 to) {
    const uint32 mark = ++now_;
    reads_directly_ = false;
    reached_.clear();
    stamp_[to] = mark;
    reached_.push_back(to);
    for (size_t next = 0; next < reached_.size(); ++next) {
      const uint32 at = reached_[next];
      uint32 id = at;
      do {
        const ir::slice_of& operands = groups.g[id].operands;
        const uint32* const in = groups.g.operand_pool.first + operands.first;
        for (uint32 k = 0; k < operands.count; ++k)
          if (!step_back(in[k], at, from, to, mark)) return true;
        id = groups.next_in_ring(id);
      } while (id != at);
    }
    return false;
  }

  /// Follows one operand of group `at` to the group that makes it, through views; false when `from` is reached
  /// otherwise than by a direct edge to `to`.
  constexpr bool step_back(uint32 in, uint32 at, uint32 from, uint32 to, uint32 mark) {
    // a view between two members of one region has no place to stand
    const bool direct = at == to && (groups.grouped(in) || in == view_between_);
    in = groups.behind_views(in);
    if (!groups.grouped(in)) return true;
    const uint32 r = groups.root(in);
    if (r == from) return reads_directly_ |= direct, direct;
    if (stamp_[r] == mark || order_.is_before(r, from)) return true;
    stamp_[r] = mark;
    reached_.push_back(r);
    return true;
  }

  vec<uint32> stamp_, reached_;
  run_order order_;
  uint32 now_ = 0;
  uint32 view_between_ = grouping::none;  ///< the one through which `to` reads `from` in a tail
  bool reads_directly_ = false;
};

}  // namespace poot::fuse
