#pragma once
/// Pairs of a row's elements that turn by tables of cos and sin become one equation, with the same bits.
/// Requires: canonical spelling (canonicalise, cse). Ensures: each chain that has a form below over f32 is a `rope`; one that
/// nearly has it keeps its equations and is recorded with the first check that failed. With slices a and b of x:
///   concat (a·c − b·s), (b·c + a·s)[, the rest of x]             a and b follow each other, or are the even and the odd elements
///   x·c + (concat (−b), a)·s                                     tables with an entry for each element
///   x·c + (gather x, constant partners)·s                        s with the signs of the products
/// The even and the odd elements meet as concat of […,1] along the last axis; what reads it is a reshape.

#include <poot/core/target.hpp>
#include <poot/ir/analysis.hpp>
#include <poot/pass/rewriter.hpp>

namespace poot::pass {

namespace detail {

class rope_chain {
 public:
  constexpr rope_chain(const graph_view& g, const vec<uint32>& uses, uint32 root) : g_(g), uses_(uses.data()), root_(root) {}

  /// Whether `root` ends a chain that turns pairs of one value.
  constexpr bool find() { return g_[root_].kind == op::concat ? find_joined() : find_summed(); }

  constexpr bool fits(const target& where) {
    cos_ = behind_broadcast(cos_);
    sin_ = behind_broadcast(sin_);
    if (g_.type(x_).element != dtype::f32) fail_at(x_, chain_check::element_type);
    const tensor_type types[3] = {g_.type(x_), g_.type(cos_), g_.type(sin_)};
    const int64 attrs[3] = {width_, adjacent_, signs_};
    const ir::typing t = ir::infer(op::rope, {attrs, 3}, {types, 3}, types[0]);
    if (!t.ok()) fail_at(root_, t.broken == ir::rule::rope_width ? chain_check::turned_width : chain_check::tables);
    else if (paired_ ? !ir::detail::same_element_count(t.type, g_.type(root_)) : !(t.type == g_.type(root_))) fail_at(root_, chain_check::tables);
    if (!where.caps.rope) fail_at(root_, chain_check::no_kernel);
    return !failed_;
  }

  constexpr uint32 x() const { return x_; }
  constexpr uint32 cos() const { return cos_; }
  constexpr uint32 sin() const { return sin_; }
  constexpr int64 width() const { return width_; }
  constexpr int64 adjacent() const { return adjacent_; }
  constexpr int64 has_signs() const { return signs_; }
  constexpr chain_decline decline() const { return {g_[where_].origin, why_}; }

 private:
  constexpr const uint32* in(uint32 id) const { return g_.first_operand(id); }
  constexpr uint32 behind_broadcast(uint32 id) const { return g_[id].kind == op::broadcast ? in(id)[0] : id; }
  constexpr void fail_at(uint32 id, chain_check check) {
    if (failed_) return;
    failed_ = true;
    where_ = id;
    why_ = check;
  }
  constexpr void inside(uint32 id, uint32 times) {
    if (uses_[id] != times) fail_at(id, chain_check::read_elsewhere);
  }

  /// A slice along the last axis only.
  struct part {
    bool is_part = false;
    uint32 of = 0;
    int64 start = 0, size = 0, step = 1;
  };
  constexpr part part_of(uint32 id) const {
    const eqn& e = g_[id];
    if (e.kind != op::slice || e.type.last().is_dynamic()) return {};
    const view<int64> at = g_.attrs(id);
    const int rank = e.type.rank;
    const uint32 source = in(id)[0];
    for (int i = 0; i < rank - 1; ++i)
      if (at[i] != 0 || at[2 * rank + i] != 1 || e.type.extents[i] != g_.type(source).extents[i]) return {};
    return {true, source, at[rank - 1], e.type.last().code, at[3 * rank - 1]};
  }

