#pragma once
/// Whether a whole partition is legal: for plans that come from elsewhere (text, a search, an attacker), and in tests.

#include <poot/fuse/choose.hpp>
#include <poot/fuse/parts.hpp>
#include <poot/fuse/tails.hpp>

namespace poot::fuse {

/// The first region that breaks a rule, and which; `reason::none` when the partition is legal.
struct finding {
  reason why = reason::none;
  uint32 region = 0;
  constexpr bool legal() const { return why == reason::none; }
};

namespace detail {

/// Judges one region of a partition on its own; cycles are judged for the partition as a whole.
class region_check {
 public:
  constexpr region_check(const grouping& singles, const rules& r, view<uint32> region_of)
      : singles_(singles), g_(singles.g), allowed_(r), region_of_(region_of) {}

  constexpr reason judge(uint32 region, view<uint32> members) {
    region_ = region;
    members_ = members;
    if (members.size() == 1) return reason::none;
    for (uint32 id : members) {
      const region_kind k = alone(id).kind;
      if (singles_.grouped(id) && (stands_side_by_side(k) || k == region_kind::attention)) return beside();
    }
    parts_ = {};
    for (uint32 id : members)
      if (ir::is_contraction(g_[id].kind)) {
        parts_ = parts_of(g_, members);
        break;
      }
    for (uint32 id : members)
      if (!singles_.grouped(id) && id != parts_.runs) return reason::boundary;
    for (auto rule : {&region_check::heads, &region_check::row_prologue, &region_check::row_epilogue, &region_check::spaces, &region_check::lanes, &region_check::narrow_casts,
                      &region_check::bindings, &region_check::connected}) {
      const reason why = (this->*rule)();
      if (why != reason::none) return why;
    }
    return reason::none;
  }

 private:
  constexpr const summary& alone(uint32 id) const { return singles_.of(id); }
  constexpr const tensor_type& space_of(uint32 id) const { return singles_.space(id); }

  constexpr size_t written() const {
    size_t count = 0;
    for (uint32 id : members_) count += !singles_.is_repeated(id);
    return count;
  }

  /// Parts that do not read each other: heads with their tails, and pointwise regions.
  constexpr reason beside() {
    const vec<vec<uint32>> parts = parts_beside(g_, members_);
    if (parts.size() > 1 && (!allowed_.side_by_side || !allowed_.horizontal)) return reason::boundary;
    if (written() > allowed_.max_members) return reason::member_limit;
    for (uint32 id : members_)
      if (singles_.grouped(id) && alone(id).prologue != alone(members_[0]).prologue) return reason::prologue;
    for (const vec<uint32>& part : parts) {
      const region_kind k = alone(part[0]).kind;
      const bool may_stand = singles_.grouped(part[0]) && k != region_kind::row && k != region_kind::contraction && k != region_kind::reduction &&
                             k != region_kind::collective;
      const reason why = !may_stand ? reason::boundary : has_head(g_, part) ? tail(part, parts.size() > 1) : pointwise(part);
      if (why != reason::none) return why;
    }
    for (uint32 id : members_)
      for (uint32 other : members_)
        if (singles_.overwrites_operand_of(id, other)) return reason::alias;
    return bindings();
  }

  /// A head, and members of which each reads the one before, which nothing else reads.
  constexpr reason tail(view<uint32> part, bool has_company) {
    const region_kind head = alone(part[0]).kind;
    if (has_company && head == region_kind::attention) return reason::boundary;
    if (part.size() == 1) return reason::none;
    if (!allowed_.tails || !takes_tail(g_, part[0])) return reason::boundary;
    for (size_t k = 1; k < part.size(); ++k) {
      const uint32 id = part[k], before = part[k - 1], operand = tail_operand(g_, id);
      const bool is_last = k + 1 == part.size(), is_view = g_[id].kind == op::reshape, moves = is_view || relocates(g_, id);
      if (operand == g_.operands(id).size() || g_.operands(id)[operand] != before || (is_view && is_last)) return reason::boundary;
      if (is_packed(g_.type(id).element) || (head == region_kind::attention && g_[id].kind != op::transpose && !joins_heads(g_, id))) return reason::boundary;
      if (singles_.is_output(before)) return reason::read_elsewhere;
      for (uint32 user : singles_.users(before))
        if (user != id) return reason::read_elsewhere;
      for (uint32 k2 = 0; k2 < g_.operands(id).size(); ++k2)
        if (k2 != operand && is_inside(g_.operands(id)[k2]) && g_.operands(id)[k2] != before) return reason::boundary;
      if (!moves && !g_.type(id).same_extents(g_.type(before))) return reason::spaces_differ;
      uint32 value = k - 1;  // what a step computes with, before it was moved
      while (g_[part[value]].kind == op::reshape) --value;
      if (!moves && !allowed_.fuse_narrow_casts && is_narrowing_cast(g_, part[value])) return reason::narrow_cast;
      if (g_[id].kind == op::dynamic_update_slice && (!is_last || !singles_.is_update_in_place(id)))
        return is_last ? reason::copied_update : reason::boundary;
    }
    return reason::none;
  }

