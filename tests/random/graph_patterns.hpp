#pragma once
/// Known chains, over a value that is there or over fresh leaves: what the passes recognise and the host treats specially.

#include "graph_source.hpp"

#include <limits>

namespace poot_tests {

class graph_patterns : protected graph_source {
 protected:
  using graph_source::graph_source;

  uint32 float_rows() {
    const uint32 id = find([&](uint32 v) {
      return is_float(element(v)) && rank(v) >= 1 && !type(v).last().is_dynamic() && type(v).last().code > 0;
    });
    if (id != none && !chance(20)) return id;
    return leaf_of({extents_[0].bound() <= 64 ? extents_[0] : extent(3), extent(1 + below(70))}, f32);
  }
  uint32 number(dtype t, double x) { return g_.literal(t, float_bits(t, x)); }

  /// One of the chains.
  void pattern() {
    switch (below(12)) {
      case 0: softmax(float_rows(), chance(50)); return;
      case 1: log_softmax(); return;
      case 2: norm(false); return;
      case 3: norm(true); return;
      case 4: swiglu(); return;
      case 5: attention(); return;
      case 6: cache_update(); return;
      case 7: case 8: products_of_rows(); return;
      case 9: heads_into_cache(); return;
      case 10: product_in_runs(); return;
      default: rotation(); return;
    }
  }

  uint32 softmax(uint32 x, bool by_recip = false) {
    const int axis = rank(x) - 1;
    const uint32 e = add(op::exp, {add(op::sub, {x, add(op::reduce_max, {x}, {axis})})});
    const uint32 sum = add(op::reduce_sum, {e}, {axis});
    return by_recip ? add(op::mul, {e, add(op::recip, {sum})}) : add(op::div, {e, sum});
  }

  /// The softmax of x beside a score of its own for each row, which takes part in the greatest and in the sum.
  uint32 softmax_with_sink(uint32 x) {
    const int axis = rank(x) - 1;
    const uint32 sink = chance(70) ? leaf_of({extent(1)}, f32) : number(f32, 0);
    const uint32 greatest = add(op::max, {add(op::reduce_max, {x}, {axis}), sink}), e = add(op::exp, {add(op::sub, {x, greatest})});
    return add(op::div, {e, add(op::add, {add(op::reduce_sum, {e}, {axis}), add(op::exp, {add(op::sub, {sink, greatest})})})});
  }

  void log_softmax() {
    const uint32 x = float_rows();
    const int axis = rank(x) - 1;
    const uint32 shifted = add(op::sub, {x, add(op::reduce_max, {x}, {axis})});
    add(op::sub, {shifted, add(op::log, {add(op::reduce_sum, {add(op::exp, {shifted})}, {axis})})});
  }

  uint32 norm(bool centred) {
    uint32 x = float_rows();
    const dtype t = element(x);
    const int axis = rank(x) - 1;
    const uint32 share = number(t, 1.0 / static_cast<double>(type(x).last().code));
    if (centred) x = add(op::sub, {x, add(op::mul, {add(op::reduce_sum, {x}, {axis}), share})});
    const uint32 mean = add(op::mul, {add(op::reduce_sum, {add(op::mul, {x, x})}, {axis}), share});
    const uint32 scaled = add(op::mul, {x, add(op::recip, {add(op::sqrt, {add(op::add, {mean, number(t, 1e-5)})})})});
    const uint32 gain = cast_to(leaf_of({type(x).last()}, chance(50) ? t : bf16), t);
    const uint32 y = add(op::mul, {scaled, gain});
    return centred ? add(op::add, {y, leaf_of({type(x).last()}, t)}) : y;
  }

