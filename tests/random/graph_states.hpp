#pragma once
/// States that are read and written several times in one step: in parts, through views, with values of their own.

#include "graph_contractions.hpp"

namespace poot_tests {

class graph_states : protected graph_contractions {
 protected:
  using graph_contractions::graph_contractions;

  /// Other extents for the same elements; dynamic ones stay, in order.
  uint32 reshape(uint32 x) {
    tensor_type to;
    to.element = element(x);
    int64 fixed = 1;
    for (int i = 0; i < rank(x); ++i) {
      if (type(x)[i].is_dynamic()) to.extents[to.rank++] = type(x)[i];
      else fixed *= type(x)[i].code;
    }
    while (fixed > 1 && to.rank < max_rank - 1) {
      int64 part = fixed;
      for (int64 f = 2; f <= 7 && chance(60); ++f)
        if (fixed % f == 0) part = f;
      to = inserted(to, extent(part));
      fixed /= part;
    }
    if (fixed != 1) to = inserted(to, extent(fixed));
    while (to.rank < max_rank && chance(25)) to = inserted(to, extent(1));
    return add(op::reshape, {x}, {}, to);
  }
  tensor_type inserted(tensor_type t, extent e) {
    const int at = below(t.rank + 1);
    for (int i = t.rank++; i > at; --i) t.extents[i] = t.extents[i - 1];
    t.extents[at] = e;
    return t;
  }

  uint32 update_of(uint32 x) {
    if (rank(x) == 0) return x;
    uint32 update = chance(40) ? none : find([&](uint32 v) {
      if (element(v) != element(x) || rank(v) != rank(x)) return false;
      for (int i = 0; i < rank(x); ++i)
        if (type(v)[i] != type(x)[i] && (type(x)[i].is_dynamic() || type(v)[i].bound() > type(x)[i].code)) return false;
      return true;
    });
    if (update == none) {
      tensor_type t = type(x);
      for (int i = 0; i < t.rank; ++i)
        if (!t.extents[i].is_dynamic() && t.extents[i].code > 0 && chance(60)) t.extents[i] = extent(1 + below(static_cast<int>(t.extents[i].code)));
      update = leaf_of(t);
    }
    const tensor_type start = type_of(i32, rank(x));
    return add(op::dynamic_update_slice, {x, update, chance(60) ? any_of_type(start) : leaf_of(start)});
  }

  /// A value that is moved or turned, and what passes it on: views, transposes, steps with constants, and often an update of a
  /// cache at the end. Now and then something else reads what lies between.
  void tail() {
    if (g_.outputs.size() > 6) return;
    uint32 x = moved();
    for (int step = 1 + below(4); step > 0; --step) {
      if (chance(10)) g_.add_output((text{"between"} << g_.outputs.size()).str(), x);
      if (chance(8)) add(op::abs, {cast_to(x, f32)});
      switch (below(6)) {
        case 0: x = reshape(x); break;
        case 1:
        case 2: {
          if (rank(x) < 2) break;
          vec<int64> perm;
          for (int i = 0; i < rank(x); ++i) perm.push_back(i);
          for (int i = rank(x) - 1; i > 0; --i) std::swap(perm[static_cast<size_t>(i)], perm[static_cast<size_t>(below(i + 1))]);
          const uint32 in[1] = {x};
          x = add_with(op::transpose, {in, 1}, perm);
          break;
        }
        case 3: {
          static constexpr dtype to[] = {f32, f32, f16, bf16, i32, u8};
          x = cast_to(x, to[below(6)]);
          break;
        }
        case 4: x = element(x) == boolean ? x : is_float(element(x)) ? add(op::neg, {x}) : add(op::add, {x, x}); break;
        default: x = is_float(element(x)) ? add(op::mul, {number(element(x), 0.75), x}) : x;
      }
    }
    if (rank(x) == 0 || chance(25)) return;
    tensor_type t = type(x);
    bool is_empty = false;
    for (int i = 0; i < t.rank; ++i) {
      is_empty = is_empty || t.extents[i] == extent(0);
      t.extents[i] = extent(t.extents[i].bound() + (chance(50) ? below(4) : 0));
    }
    if (is_empty || elements(t) > 2000 || !knows(t)) return;
    const uint32 cache = named(op::state, t), grown = add(op::dynamic_update_slice, {cache, x, leaf_of(type_of(i32, t.rank))});
    g_.add_output(g_.view_of().name_of(cache), chance(20) ? add(op::reshape, {add(op::reshape, {grown}, {}, flat(t))}, {}, t) : grown);
    switch (below(12)) {  // most caches are read by nothing but their update
      case 0: add(op::neg, {cast_to(cache, f32)}); break;
      case 1: g_.add_output((text{"old"} << g_.outputs.size()).str(), cache); break;
      case 2: g_.add_output((text{"new"} << g_.outputs.size()).str(), grown); break;
      case 3:
      case 4: add(op::abs, {cast_to(grown, f32)}); break;
      default: break;
    }
  }