  /// concat of a difference and a sum of products.
  constexpr bool find_joined() {
    const uint32 count = g_.operand_count(root_);
    const int rank = g_.type(root_).rank;
    if (count < 2 || count > 3 || g_.attrs(root_)[0] != rank - 1) return false;
    uint32 first = in(root_)[0], second = in(root_)[1];
    paired_ = g_[first].kind == op::reshape && g_[second].kind == op::reshape && g_.type(root_).last() == extent(2);
    if (paired_) {
      inside(first, 1);
      inside(second, 1);
      first = in(first)[0];
      second = in(second)[0];
    }
    if (g_[first].kind != op::sub || g_[second].kind != op::add) return false;
    for (int k = 0; k < 2; ++k)
      if (g_[in(first)[k]].kind != op::mul || g_[in(second)[k]].kind != op::mul) return false;
    if (!find_products(first, second)) return false;
    inside(first, 1);
    inside(second, 1);
    for (int k = 0; k < 2; ++k) inside(in(first)[k], 1), inside(in(second)[k], 1);
    const part a = part_of(a_), b = part_of(b_);
    inside(a_, 2);
    inside(b_, 2);
    const tensor_type& whole = g_.type(x_);
    width_ = 2 * a.size;
    adjacent_ = paired_;
    const bool ordered = paired_ ? a.step == 2 && b.step == 2 && a.start == 0 && b.start == 1
                                 : a.step == 1 && b.step == 1 && b.start == a.start + a.size;
    if (a.size != b.size || !ordered) fail_at(root_, chain_check::pair_order);
    if (a.start != 0) fail_at(a_, chain_check::turned_width);
    const int64 rest = whole.last().is_dynamic() ? -1 : whole.last().code - width_;
    if (count == 3) {
      const part p = part_of(in(root_)[2]);
      if (paired_ || !p.is_part || p.of != x_ || p.start != width_ || p.size != rest || p.step != 1) fail_at(root_, chain_check::turned_width);
    } else if (rest != 0) {
      fail_at(root_, chain_check::turned_width);
    }
    if (paired_) check_readers();
    return true;
  }

  /// difference a·c − b·s and sum b·c + a·s, with a and b slices of one value.
  constexpr bool find_products(uint32 difference, uint32 sum) {
    const uint32 ac = in(difference)[0], bs = in(difference)[1];
    bool near = false;
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) {
        const uint32 a = in(ac)[i], c = in(ac)[1 - i], b = in(bs)[j], s = in(bs)[1 - j];
        const part first = part_of(a), second = part_of(b);
        if (!first.is_part || !second.is_part || first.of != second.of || a == b) continue;
        if (!g_.type(a).same_extents(g_.type(difference))) continue;  // else a and b are the tables
        for (int k = 0; k < 2; ++k) {
          const uint32 bc = in(sum)[k], as = in(sum)[1 - k];
          if (!(reads(bc, b) && reads(as, a))) continue;
          near = true;
          x_ = first.of;
          a_ = a, b_ = b, cos_ = c, sin_ = s;
          if (other(bc, b) == c && other(as, a) == s) return true;
        }
      }
    if (near) fail_at(sum, chain_check::tables);
    return near;
  }
  constexpr bool reads(uint32 id, uint32 operand) const { return in(id)[0] == operand || in(id)[1] == operand; }
  constexpr uint32 other(uint32 id, uint32 operand) const { return in(id)[0] == operand ? in(id)[1] : in(id)[0]; }

  /// The pairs stand as […,2]: whoever reads them reshapes, so the row can be written at once.
  constexpr void check_readers() {
    uint32 found = 0;
    for (uint32 id = root_ + 1; id < g_.size() && found < uses_[root_]; ++id)
      for (uint32 k = 0; k < g_.operand_count(id); ++k)
        if (in(id)[k] == root_) {
          ++found;
          if (g_[id].kind != op::reshape) fail_at(root_, chain_check::pair_order);
        }
    if (found < uses_[root_]) fail_at(root_, chain_check::read_elsewhere);  // an output
  }

