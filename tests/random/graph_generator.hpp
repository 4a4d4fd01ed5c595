#pragma once
/// Legal graphs at random, from a seed: every op but collectives, every element type, shared values, states, dynamic
/// extents, several outputs, and known patterns in random surroundings.

#include "graph_patterns.hpp"

namespace poot_tests {

class graph_generator : private graph_patterns {
 public:
  explicit graph_generator(uint64 seed) : graph_patterns(seed) {}

  ir::graph make() {
    const int wanted = 5 + below(chance(30) ? 36 : 14);
    const int focus = below(6);
    for (int step = 0; equations() < wanted && step < 60; ++step) {
      if (chance(6)) pattern();
      else if (focus == 0 || chance(55)) pointwise();
      else if (focus == 1 || chance(30)) reduction();
      else if (focus == 2 || chance(35)) movement();
      else if (focus == 3 || chance(60)) contraction();
      else leaf();
    }
    finish();
    return std::move(g_);
  }

 private:
  /// Equations that compute something.
  int equations() const {
    int count = 0;
    for (const ir::eqn& e : g_.eqns) count += !ir::is_leaf(e.kind);
    return count;
  }

  // ---- single ops
  void pointwise() {
    using namespace ir;
    const int kind = below(100);
    if (kind < 25) {
      static constexpr op unary[] = {op::neg, op::exp, op::log, op::sqrt, op::recip, op::sin, op::cos, op::tanh, op::erf, op::abs, op::floor, op::bit_not};
      const op o = unary[below(12)];
      add(o, {any(row(o).accepts)});
    } else if (kind < 65) {
      static constexpr op binary[] = {op::add, op::add, op::sub, op::mul, op::mul, op::div, op::max, op::min, op::pow,
                                      op::bit_and, op::bit_or, op::bit_xor, op::shl, op::shr};
      const op o = binary[below(14)];
      const uint32 a = any(row(o).accepts), b = companion(type(a), element(a));
      chance(30) ? add(o, {b, a}) : add(o, {a, b});
    } else if (kind < 75) {
      const op o = static_cast<op>(static_cast<int>(op::eq) + below(6));
      const uint32 a = any(row(o).accepts);
      const uint32 b = companion(type(a), element(a));
      chance(30) ? add(o, {b, a}) : add(o, {a, b});
    } else if (kind < 85) {
      const uint32 a = any(dtypes::unpacked), b = companion(type(a), element(a));
      tensor_type both = type(a);
      ir::detail::broadcast_into(both, type(b));
      const uint32 c = companion(both, i32);
      chance(50) ? add(op::select, {c, a, b}) : add(op::select, {c, b, a});
    } else {
      const uint32 a = any(dtypes::unpacked);
      add(op::cast, {a}, {}, type(a).with(draw_dtype()));
    }
  }

  void reduction() {
    static constexpr op kinds[] = {op::reduce_sum, op::reduce_sum, op::reduce_max, op::reduce_min, op::reduce_argmax};
    const op o = kinds[below(5)];
    const uint32 a = any_of_rank(ir::row(o).accepts, 1);
    const int axis = chance(60) ? rank(a) - 1 : below(rank(a));
    if (o == op::reduce_argmax && type(a)[axis] == extent(0)) return;
    add(o, {a}, {axis});
  }

  /// The float type of a contraction's result, for these operands.
  dtype contracted(dtype a) { return a == f64 ? f64 : chance(70) ? f32 : chance(50) ? f16 : bf16; }

  void contraction() {
    const int kind = below(100);
    if (kind < 50) matmul();
    else if (kind < 68) packed_matmul();
    else if (kind < 83) indexed_matmul();
    else conv2d();
  }