  /// One state or two of one type, read and written in turns; then any value of theirs becomes the new one.
  void state_traffic() {
    if (g_.outputs.size() > 6) return;
    static constexpr dtype elements_of[] = {f32, f32, f32, f16, i32, i32, u8};
    tensor_type t = type_of(elements_of[below(7)]);
    for (int i = 1 + below(3); i > 0; --i) {
      const extent drawn = extents_[below(static_cast<int>(extents_.size()))];
      t.extents[t.rank++] = chance(2) ? extent(0) : chance(20) && elements(t) * drawn.bound() <= 400 ? drawn : extent(1 + below(6));
    }
    if (!knows(t)) return;
    const uint32 leaves[2] = {named(op::state, t), chance(60) ? named(op::state, t) : none};
    vec<uint32> versions{leaves[0]};
    uint32 now[2] = {leaves[0], leaves[1] == none ? leaves[0] : leaves[1]};
    if (leaves[1] != none) versions.push_back(leaves[1]);
    for (int step = 2 + below(6); step > 0; --step) {
      uint32& s = now[leaves[1] == none ? 0 : below(2)];
      const uint32 before = chance(70) ? s : versions[static_cast<size_t>(below(static_cast<int>(versions.size())))];
      if (chance(55)) versions.push_back(s = written(before));
      else read_part(before);
    }
    for (int k = 0; k < 2; ++k) {
      if (leaves[k] == none || chance(15)) continue;
      const uint32 value = chance(75) ? now[k] : versions[static_cast<size_t>(below(static_cast<int>(versions.size())))];
      g_.add_output(std::string(g_.view_of().name_of(leaves[k])), value);
    }
    while (chance(25))
      g_.add_output((text{"kept"} << g_.outputs.size()).str(), versions[static_cast<size_t>(below(static_cast<int>(versions.size())))]);
  }

 private:
  tensor_type flat(tensor_type t) {
    t.extents[0] = extent(elements(t));
    t.rank = 1;
    return t;
  }
  /// A movement, a rope or a pointwise value.
  uint32 moved() {
    const uint32 x = any_of_rank(ir::dtypes::unpacked, 1);
    switch (below(6)) {
      case 0: return rotation();
      case 1: return elements(type(x)) > 0 && type(x)[0].bound() > 0 && rank(x) < 4 ? add(op::gather, {x, leaf_of({extent(1 + below(4))}, i32)}, {0}) : x;
      case 2: {
        if (type(x)[rank(x) - 1].is_dynamic() || elements(type(x)) > 200) return x;
        const uint32 in[2] = {x, x};
        return add_with(op::concat, {in, 2}, vec<int64>{rank(x) - 1});
      }
      case 3: return part_of(x);
      case 4: {
        vec<int64> perm;
        for (int i = rank(x); i-- > 0;) perm.push_back(i);
        const uint32 in[1] = {x};
        return rank(x) > 1 ? add_with(op::transpose, {in, 1}, perm) : x;
      }
      default: return x;
    }
  }
  /// A new value of the type of `s`.
  uint32 written(uint32 s) {
    const tensor_type t = type(s), start = type_of(i32, t.rank);
    const uint32 at = chance(60) ? leaf_of(start) : any_of_type(start);
    switch (below(8)) {
      case 0: return add(op::dynamic_update_slice, {s, part_of(s), at});                              // a part of it, elsewhere
      case 1: return add(op::dynamic_update_slice, {s, cast_to(add(op::neg, {cast_to(part_of(s), f32)}), t.element), at});
      case 2: {                                                                                       // through a view
        const uint32 view = update_of(reshape(s));
        return type(view) == t ? view : add(op::reshape, {view}, {}, t);
      }
      case 3: return type(s) == start ? add(op::dynamic_update_slice, {s, leaf_of(t), s}) : update_of(s);  // where it says itself
      case 4: return add(op::max, {s, companion_within(t)});                                          // all of it
      default: return update_of(s);
    }
  }

  /// A value that `t` is not widened by.
  uint32 companion_within(const tensor_type& t) {
    tensor_type made = t;
    for (int i = 0; i < made.rank; ++i)
      if (chance(30)) made.extents[i] = extent(1);
    return leaf_of(made);
  }
  /// Some whole rows of `s`, of fixed extents a part.
  uint32 part_of(uint32 s) {
    vec<int64> attrs;
    for (int i = 0; i < rank(s); ++i) attrs.push_back(0);
    for (int i = 0; i < rank(s); ++i) {
      const extent e = type(s)[i];
      attrs.push_back(e.is_dynamic() || e.code == 0 || i == rank(s) - 1 || chance(40) ? e.code : 1 + below(static_cast<int>(e.code)));
    }
    for (int i = 0; i < rank(s); ++i) attrs.push_back(1);
    const uint32 in[1] = {s};
    return add_with(op::slice, {in, 1}, attrs);
  }
  void read_part(uint32 s) {
    switch (below(6)) {
      case 0: add(op::neg, {cast_to(s, f32)}); return;
      case 1: add(op::abs, {cast_to(part_of(s), f32)}); return;
      case 2: add(op::neg, {cast_to(reshape(s), f32)}); return;
      case 3: add(op::reduce_sum, {cast_to(s, f32)}, {below(rank(s))}); return;
      case 4: {  // a window that a contraction reads where it lies
        if (rank(s) < 2 || !is_float(element(s))) return;
        const uint32 window = part_of(s);
        add(op::matmul, {leaf_of({extent(1 + below(3)), type(s).last()}, f32), window}, {1}, type_of(f32));
        return;
      }
      default: cast_to(s, element(s) == f32 ? i32 : f32); return;
    }
  }
};

}  // namespace poot_tests