  /// x·c + partners·s
  constexpr bool find_summed() {
    const uint32 p = in(root_)[0], q = in(root_)[1];
    if (g_[p].kind != op::mul || g_[q].kind != op::mul || p == q) return false;
    for (const bool swapped : {false, true})
      for (int k = 0; k < 2; ++k) {
        const uint32 product = swapped ? p : q, kept = swapped ? q : p, partners = in(product)[k];
        if (g_[partners].kind == op::concat ? !turned_halves(partners) : !gathered(partners)) continue;
        sin_ = in(product)[1 - k];
        if (!reads(kept, x_)) fail_at(kept, chain_check::tables);
        cos_ = other(kept, x_);
        inside(p, 1);
        inside(q, 1);
        inside(partners, 1);
        return true;
      }
    return false;
  }
  /// concat (−b), a with b the second half of x.
  constexpr bool turned_halves(uint32 id) {
    if (g_.operand_count(id) != 2 || g_[in(id)[0]].kind != op::neg || g_.attrs(id)[0] != g_.type(id).rank - 1) return false;
    const uint32 negative = in(id)[0];
    const part b = part_of(in(negative)[0]), a = part_of(in(id)[1]);
    if (!a.is_part || !b.is_part || a.of != b.of) return false;
    x_ = a.of;
    width_ = 2 * a.size;
    inside(negative, 1);
    inside(in(negative)[0], 1);
    inside(in(id)[1], 1);
    if (a.size != b.size || a.step != 1 || b.step != 1 || b.start != a.start + a.size) fail_at(id, chain_check::pair_order);
    if (a.start != 0 || g_.type(x_).last() != extent(width_)) fail_at(id, chain_check::turned_width);
    return true;
  }
  /// gather along the last axis, by a constant that exchanges the elements of pairs.
  constexpr bool gathered(uint32 id) {
    if (g_[id].kind != op::gather || g_.attrs(id)[0] != g_.type(in(id)[0]).rank - 1) return false;
    const uint32 index = in(id)[1];
    if (g_[index].kind != op::constant || g_.type(index).rank != 1) return false;
    x_ = in(id)[0];
    const view<int64> partner = g_.attrs(index);
    const int64 width = static_cast<int64>(partner.size()), half = width / 2;
    if (width < 2 || g_.type(x_).last() != extent(width)) return false;
    bool halves = width % 2 == 0, adjacent = halves;
    for (int64 i = 0; i < width; ++i) {
      const int64 at = static_cast<int32>(partner[i]);
      halves = halves && at == (i < half ? i + half : i - half);
      adjacent = adjacent && at == (i ^ 1);
    }
    if (!halves && !adjacent) return false;  // a permutation that is none of pairs
    width_ = width;
    adjacent_ = !halves;
    signs_ = true;
    return true;
  }

  const graph_view& g_;
  const uint32* uses_;
  uint32 root_;
  uint32 x_ = 0, cos_ = 0, sin_ = 0, a_ = 0, b_ = 0;
  int64 width_ = 0;
  bool adjacent_ = false, signs_ = false, paired_ = false;
  bool failed_ = false;
  uint32 where_ = 0;
  chain_check why_{};
};

}  // namespace detail

constexpr graph recognize_rope(graph g, const target& where, record& notes) {
  vec<uint32> uses;  // counted for the first chain
  graph_view all = g;
  bool changed = false;
  for (uint32 id = 0, size = static_cast<uint32>(g.size()); id < size; ++id) {
    const op kind = all[id].kind;
    if (kind != op::concat && kind != op::add) continue;
    const op first = all[*all.first_operand(id)].kind;
    if (kind == op::add ? first != op::mul : first != op::sub && first != op::reshape) continue;
    if (uses.empty()) uses = use_counts(all);
    detail::rope_chain chain(all, uses, id);
    if (!chain.find()) continue;
    if (!chain.fits(where)) {
      notes.chain_declines.push_back(chain.decline());
      continue;
    }
    const int64 attrs[3] = {chain.width(), chain.adjacent(), chain.has_signs()};
    const uint32 operands[3] = {chain.x(), chain.cos(), chain.sin()};
    eqn& made = g.eqns[id];
    made.kind = op::rope;
    made.type = all.type(chain.x());
    made.attrs = g.keep_attrs({attrs, 3});
    made.operands = {static_cast<uint32>(g.operand_pool.size()), 3};
    g.operand_pool.append({operands, 3});
    all = g;
    changed = true;
  }
  if (changed) notes.changed.push_back(pass_id::recognize_rope);
  return g;
}

}  // namespace poot::pass