  void matmul() {
    uint32 a = any_of_rank(ir::dtypes::floats, 2);
    if (chance(12)) a = part_of_rows(a);
    const extent k = type(a).last();
    const bool wide = element(a) == f64;
    const auto float_beside = [&](uint32 v) { return is_float(element(v)) && (element(v) == f64) == wide; };
    const bool transposed = chance(50);
    uint32 b = chance(40) ? none : find([&](uint32 v) {
      return float_beside(v) && rank(v) >= 2 && type(v)[rank(v) - (transposed ? 1 : 2)] == k && matmul_fits(a, v, transposed);
    });
    if (b == none) {
      const extent n = chance(20) ? draw_extent() : extents_[below(static_cast<int>(extents_.size()))];
      tensor_type t = type_of(wide ? f64 : chance(60) ? f32 : chance(50) ? f16 : bf16);
      const int batch = chance(30) ? below(rank(a) - 1) : 0;
      for (int i = rank(a) - 2 - batch; i < rank(a) - 2; ++i) t.extents[t.rank++] = chance(30) ? extent(1) : type(a)[i];
      t.extents[t.rank++] = transposed ? n : k;
      t.extents[t.rank++] = transposed ? k : n;
      if (elements(t) > most_elements_) return;
      b = leaf_of(t);
      if (!matmul_fits(a, b, transposed)) return;
    }
    if (chance(8)) {
      const uint32 part = part_of_rows(b);
      if (transposed || type(part)[rank(part) - 2] == k) b = part;
      if (!matmul_fits(a, b, transposed)) return;
    }
    add(op::matmul, {a, b}, {transposed}, type_of(contracted(element(a))));
  }
  /// A slice of whole rows, which contractions read where it lies.
  uint32 part_of_rows(uint32 x) {
    vec<int64> attrs(static_cast<size_t>(3 * rank(x)), 1);
    for (int i = 0; i < rank(x); ++i) {
      const extent e = type(x)[i];
      const bool whole = e.is_dynamic() || e.code < 2 || i == rank(x) - 1 || chance(30);
      const int64 first = whole ? 0 : below(static_cast<int>(e.code));
      attrs[static_cast<size_t>(i)] = first;
      attrs[static_cast<size_t>(rank(x) + i)] = whole ? e.code : 1 + below(static_cast<int>(e.code - first));
    }
    const uint32 in[1] = {x};
    return add_with(op::slice, {in, 1}, attrs);
  }
  bool matmul_fits(uint32 a, uint32 b, bool transposed) {
    tensor_type batch = type(a), other = type(b);
    batch.rank = static_cast<uint8>(batch.rank - 2);
    other.rank = static_cast<uint8>(other.rank - 2);
    if (!ir::detail::broadcast_into(batch, other)) return false;
    const int64 n = type(b)[rank(b) - (transposed ? 2 : 1)].bound();
    return elements(batch) * type(a)[rank(a) - 2].bound() * n <= most_elements_;
  }

  dtype draw_packed() {
    static constexpr dtype all[] = {q8_0, q8_0, q8_0, q4_0, q4_0, q4_0, q4_1, q5_0, q4_k, q6_k, iq4_nl, mxfp4};
    return all[below(12)];
  }
  extent packed_extent(dtype t) {
    return extent(row(t).block_elements == 256 ? 256 : 32 * (chance(10) ? 9 : 1 + below(3)));
  }
  /// A value of f32, f16 or bf16 whose last extent is k.
  uint32 rows_of(extent k) {
    const uint32 id = find([&](uint32 v) {
      return rank(v) >= 2 && is_float(element(v)) && element(v) != f64 && type(v).last() == k;
    });
    if (id != none && chance(80)) return id;
    tensor_type t = type_of(chance(70) ? f32 : chance(50) ? f16 : bf16);
    if (chance(20)) t.extents[t.rank++] = extent(1 + below(3));
    const extent m = extents_[below(static_cast<int>(extents_.size()))];
    t.extents[t.rank++] = m.bound() * elements(t) * k.code <= most_elements_ ? m : extent(1 + below(5));
    t.extents[t.rank++] = k;
    return leaf_of(t);
  }