  /// A norm or a softmax, and products of its rows, as layers begin; sometimes something else reads them too.
  void products_of_rows() {
    const uint32 x = chance(75) ? norm(chance(30)) : softmax(float_rows(), chance(50));
    if (rank(x) < 2 || element(x) == f64 || type(x).last().code > 1100) return;
    const extent k = type(x).last();
    const extent n(1 + below(chance(30) ? 140 : 12));
    uint32 before = none;
    for (int i = 1 + below(3); i > 0; --i) {
      const extent own = chance(60) ? n : extent(1 + below(12));
      if (rows_of(x) * own.code > most_elements_) return;
      const dtype t = k.code % 32 == 0 && chance(40) ? (chance(50) ? q8_0 : q4_0) : chance(50) ? f32 : chance(50) ? bf16 : f16;
      const bool turned = is_packed(t) || chance(60);
      const uint32 w = named(op::weight, turned ? type_of(t, own, k) : type_of(t, k, own));
      uint32 y = add(op::matmul, {x, w}, {turned}, type_of(chance(80) ? f32 : bf16));
      if (chance(40)) y = add(op::mul, {y, number(element(y), 0.5)});
      if (before != none && chance(50) && type(before) == type(y)) y = add(op::mul, {before, y});
      if (chance(15) && type(y) == type(x)) y = add(op::add, {y, x});
      before = y;
    }
    if (chance(20)) {
      vec<int64> perm;
      for (int i = 0; i < rank(x); ++i) perm.push_back(rank(x) - 1 - i);
      add_with(op::transpose, {&x, 1}, perm);
    }
    if (chance(10)) add(op::neg, {x});
  }
  /// A product, mostly of one row, and rows that reduce runs of its columns; sometimes something else reads the product, or its runs.
  void product_in_runs() {
    const int64 run = 1 + below(chance(20) ? 256 : 64), many = chance(90) ? 1 : 2, columns = run * (1 + below(5));
    const dtype t = chance(40) ? (chance(50) ? q8_0 : q4_0) : chance(50) ? f32 : bf16, made = chance(75) ? f32 : chance(50) ? bf16 : f16;
    const extent k(is_packed(t) || chance(50) ? 32 * (1 + below(9)) : 1 + below(70));
    uint32 x = leaf_of({extent(many), k}, f32);
    if (chance(40)) x = softmax(x);
    const bool turned = is_packed(t) || chance(60);
    uint32 y = add(op::matmul, {x, named(op::weight, turned ? type_of(t, columns, k) : type_of(t, k, columns))}, {turned}, type_of(made));
    if (chance(40)) y = add(op::max, {add(op::mul, {y, number(made, 0.5)}), leaf_of({extent(columns)}, made)});
    const uint32 split = add(op::reshape, {y}, {}, chance(70) ? type_of(made, many, columns / run, run) : type_of(made, many * columns / run, run));
    const int64 axis = rank(split) - 1;
    const uint32 greatest = add(op::reduce_max, {split}, {axis}), below_it = add(op::sub, {split, greatest});
    if (chance(60)) add(op::reduce_argmax, {chance(50) ? below_it : add(op::mul, {below_it, below_it})}, {axis});
    if (chance(40)) add(op::reduce_sum, {add(op::exp, {below_it})}, {axis});
    if (chance(15)) add(op::neg, {y});
    if (chance(10)) add(op::reduce_min, {split}, {0});
  }
  int64 rows_of(uint32 x) const { return elements(type(x).with(rank(x) - 1, extent(1))); }

  void swiglu() {
    const uint32 x = float_rows();
    if (rank(x) < 2 || element(x) == f64 || type(x).last().code > 300) return;
    const extent n(1 + below(12)), k = type(x).last();
    const dtype t = chance(50) ? f32 : bf16;
    const dtype made = chance(80) ? f32 : bf16;
    const uint32 gate = add(op::matmul, {x, named(op::weight, type_of(t, n, k))}, {1}, type_of(made));
    const uint32 up = add(op::matmul, {x, named(op::weight, type_of(t, n, k))}, {1}, type_of(made));
    const uint32 sigmoid = add(op::recip, {add(op::add, {add(op::exp, {add(op::neg, {gate})}), number(made, 1)})});
    add(op::mul, {add(op::mul, {gate, sigmoid}), up});
  }

