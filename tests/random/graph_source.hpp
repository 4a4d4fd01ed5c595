#pragma once
/// What random graphs are built from: extents, leaves, and values that fit an operand.

#include <poot/core/rounding.hpp>
#include <poot/ir/evaluate.hpp>
#include <poot/ir/graph.hpp>

#include "random_values.hpp"

namespace poot_tests {

using ir::op;

/// A graph under construction, its palette of extents, and draws.
class graph_source {
 public:
  static constexpr uint32 none = 0xffffffffu;

  explicit graph_source(uint64 seed) : d_(seed * 0x2545f4914f6cdd1dull + 7), g_((text{"random_"} << seed).str()) {
    if (chance(6)) most_elements_ = 9000;
    if (below(200) == 0) most_elements_ = 40000;  // enough for two threads
    const int count = 2 + below(3);
    for (int i = 0; i < count; ++i) extents_.push_back(draw_extent());
    if (chance(50)) main_ = draw_type(f32, 1);
    if (chance(30)) {
      static constexpr int64 bounds[] = {1, 3, 4, 8, 17, 32, 40, 65};
      const int symbols = 1 + chance(30);
      for (int i = 0; i < symbols; ++i) {
        extents_.push_back(g_.dynamic(i ? "M" : "L", bounds[below(8)]));
        leaf_of({extents_.back()}, draw_dtype());  // a leaf says what it is
      }
    }
  }

 protected:
  // ---- draws
  int below(int n) { return static_cast<int>(d_.less_than(static_cast<uint64>(n))); }
  bool chance(int percent) { return below(100) < percent; }

  extent draw_extent() {
    static constexpr int64 small[] = {1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 40, 64, 65};
    static constexpr int64 large[] = {127, 128, 255, 256, 257, 300, 511, 512, 513, 600, 769, 1025};
    static constexpr int64 chunks[] = {1500, 2048, 4095, 4096, 4097, 4352, 5000, 8193};
    if (chance(1)) return extent(0);
    if (most_elements_ > 2000 && chance(25)) return extent(chunks[below(8)]);
    return extent(chance(10) ? large[below(12)] : small[below(24)]);
  }
  dtype draw_dtype() {
    static constexpr dtype all[] = {f32, f32, f32, f32, f32, f32, f32, f32, f16, f16, bf16, bf16, f64, f64, i32, i32, i32, u32, i8, u8, boolean};
    return all[below(21)];
  }
  dtype draw_float_type() {
    static constexpr dtype all[] = {f32, f32, f32, f32, f32, f16, f16, bf16, bf16, f64};
    return all[below(10)];
  }
  tensor_type draw_type(dtype t, int least_rank = 0) {
    tensor_type r;
    r.element = t;
    if (main_.rank > 0 && main_.rank >= least_rank && chance(60)) return main_.with(t);
    const int rank = least_rank + below(chance(12) ? 7 - least_rank : 4 - least_rank);
    for (int i = 0; i < rank; ++i) {
      const extent e = chance(10) ? extent(1) : extents_[below(static_cast<int>(extents_.size()))];
      r.extents[r.rank++] = elements(r) * e.bound() > most_elements_ ? extent(1) : e;
    }
    return r;
  }

  // ---- equations
  /// Elements, an extent of 0 counted as 1: what is reduced along it, or joined to it, is that large.
  static int64 elements(const tensor_type& t) {
    int64 count = 1;
    for (int i = 0; i < t.rank; ++i) count *= t.extents[i].bound() ? t.extents[i].bound() : 1;
    return count;
  }
  tensor_type type(uint32 id) const { return g_.eqns[id].type; }
  dtype element(uint32 id) const { return g_.eqns[id].type.element; }
  int rank(uint32 id) const { return g_.eqns[id].type.rank; }

  uint32 add(op o, std::initializer_list<uint32> in, std::initializer_list<int64> attrs = {}, const tensor_type& declared = {}) {
    return g_.apply(o, {in.begin(), in.size()}, {attrs.begin(), attrs.size()}, declared);
  }
  uint32 add_with(op o, view<uint32> in, const vec<int64>& attrs, const tensor_type& declared = {}) {
    return g_.apply(o, in, attrs, declared);
  }
  uint32 cast_to(uint32 id, dtype t) { return element(id) == t ? id : add(op::cast, {id}, {}, type(id).with(t)); }