  void packed_matmul() {
    const dtype format = draw_packed();
    const extent k = packed_extent(format);
    const extent n(1 + below(k.code > 100 ? 7 : 40));
    const int kind = below(100);
    if (kind < 25) {  // rows, raw or decoded; or the whole decoded
      const uint32 w = named(chance(80) ? op::weight : op::input, type_of(format, n, k));
      if (kind < 6) {
        cast_to(w, draw_float_type());
        return;
      }
      const extent rows = extents_[below(static_cast<int>(extents_.size()))];
      const uint32 index = any_of_type(rows.bound() * k.code <= most_elements_ ? type_of(i32, rows) : type_of(i32, 3));
      const uint32 raw = add(op::gather, {w, index}, {0});
      if (!chance(15)) cast_to(raw, chance(70) ? f32 : draw_float_type());
      return;
    }
    const uint32 x = rows_of(k);
    tensor_type t = type_of(format, n, k);
    if (rank(x) == 3 && chance(30)) t = type_of(format, type(x)[0], n, k);
    uint32 w = find([&](uint32 v) { return type(v) == t; });
    if (w == none || chance(60)) w = named(chance(80) ? op::weight : op::input, t);
    if (!matmul_fits(x, w, true)) return;
    if (chance(20)) w = cast_to(w, f32);
    add(op::matmul, {x, w}, {1}, type_of(contracted(f32)));
  }

  void indexed_matmul() {
    const bool packed = chance(40);
    const dtype format = packed ? draw_packed() : chance(10) ? f64 : chance(60) ? f32 : chance(50) ? f16 : bf16;
    const extent k = packed ? packed_extent(format) : draw_extent();
    if (k.code > 300) return;
    uint32 x;
    if (format == f64) {
      x = leaf_of({extent(1 + below(6)), k}, f64);
    } else {
      x = find([&](uint32 v) { return rank(v) == 2 && is_float(element(v)) && element(v) != f64 && type(v).last() == k; });
      if (x == none) x = leaf_of({extents_[below(static_cast<int>(extents_.size()))].bound() <= 40 ? extents_[0] : extent(4), k}, f32);
    }
    if (type(x)[0].bound() > 64) return;
    const uint32 w = named(chance(80) ? op::weight : op::input, type_of(format, 1 + below(4), 1 + below(12), k));
    const uint32 index = any_of_type(type_of(i32, type(x)[0]));
    add(op::indexed_matmul, {x, w, index}, {}, type_of(contracted(element(x))));
  }

  void conv2d() {
    const dtype t = chance(8) ? f64 : chance(70) ? f32 : chance(50) ? f16 : bf16;
    uint32 x = find([&](uint32 v) {
      return rank(v) == 4 && is_float(element(v)) && (element(v) == f64) == (t == f64) && !type(v)[1].is_dynamic() &&
             !type(v)[2].is_dynamic() && !type(v)[3].is_dynamic() && elements(type(v)) <= 1000 && type(v)[1].code > 0 &&
             type(v)[2].code > 0 && type(v)[3].code > 0;
    });
    if (x == none || chance(40)) {
      const extent images = chance(30) ? extents_[below(static_cast<int>(extents_.size()))] : extent(1 + below(2));
      x = leaf_of({images.bound() <= 6 ? images : extent(1), extent(1 + below(6)), extent(1 + below(9)), extent(1 + below(9))}, t);
    }
    const int64 channels = type(x)[1].code;
    int64 groups = chance(60) ? 1 : channels;
    if (chance(30) && channels % 2 == 0) groups = 2;
    const int64 outputs = groups * (1 + below(3));
    int64 stride[2], dilation[2], window[2], pad[4];
    for (int i = 0; i < 2; ++i) {
      stride[i] = 1 + (chance(30) ? below(3) : 0);
      dilation[i] = 1 + (chance(25) ? below(2) : 0);
      pad[2 * i] = chance(50) ? below(3) : 0;
      pad[2 * i + 1] = chance(50) ? below(3) : 0;
      const int64 padded = type(x)[2 + i].code + pad[2 * i] + pad[2 * i + 1];
      const int64 most = (padded - 1) / dilation[i] + 1;
      window[i] = 1 + below(static_cast<int>(most < 4 ? most : 4));
    }
    const uint32 w = leaf_of({extent(outputs), extent(channels / groups), extent(window[0]), extent(window[1])}, t);
    add(op::conv2d, {x, w}, {stride[0], stride[1], pad[0], pad[1], pad[2], pad[3], dilation[0], dilation[1], groups},
        type_of(t == f64 ? f64 : contracted(f32)));
  }