  void attention() {
    const extent heads(1 + below(3)), rows(1 + below(4)), depth(2 * (1 + below(5)));
    extent keys(1 + below(20));
    for (extent e : extents_)
      if (e.is_dynamic() && chance(70)) keys = e;
    const dtype held = chance(60) ? f32 : chance(50) ? bf16 : f16;
    const uint32 q = leaf_of({heads, rows, depth}, f32), k = leaf_of({heads, keys, depth}, held), v = leaf_of({heads, keys, depth}, held);
    uint32 s = add(op::matmul, {q, k}, {1}, type_of(f32));
    s = add(op::mul, {s, number(f32, 0.35)});
    if (chance(60)) {
      const tensor_type space = type_of(i32, rows, keys);
      const int64 axes[2] = {0, 1};
      const uint32 key = g_.leaf(op::iota, space, {axes + 1, 1}), row = g_.leaf(op::iota, space, {axes, 1});
      s = add(op::select, {add(op::le, {key, row}), s, number(f32, -std::numeric_limits<double>::infinity())});
    }
    const uint32 p = chance(20) ? softmax_with_sink(s) : softmax(s);
    const uint32 o = add(op::matmul, {p, v}, {0}, type_of(chance(80) ? f32 : bf16));
    if (chance(50)) add(op::reshape, {add(op::transpose, {o}, {1, 0, 2})}, {}, type_of(element(o), rows, heads.code * depth.code));
  }

  /// A row joins a cache, and a contraction reads the new cache.
  void cache_update() {
    const extent slots(2 + below(12)), depth(2 * (1 + below(6)));
    const dtype held = chance(50) ? f32 : chance(50) ? bf16 : f16;
    const uint32 cache = named(op::state, type_of(held, slots, depth));
    const uint32 row = cast_to(leaf_of({extent(1), depth}, f32), held);
    const uint32 start = add(op::concat, {leaf_of({extent(1)}, i32), g_.leaf(op::constant, type_of(i32, 1), vec<int64>{0})}, {0});
    const uint32 grown = add(op::dynamic_update_slice, {cache, row, start});
    if (chance(70)) add(op::matmul, {leaf_of({extent(1 + below(3)), depth}, f32), chance(80) ? grown : cache}, {1}, type_of(f32));
    if (chance(60)) g_.add_output(g_.view_of().name_of(cache), grown);
  }

  /// What joins a cache passes through views, casts and transposes on its way, and perhaps something else reads it too.
  void heads_into_cache() {
    const extent rows(1 + below(3)), heads(1 + below(3)), depth(2 * (1 + below(4)));
    const dtype held = chance(50) ? f32 : chance(50) ? bf16 : f16;
    uint32 x = leaf_of({rows, extent(heads.code * depth.code)}, f32);
    if (chance(40)) x = add(op::gather, {leaf_of({extent(1 + below(5)), type(x).last()}, f32), leaf_of({rows}, i32)}, {0});
    x = add(op::reshape, {x}, {}, type_of(f32, rows, heads, depth));
    if (chance(30)) x = add(op::neg, {x});
    x = add(op::transpose, {x}, {1, 0, 2});
    if (chance(20)) add(op::exp, {x});
    const uint32 cache = named(op::state, type_of(held, heads, extent(rows.code + below(8)), depth));
    const uint32 grown = add(op::dynamic_update_slice, {cache, cast_to(x, held), leaf_of({extent(3)}, i32)});
    if (chance(50)) add(op::transpose, {grown}, {0, 2, 1});
    if (chance(80)) g_.add_output(g_.view_of().name_of(cache), grown);
  }

  /// Two halves turned by an angle.
  uint32 rotation() {
    const extent rows(1 + below(4)), half(1 + below(6));
    const uint32 x = leaf_of({rows, extent(2 * half.code)}, f32), angle = leaf_of({rows, half}, f32);
    const uint32 c = add(op::cos, {angle}), s = add(op::sin, {angle});
    const uint32 a = add(op::slice, {x}, {0, 0, rows.code, half.code, 1, 1});
    const uint32 b = add(op::slice, {x}, {0, half.code, rows.code, half.code, 1, 1});
    const uint32 first = add(op::sub, {add(op::mul, {a, c}), add(op::mul, {b, s})});
    const uint32 second = add(op::add, {add(op::mul, {a, s}), add(op::mul, {b, c})});
    return add(op::concat, {first, second}, {1});
  }
};

}  // namespace poot_tests