  /// A pointwise region of its own.
  constexpr reason pointwise(view<uint32> part) {
    kind_ = region_kind::pointwise;
    recomputed_ = 0;
    for (uint32 id : part)
      if (!singles_.grouped(id) || alone(id).kind != region_kind::pointwise) return reason::boundary;
    if (const reason why = spaces_of(kind_, space_of(part[0]), part); why != reason::none) return why;
    return narrow_casts_of(part);
  }

  /// Products of one left operand, or rows over one space, with pointwise members; nothing else has company, but for what makes
  /// the left operand, and what reduces runs of a result.
  constexpr reason heads() {
    kind_ = region_kind::pointwise;
    head_ = members_[0];
    for (uint32 id : members_) {
      if (id == parts_.runs || stands_before_products(id) || stands_behind_products(id)) continue;
      const region_kind k = alone(id).kind;
      if (k == region_kind::pointwise) continue;
      if (k != region_kind::row && k != region_kind::contraction) return reason::boundary;
      if (kind_ != region_kind::pointwise) {
        if (kind_ == region_kind::contraction && k == kind_ && allowed_.sibling_heads && are_siblings(g_, head_, id)) continue;
        if (kind_ != region_kind::row || k != region_kind::row) return reason::two_heads;
        if (!space_of(id).same_extents(space_of(head_))) return reason::row_space;
        continue;
      }
      kind_ = k;
      head_ = id;
    }
    if (kind_ == region_kind::contraction && g_.type(head_).element == dtype::f64) return reason::wide_head;
    for (uint32 id : members_)
      if (is_on_matrix_unit(g_, id)) return reason::matrix_unit;
    for (uint32 id : members_)
      if (ir::is_contraction(g_[id].kind))
        for (uint32 k = 0; k < g_.operand_count(id); ++k)
          if (const uint32 in = g_.first_operand(id)[k]; is_inside(in) && (k > 0 || !stands_before_products(in)))
            return stands_before_products(in) ? reason::read_elsewhere : reason::head_operand;
    if (written() > allowed_.max_members) return reason::member_limit;
    for (uint32 id : members_)
      if (id != parts_.runs && alone(id).prologue != alone(head_).prologue) return reason::prologue;
    return reason::none;
  }

  static constexpr bool holds(const vec<uint32>& list, uint32 id) {
    for (uint32 each : list)
      if (each == id) return true;
    return false;
  }
  constexpr bool stands_before_products(uint32 id) const { return holds(parts_.prologue, id); }
  constexpr bool stands_behind_products(uint32 id) const { return holds(parts_.epilogue, id); }

  /// What makes the left operand is a row region, of which products read that alone. What is read outside is stored where a
  /// workgroup runs.
  constexpr reason row_prologue() {
    if (parts_.prologue.empty()) return reason::none;
    row_head_ = grouping::none;
    for (uint32 id : parts_.prologue) {
      const region_kind k = alone(id).kind;
      if (k == region_kind::pointwise) continue;
      if (k != region_kind::row) return k == region_kind::contraction ? reason::two_heads : reason::boundary;
      if (row_head_ == grouping::none) row_head_ = id;
      if (!space_of(id).same_extents(space_of(row_head_))) return reason::row_space;
    }
    if (!allowed_.row_prologue || !allowed_.horizontal || row_head_ == grouping::none || !is_plain_product(g_, head_))
      return reason::head_operand;
    const uint32 left = g_.first_operand(head_)[0];
    if (!g_.type(left).same_extents(space_of(row_head_))) return reason::row_space;
    if (rows_of(g_.type(left)) > allowed_.max_prologue_rows) return reason::many_rows;
    for (uint32 id : members_)
      if (ir::is_contraction(g_[id].kind) && !multiplies_one_matrix(g_, id)) return reason::many_rows;
    bool runs = false;
    for (uint32 id : members_) runs = runs || (ir::is_contraction(g_[id].kind) && always_has_columns(g_, id));
    for (uint32 id : parts_.prologue) {
      if (!runs && read_outside(id)) return reason::read_elsewhere;
      for (uint32 user : singles_.users(id))
        if (is_inside(user) && !stands_before_products(user) && (id != left || !ir::is_contraction(g_[user].kind))) return reason::read_elsewhere;
    }
    return g_.type(left).element_count() > allowed_.max_prologue_bytes / 4 ? reason::shared_exceeded : reason::none;
  }