  void movement() {
    const int kind = below(100);
    if (kind < 18) gather();
    else if (kind < 36) slice();
    else if (kind < 50) concat();
    else if (kind < 64) transpose();
    else if (kind < 72) broadcast();
    else if (kind < 86) reshape(any(ir::dtypes::unpacked));
    else update();
  }

  void gather() {
    const uint32 x = any_of_rank(ir::dtypes::unpacked, 1);
    const int axis = chance(60) ? 0 : below(rank(x));
    if (type(x)[axis] == extent(0)) return;
    const uint32 index = find([&](uint32 v) {
      return element(v) == i32 && rank(v) + rank(x) - 1 <= max_rank &&
             elements(type(x).with(axis, extent(1))) * elements(type(v)) <= most_elements_;
    });
    if (index != none && !chance(30)) {
      add(op::gather, {x, index}, {axis});
      return;
    }
    if (rank(x) > 5) return;
    extent rows = chance(30) ? type(x)[axis] : extent(1 + below(5));
    if (elements(type(x).with(axis, rows)) > most_elements_) rows = extent(1);
    add(op::gather, {x, leaf_of({rows}, i32)}, {axis});
  }

  void slice() {
    const uint32 x = any(ir::dtypes::unpacked);
    vec<int64> start, size, step;
    const bool rows = chance(40);  // whole rows, or a part of each
    for (int i = 0; i < rank(x); ++i) {
      const extent e = type(x)[i];
      const bool whole = e.is_dynamic() || e.code == 0 || chance(40) || (rows && i == rank(x) - 1);
      const int64 s = whole ? 1 : 1 + (chance(25) ? below(3) : 0);
      const int64 first = whole ? 0 : below(static_cast<int>(e.code));
      const int64 most = whole ? e.code : (e.code - 1 - first) / s + 1;
      start.push_back(first);
      size.push_back(whole || chance(40) ? most : chance(3) ? 0 : 1 + below(static_cast<int>(most)));
      step.push_back(s);
    }
    vec<int64> attrs(start);
    attrs.append(size);
    attrs.append(step);
    const uint32 in[1] = {x};
    add_with(op::slice, {in, 1}, attrs);
  }

  void concat() {
    const uint32 x = any_of_rank(ir::dtypes::unpacked, 1);
    const int axis = below(rank(x));
    if (type(x)[axis].is_dynamic()) return;
    vec<uint32> in{x};
    int64 along = type(x)[axis].code;
    const int64 each = elements(type(x).with(axis, extent(1)));
    for (int i = below(4); i > 0; --i) {
      uint32 y = find([&](uint32 v) {
        return element(v) == element(x) && rank(v) == rank(x) && !type(v)[axis].is_dynamic() &&
               type(v).with(axis, type(x)[axis]).same_extents(type(x));
      });
      if (y == none || chance(30)) y = leaf_of(type(x).with(axis, extent(1 + below(4))));
      if ((along + type(y)[axis].code) * each > most_elements_) break;
      along += type(y)[axis].code;
      in.push_back(y);
    }
    add_with(op::concat, in, {axis});
  }

  void transpose() {
    const uint32 x = any_of_rank(ir::dtypes::unpacked, 2);
    vec<int64> perm;
    for (int i = 0; i < rank(x); ++i) perm.push_back(i);
    const bool last_two = chance(40);
    for (int i = rank(x) - 1; i > 0; --i) {
      std::swap(perm[static_cast<size_t>(i)], perm[static_cast<size_t>(last_two ? rank(x) - 2 : below(i + 1))]);
      if (last_two) break;
    }
    const uint32 in[1] = {x};
    add_with(op::transpose, {in, 1}, perm);
  }