  // ---- leaves
  uint32 named(op kind, const tensor_type& t) {
    const char* prefix = kind == op::input ? "x" : kind == op::weight ? "w" : "s";
    return g_.leaf(kind, t, {}, (text{prefix} << leaves_++).str());
  }
  uint32 literal(dtype t) {
    if (!is_float(t)) return g_.literal(t, draw_integer(d_, t, chance(20) ? values::special : values::wide));
    static constexpr double plain[] = {0, -0.0, 1, -1, 2, 0.5, 1e-5, 3, 0x1p-12, 100};
    return g_.literal(t, chance(70) ? float_bits(t, plain[below(10)]) : draw_float(d_, t, chance(50) ? values::special : values::wide));
  }
  /// A leaf of exactly this type.
  uint32 leaf_of(const tensor_type& t) {
    const int kind = below(100);
    if (!t.is_dynamic() && kind < 6 && elements(t) <= 40) {
      vec<int64> bits;
      const bool same = chance(40);
      const uint64 one = draw_element(d_, t.element, values::wide);
      const values how = draw_values(d_);
      const int64 count = chance(20) ? 1 : t.element_count();
      for (int64 i = 0; i < count; ++i)
        bits.push_back(static_cast<int64>(same ? one : draw_element(d_, t.element, how)));
      return g_.leaf(op::constant, t, bits);
    }
    if (kind < 9 && t.rank > 0 && t.element != boolean) {
      const int64 axis[1] = {below(t.rank)};
      return g_.leaf(op::iota, t, {axis, 1});
    }
    if ((!t.is_dynamic() || chance(30)) && kind < 16) return named(op::state, t);
    return named(!t.is_dynamic() && kind < 40 ? op::weight : op::input, t);
  }
  uint32 leaf_of(std::initializer_list<extent> extents, dtype t) {
    tensor_type made;
    made.element = t;
    for (extent e : extents) made.extents[made.rank++] = e;
    return made.is_dynamic() && !knows(made) ? named(op::input, made) : leaf_of(made);
  }
  /// Has a named leaf shown every dynamic extent of `t`?
  bool knows(const tensor_type& t) const {
    for (int i = 0; i < t.rank; ++i) {
      bool known = !t.extents[i].is_dynamic();
      for (uint32 id = 0; id < g_.size() && !known; ++id)
        for (int k = 0; ir::is_named_leaf(g_.eqns[id].kind) && k < g_.eqns[id].type.rank; ++k)
          known = known || g_.eqns[id].type.extents[k] == t.extents[i];
      if (!known) return false;
    }
    return true;
  }

  // ---- values that fit
  /// A value that `wanted` accepts, rather a recent one; `none` if there is none.
  template <class Wanted>
  uint32 find(Wanted wanted) {
    const int size = static_cast<int>(g_.size());
    for (int i = 0; size > 0 && i < 8; ++i) {
      const auto id = static_cast<uint32>(chance(60) ? size - 1 - below(size < 8 ? size : 8) : below(size));
      if (wanted(id)) return id;
    }
    const int first = size ? below(size) : 0;
    for (int i = 0; i < size; ++i)
      if (const auto id = static_cast<uint32>((first + i) % size); wanted(id)) return id;
    return none;
  }
  uint32 any(uint8 accepted) {  // ir::dtypes
    uint32 id = chance(4) ? none : find([&](uint32 v) { return ir::accepts(accepted, element(v)) && !is_packed(element(v)); });
    dtype t = draw_dtype();
    while (!ir::accepts(accepted, t)) t = draw_dtype();
    if (id != none && chance(6)) return cast_to(id, t);
    return id != none ? id : leaf_of(draw_type(t));
  }
  uint32 any_of_rank(uint8 accepted, int least) {
    const uint32 id = chance(4) ? none : find([&](uint32 v) {
      return ir::accepts(accepted, element(v)) && !is_packed(element(v)) && rank(v) >= least;
    });
    if (id != none) return id;
    dtype t = draw_dtype();
    while (!ir::accepts(accepted, t)) t = draw_dtype();
    return leaf_of(draw_type(t, least));
  }
  uint32 any_of_type(const tensor_type& t) {
    const uint32 id = find([&](uint32 v) { return type(v) == t; });
    return id != none && !chance(15) ? id : leaf_of(t);
  }
  bool fits_beside(const tensor_type& a, const tensor_type& b) const {
    tensor_type united = a;
    return ir::detail::broadcast_into(united, b) && elements(united) <= most_elements_;
  }
  /// A value of `t` that broadcasts with `beside`.
  uint32 companion(const tensor_type& beside, dtype t) {
    const int kind = below(100);
    if (kind < 15) return literal(t);
    if (kind < 82) {
      const uint32 id = find([&](uint32 v) { return element(v) == t && fits_beside(beside, type(v)); });
      if (id != none) return id;
    }
    if (kind < 90) {
      const uint32 id = find([&](uint32 v) { return !is_packed(element(v)) && fits_beside(beside, type(v)); });
      if (id != none) return cast_to(id, t);
    }
    tensor_type made = beside.with(t);
    const int dropped = chance(25) ? below(made.rank + 1) : 0;
    for (int i = dropped; i < made.rank; ++i) made.extents[i - dropped] = made.extents[i];
    made.rank = static_cast<uint8>(made.rank - dropped);
    for (int i = 0; i < made.rank; ++i)
      if (chance(20)) made.extents[i] = extent(1);
    return leaf_of(made);
  }

  draws d_;
  ir::graph g_;
  vec<extent> extents_;
  tensor_type main_{};  ///< extents that most leaves have; rank 0: none
  int64 most_elements_ = 2000;
  int leaves_ = 0;
};

}  // namespace poot_tests