  /// What reads the view of a result by runs is a row region, and all that reads it; nothing else passes between the two.
  constexpr reason row_epilogue() {
    if (parts_.runs == contraction_parts::none) return reason::none;
    const uint32 made = g_.operands(parts_.runs)[0];
    const tensor_type &whole = g_.type(made), &runs = g_.type(parts_.runs);
    bool reduces = false;
    for (uint32 id : parts_.epilogue) {
      const region_kind k = alone(id).kind;
      if (k != region_kind::pointwise && k != region_kind::row) return reason::two_heads;
      reduces = reduces || k == region_kind::row;
      if (k == region_kind::row && !space_of(id).same_extents(runs)) return reason::row_space;
    }
    if (!allowed_.row_epilogue || !allowed_.horizontal || !reduces || parts_.parts.size() != 1 || !is_plain_product(g_, head_)) return reason::two_heads;
    if (!parts_.parts[0].holds(made) || !whole.same_extents(space_of(head_))) return reason::head_space;
    if (!are_runs(whole, runs)) return reason::run_split;
    if (rows_of(whole) > 1) return reason::many_rows;
    if (runs.last().code > allowed_.max_run) return reason::long_run;
    if (read_outside(parts_.runs)) return reason::read_elsewhere;
    for (uint32 id : members_)
      for (uint32 in : g_.operands(id)) {
        const bool from = in == parts_.runs || stands_behind_products(in), to = stands_behind_products(id);
        if (is_inside(in) && id != parts_.runs && from != to) return reason::read_elsewhere;
      }
    const int64 before = parts_.prologue.empty() ? 0 : g_.type(g_.first_operand(head_)[0]).element_count();
    return saturating_sum(before, runs.last().code) > allowed_.max_prologue_bytes / 4 ? reason::shared_exceeded : reason::none;
  }

  constexpr reason spaces() {
    recomputed_ = 0;
    if (kind_ != region_kind::contraction) return spaces_of(kind_, space_of(head_), members_);
    if (!parts_.prologue.empty())
      if (const reason why = spaces_of(region_kind::row, space_of(row_head_), parts_.prologue); why != reason::none) return why;
    if (!parts_.epilogue.empty())
      if (const reason why = spaces_of(region_kind::row, g_.type(parts_.runs), parts_.epilogue); why != reason::none) return why;
    for (const contraction_part& part : parts_.parts) {
      vec<uint32> all = part.heads;
      all.append(part.steps);
      for (uint32 head : part.heads)
        if (!g_.type(head).same_extents(g_.type(part.heads[0]))) return reason::head_space;
      if (const reason why = spaces_of(kind_, space_of(part.heads[0]), all); why != reason::none) return why;
    }
    return reason::none;
  }
  /// Members over one space, which `begin` has where they are no pointwise region.
  constexpr reason spaces_of(region_kind kind, const tensor_type& begin, view<uint32> members) {
    tensor_type space = begin;
    for (uint32 id : members)
      if (!ir::detail::broadcast_into(space, space_of(id))) return unlike(kind);
    if (kind != region_kind::pointwise && !space.same_extents(begin)) return unlike(kind);
    bool whole = false;  // does a member have the extents of the region?
    for (uint32 id : members) whole |= space_of(id).same_extents(space);
    if (!whole) return unlike(kind);
    for (uint32 id : members) {
      const tensor_type& t = g_.type(id);
      if (!allowed_.with_broadcast && !space_of(id).same_extents(space)) return reason::spaces_differ;
      if (t.same_extents(space)) continue;
      if (kind == region_kind::row && t.rank == space.rank && t.same_extents(space.with(space.rank - 1, extent(1)))) continue;
      if (!is_widening_load(g_, id)) recomputed_ = saturating_sum(recomputed_, recomputed_flops(g_, id, space));
      if (recomputed_ > allowed_.max_recomputed_flops) return reason::recompute_cost;
      if (!allowed_.small_outputs && read_outside(id)) return reason::output_not_full;
    }
    return reason::none;
  }
  static constexpr reason unlike(region_kind kind) {
    return kind == region_kind::row           ? reason::row_space
           : kind == region_kind::contraction ? reason::head_space
                                              : reason::spaces_differ;
  }

  constexpr reason lanes() {
    for (uint32 id : members_) {
      if (kind_ != region_kind::row && !stands_before_products(id) && !stands_behind_products(id)) continue;
      if (alone(id).float_select) return reason::select_in_row;
      if (!allowed_.integer_rows && alone(id).non_float) return reason::non_float_in_row;
    }
    return reason::none;
  }

  constexpr reason narrow_casts() { return narrow_casts_of(members_); }
  constexpr reason narrow_casts_of(view<uint32> members) const {
    if (allowed_.fuse_narrow_casts) return reason::none;
    for (uint32 id : members)
      for (uint32 in : g_.operands(id))
        if (is_inside(in) && is_narrowing_cast(g_, in)) return reason::narrow_cast;
    return reason::none;
  }