  void broadcast() {
    const uint32 x = any(ir::dtypes::unpacked);
    tensor_type to = type(x);
    for (int i = 0; i < to.rank; ++i)
      if (to.extents[i] == extent(1) && chance(70)) to = grown(to, i);
    if (to.rank < 4 && chance(50)) {
      for (int i = to.rank++; i > 0; --i) to.extents[i] = to.extents[i - 1];
      to.extents[0] = extent(1);
      to = grown(to, 0);
    }
    if (!knows(to)) return;
    add(op::broadcast, {x}, {}, to);
  }
  tensor_type grown(const tensor_type& t, int axis) {
    const tensor_type to = t.with(axis, extents_[below(static_cast<int>(extents_.size()))]);
    return elements(to) <= most_elements_ ? to : t;
  }

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

  void update() {
    uint32 x = find([&](uint32 v) { return g_.eqns[v].kind == op::state && rank(v) > 0; });
    if (x == none || chance(50)) x = any_of_rank(ir::dtypes::unpacked, 1);
    update_of(x);
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

  void leaf() {
    if (chance(20)) {
      const tensor_type scalar = type_of(u32);
      const uint32 seed = chance(60) ? literal(u32) : any_of_type(scalar), offset = chance(60) ? literal(u32) : any_of_type(scalar);
      tensor_type t = draw_type(f32);
      if (knows(t)) add(op::random_uniform, {seed, offset}, {}, t);
    } else {
      leaf_of(draw_type(draw_dtype()));
    }
  }

  // ---- outputs and states
  void finish() {
    vec<uint8> read(g_.size(), 0);
    for (uint32 id = 0; id < g_.size(); ++id)
      for (uint32 in : g_.view_of().operands(id)) read[in] = 1;
    vec<uint32> states;
    const auto body = static_cast<uint32>(g_.size());
    for (uint32 id = 0; id < body; ++id)
      if (g_.eqns[id].kind == op::state) states.push_back(id);
    for (uint32 s : states)
      if (!has_output(g_.view_of().name_of(s))) finish_state(s, states);
    const int most = chance(30) ? 1 : 1 + below(6);
    int made = 0;
    const auto result = [&](uint32 id) { g_.add_output((text{"y"} << made++).str(), id); };
    for (uint32 id = body; id-- > 0 && made < most;)
      if (!read[id] && !ir::is_leaf(g_.eqns[id].kind) && chance(90)) result(id);
    while (chance(30) && made < 8) result(static_cast<uint32>(below(static_cast<int>(body))));
    if (const auto id = static_cast<uint32>(below(static_cast<int>(body))); chance(12) && !is_packed(element(id))) result(reshape(id));
    if (made == 0) result(body - 1);
  }
  bool has_output(std::string_view name) const {
    for (const ir::graph_output& o : g_.outputs)
      if (g_.view_of().chars(o.name) == name) return true;
    return false;
  }
  void finish_state(uint32 s, const vec<uint32>& states) {
    const std::string name(g_.view_of().name_of(s));
    const auto same = [&](uint32 v) { return v != s && type(v) == type(s); };
    uint32 value = none;
    switch (below(8)) {
      case 0: return;
      case 1: value = s; break;
      case 2:
        for (uint32 other : states)
          if (same(other)) value = other;
        break;
      case 3:
      case 4: value = find(same); break;
      case 5: value = find([&](uint32 v) { return same(v) && g_.eqns[v].kind == op::dynamic_update_slice; }); break;
      default: break;
    }
    if (value == none) {
      value = s;
      for (int i = 1 + below(3); i > 0; --i) value = update_of(value);
    }
    g_.add_output(name, value);
  }
};

}  // namespace poot_tests
