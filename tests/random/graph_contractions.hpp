#pragma once
/// Contractions in all their forms: batches, both orders of b, windows of rows, packed weights, experts, convolutions.

#include "graph_patterns.hpp"

namespace poot_tests {

class graph_contractions : protected graph_patterns {
 protected:
  using graph_patterns::graph_patterns;

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
};

}  // namespace poot_tests