  constexpr reason bindings() {
    vec<uint32> bound;
    for (uint32 id : members_) {
      if (read_outside(id)) bound.push_back(id);
      for (uint32 in : g_.operands(id)) {
        if (is_inside(in) || g_.is_scalar_constant(in)) continue;
        bool seen = false;
        for (uint32 b : bound) seen |= b == in;
        if (!seen) bound.push_back(in);
      }
    }
    return bound.size() > allowed_.max_buffers ? reason::buffer_limit : reason::none;
  }

  /// Members are joined by edges; horizontal regions may hold pointwise chains that are not, and products with what stands
  /// behind each.
  constexpr reason connected() {
    if (allowed_.horizontal && kind_ == region_kind::pointwise) return reason::none;
    if (allowed_.horizontal && kind_ == region_kind::contraction) {
      size_t covered = parts_.prologue.size() + parts_.epilogue.size() + (parts_.runs != contraction_parts::none);
      for (const contraction_part& part : parts_.parts) covered += part.heads.size() + part.steps.size();
      return covered == members_.size() ? reason::none : reason::boundary;
    }
    vec<uint32> reached{members_[0]};
    for (size_t at = 0; at < reached.size(); ++at) {
      const uint32 id = reached[at];
      for (uint32 in : g_.operands(id)) {
        if (is_inside(in)) add(reached, in);
      }
      for (uint32 user : singles_.users(id))
        if (is_inside(user)) add(reached, user);
    }
    return reached.size() == members_.size() ? reason::none : reason::boundary;
  }
  static constexpr void add(vec<uint32>& list, uint32 id) {
    for (uint32 x : list)
      if (x == id) return;
    list.push_back(id);
  }

  constexpr bool is_inside(uint32 id) const { return region_of_[id] == region_; }
  constexpr bool read_outside(uint32 id) const {
    if (singles_.is_output(id)) return true;
    for (uint32 user : singles_.users(id))
      if (!is_inside(user)) return true;
    return false;
  }

  const grouping& singles_;
  const graph_view g_;
  const rules allowed_;
  view<uint32> region_of_, members_;
  contraction_parts parts_;  ///< of a contraction region
  uint32 region_ = 0, head_ = 0, row_head_ = 0;
  region_kind kind_ = region_kind::pointwise;
  int64 recomputed_ = 0;
};

}  // namespace detail

/// Judges a partition: `region_of[id]` numbers regions from 0 without gaps; equations that need no region have
/// `grouping::none`, all others a region.
constexpr finding check_partition(const graph_view& g, view<uint32> region_of, const rules& allowed) {
  const grouping singles(g);
  const auto size = static_cast<uint32>(g.size());
  uint32 regions = 0;
  for (uint32 id = 0; id < size; ++id) {
    const bool has_region = region_of[id] != grouping::none;
    if (singles.grouped(id) != has_region && !(has_region && g[id].kind == op::reshape)) return {reason::boundary, region_of[id]};
    if (has_region && region_of[id] + 1 > regions) regions = region_of[id] + 1;
  }
  if (regions > size) return {reason::boundary, regions - 1};
  vec<vec<uint32>> members(regions);
  for (uint32 id = 0; id < size; ++id)
    if (region_of[id] != grouping::none) members[region_of[id]].push_back(id);
  detail::region_check check(singles, allowed, region_of);
  for (uint32 r = 0; r < regions; ++r) {
    if (members[r].empty()) return {reason::boundary, r};
    const reason why = check.judge(r, members[r]);
    if (why != reason::none) return {why, r};
  }
  // The contracted graph has no cycle: regions can be taken away one by one, each when all it reads is gone.
  vec<uint32> waits(regions, 0), ready;
  vec<vec<uint32>> feeds(regions);
  for (uint32 id = 0; id < size; ++id)
    if (singles.grouped(id))
      for (uint32 in : g.operands(id)) {
        bool through_view = false;
        for (; !singles.grouped(in) && g.operand_count(in) > 0; in = g.operands(in)[0]) through_view |= region_of[in] != region_of[id];
        if (!singles.grouped(in)) continue;
        if (region_of[in] == region_of[id]) {
          if (through_view) return {reason::cycle, region_of[id]};
          continue;
        }
        feeds[region_of[in]].push_back(region_of[id]);
        ++waits[region_of[id]];
      }
  for (uint32 r = 0; r < regions; ++r)
    if (waits[r] == 0) ready.push_back(r);
  for (size_t at = 0; at < ready.size(); ++at)
    for (uint32 next : feeds[ready[at]])
      if (--waits[next] == 0) ready.push_back(next);
  for (uint32 r = 0; r < regions; ++r)
    if (waits[r] > 0) return {reason::cycle, r};
  return {};
}

}  // namespace poot::fuse
