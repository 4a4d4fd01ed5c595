#pragma once
/// Pairs of a row's elements that turn by tables of cos and sin become one equation, with the same bits.
/// Requires: canonical spelling (canonicalise, cse). Ensures: each chain that has a form below over f32 is a `rope`; one that
/// nearly has it keeps its equations and is recorded with the first check that failed. With slices a and b of x:
///   concat (a·c − b·s), (b·c + a·s)[, the rest of x]             a and b follow each other, or are the even and the odd elements
///   x·c + (concat (−b), a)·s                                     tables with an entry for each element
///   x·c + (concat b, a)·s, x·c + (gather x, constant partners)·s s with the signs of the products
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
    if (failed_) return false;
    cos_ = behind_broadcast(cos_);
    sin_ = behind_broadcast(sin_);
    if (g_.type(x_).element != dtype::f32) fail_at(x_, chain_check::element_type);
    const tensor_type types[3] = {g_.type(x_), g_.type(cos_), g_.type(sin_)};
    const int64 attrs[3] = {width_, adjacent_, signs_};
    const ir::typing t = ir::infer(op::rope, {attrs, 3}, {types, 3}, types[0]);
    if (!t.ok()) fail_at(root_, t.broken == ir::rule::rope_width && t.operand == 0 ? chain_check::turned_width : chain_check::tables);
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
    for (uint32 k = 0; k + 1 < count; ++k) {
      uint32 first = in(root_)[k], second = in(root_)[k + 1];
      paired_ = g_[first].kind == op::reshape && g_[second].kind == op::reshape && g_.type(root_).last() == extent(2);
      if (paired_) first = in(first)[0], second = in(second)[0];
      if (!is_turned(first, second)) {
        if (!mixes_parts(in(root_)[k], in(root_)[k + 1])) continue;
        fail_at(root_, chain_check::turn_form);
        return true;
      }
      if (g_.attrs(root_)[0] != g_.type(root_).rank - 1) fail_at(root_, chain_check::pair_order);
      if (k > 0 || count > 3) fail_at(root_, chain_check::turned_width);
      if (!failed_) check_joined(first, second);
      return true;
    }
    return false;
  }
  constexpr bool is_turned(uint32 first, uint32 second) {
    if (g_[first].kind != op::sub || g_[second].kind != op::add) return false;
    for (int k = 0; k < 2; ++k)
      if (g_[in(first)[k]].kind != op::mul || g_[in(second)[k]].kind != op::mul) return false;
    return find_products(first, second);
  }
  constexpr void check_joined(uint32 first, uint32 second) {
    if (paired_) inside(in(root_)[0], 1), inside(in(root_)[1], 1);
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
    if (g_.operand_count(root_) == 3) {
      const part p = part_of(in(root_)[2]);
      if (paired_ || !p.is_part || p.of != x_ || p.start != width_ || p.size != rest || p.step != 1) fail_at(root_, chain_check::turned_width);
    } else if (rest != 0) {
      fail_at(root_, chain_check::turned_width);
    }
    if (paired_) check_readers();
  }

  /// What is computed from slices or partners of a value, behind pointwise steps: where, and the first cast on the way there.
  struct origins {
    uint32 ids[4]{};
    uint32 count = 0, cast = none;
  };
  constexpr void find_origins(uint32 id, int steps, uint32 cast, origins& found) const {
    const eqn& e = g_[id];
    if (part_of(id).is_part || is_partners(id)) {
      for (uint32 k = 0; k < found.count; ++k)
        if (found.ids[k] == id) return;
      if (found.count < 4) found.ids[found.count++] = id;
      if (found.cast == none) found.cast = cast;
      return;
    }
    if (steps == 0 || !(ir::is_pointwise(e.kind) || e.kind == op::reshape)) return;
    if (e.kind == op::cast && cast == none) cast = id;
    for (uint32 k : g_.operands(id)) find_origins(k, steps - 1, cast, found);
  }
  /// Does each of two values mix the same two slices of one value?
  constexpr bool mixes_parts(uint32 first, uint32 second) {
    origins a, b;
    find_origins(first, 5, none, a);
    find_origins(second, 5, none, b);
    const auto of_one = [&](const origins& some, uint32 of) {
      uint32 parts = 0;
      for (uint32 i = 0; i < some.count; ++i) parts += part_of(some.ids[i]).is_part && part_of(some.ids[i]).of == of;
      return parts;
    };
    bool is_mixed = false;
    for (uint32 i = 0; i < a.count && !is_mixed; ++i) {
      const part some = part_of(a.ids[i]);
      if (!some.is_part || of_one(a, some.of) != 2 || of_one(b, some.of) != 2) continue;
      uint32 shared = 0;
      for (uint32 k = 0; k < a.count; ++k)
        for (uint32 j = 0; j < b.count; ++j) shared += a.ids[k] == b.ids[j] && part_of(a.ids[k]).of == some.of;
      is_mixed = shared == 2;
    }
    if (!is_mixed) return false;
    for (const uint32 cast : {a.cast, b.cast})
      if (cast != none) fail_at(cast, chain_check::narrow_value);
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
    if (g_[p].kind == op::mul && g_[q].kind == op::mul && p != q)
      for (const bool swapped : {false, true})
        for (int k = 0; k < 2; ++k) {
          const uint32 product = swapped ? p : q, kept = swapped ? q : p, partners = in(product)[k];
          if (!is_partners(partners)) continue;
          if (g_[partners].kind == op::concat) turned_halves(partners);
          else gathered(partners);
          if (failed_ && !reads(kept, x_)) return false;
          sin_ = in(product)[1 - k];
          if (!reads(kept, x_)) fail_at(kept, chain_check::tables);
          cos_ = other(kept, x_);
          inside(p, 1);
          inside(q, 1);
          inside(partners, 1);
          return true;
        }
    return adds_partners(p, q) || adds_partners(q, p);
  }
  /// Is `kept` computed from the value whose partners `turned` is computed from? Then a step is in the way.
  constexpr bool adds_partners(uint32 kept, uint32 turned) {
    origins found;
    find_origins(turned, 3, none, found);
    for (uint32 k = 0; k < found.count; ++k) {
      if (!is_partners(found.ids[k])) continue;
      uint32 cast = none;
      if (!leads_to(kept, source_of(found.ids[k]), 3, cast)) continue;
      if (found.cast != none) cast = found.cast;
      if (cast != none) fail_at(cast, chain_check::narrow_value);
      fail_at(root_, chain_check::turn_form);
      return true;
    }
    return false;
  }
  constexpr bool leads_to(uint32 id, uint32 wanted, int steps, uint32& cast) const {
    if (id == wanted) return true;
    if (steps == 0 || !ir::is_pointwise(g_[id].kind)) return false;
    for (uint32 k : g_.operands(id)) {
      if (!leads_to(k, wanted, steps - 1, cast)) continue;
      if (g_[id].kind == op::cast) cast = id;
      return true;
    }
    return false;
  }

  /// Two slices of one value joined along the last axis, behind steps of their own; or one value gathered by a constant, along
  /// the last axis too.
  constexpr bool is_partners(uint32 id) const {
    const eqn& e = g_[id];
    if (e.kind == op::gather) {
      const uint32 index = in(id)[1];
      return g_.attrs(id)[0] == g_.type(in(id)[0]).rank - 1 && g_[index].kind == op::constant && g_.type(index).rank == 1 &&
             g_.type(in(id)[0]).last() == g_.type(index).last() && g_.attrs(index).size() >= 2;
    }
    if (e.kind != op::concat || g_.operand_count(id) != 2 || g_.attrs(id)[0] != e.type.rank - 1) return false;
    const part b = part_of(behind_steps(in(id)[0])), a = part_of(behind_steps(in(id)[1]));
    return a.is_part && b.is_part && a.of == b.of && g_.type(a.of).last() == e.type.last();
  }
  /// Behind up to four steps of one operand.
  constexpr uint32 behind_steps(uint32 id) const {
    for (int k = 0; k < 4 && ir::is_pointwise(g_[id].kind) && g_.operand_count(id) == 1; ++k) id = in(id)[0];
    return id;
  }
  constexpr uint32 source_of(uint32 partners) const {
    return g_[partners].kind == op::gather ? in(partners)[0] : part_of(behind_steps(in(partners)[0])).of;
  }

  /// concat (−b), a with b the second half of x; without the minus, the signs are those of the table.
  constexpr void turned_halves(uint32 id) {
    const uint32 second = in(id)[0], first = in(id)[1];
    const part b = part_of(behind_steps(second)), a = part_of(behind_steps(first));
    x_ = a.of;
    width_ = 2 * a.size;
    signs_ = g_[second].kind != op::neg;
    if (!signs_) inside(second, 1);
    for (uint32 half : {first, signs_ ? second : in(second)[0]}) {
      inside(half, 1);
      if (g_[half].kind == op::slice) continue;
      fail_at(g_[half].kind == op::cast ? half : id, g_[half].kind == op::cast ? chain_check::narrow_value : chain_check::turn_form);
    }
    if (a.size != b.size || a.step != 1 || b.step != 1 || b.start != a.start + a.size) fail_at(id, chain_check::pair_order);
    if (a.start != 0 || g_.type(x_).last() != extent(width_)) fail_at(id, chain_check::turned_width);
  }
  /// gather along the last axis, by a constant that exchanges the elements of pairs.
  constexpr void gathered(uint32 id) {
    x_ = in(id)[0];
    const view<int64> partner = g_.attrs(in(id)[1]);
    const int64 width = static_cast<int64>(partner.size()), half = width / 2;
    bool halves = width % 2 == 0, adjacent = halves;
    for (int64 i = 0; i < width; ++i) {
      const int64 at = static_cast<int32>(partner[i]);
      halves = halves && at == (i < half ? i + half : i - half);
      adjacent = adjacent && at == (i ^ 1);
    }
    if (!halves && !adjacent) fail_at(id, chain_check::pair_order);
    width_ = width;
    adjacent_ = !halves;
    signs_ = true;
  }

  static constexpr uint32 none = 0xffffffffu;
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
    if (ir::is_leaf(all[*all.first_operand(id)].kind)) continue;
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
