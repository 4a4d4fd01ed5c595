#pragma once
/// The interpreter's contractions: operands are brought to rows of K values, and each result is one sum in order.

#include <poot/core/fma.hpp>
#include <poot/ir/detail/interpret_pointwise.hpp>
#include <poot/ir/detail/interpret_reduction.hpp>

namespace poot::ir::detail {

/// Says what to do with an index that lies outside.
struct index_rule {
  uint32 id;     ///< of the equation
  op kind;
  bool clamp;

  /// `index` if it lies in [0, count), else the nearest that does; throws where the rule refuses, or nothing is inside.
  constexpr int64 operator()(int64 index, int64 count, const char* what) const {
    if (index >= 0 && index < count) return index;
    if (!clamp || count <= 0)
      fail(text{} << "%" << id << ": " << name(kind) << ": " << what << " " << index << " is outside 0 to " << count - 1);
    return index < 0 ? 0 : count - 1;
  }
};

/// The dot products of rows of K values, in one order.
template <class Float>
struct dot {
  order o;
  int64 k;
  vec<Float> lanes;
  constexpr dot(order given, int64 extent) : o(given), k(extent), lanes(given.lanes) {}

  constexpr Float operator()(const Float* a, const Float* b) {
    if (o.lanes == 1 && o.fused) {  // the default, without the bookkeeping of lanes
      Float total = 0;
      for (int64 first = 0; first < k; first += o.chunk) {
        const int64 end = k - first < o.chunk ? k : first + o.chunk;
        Float partial = 0;
        for (int64 i = first; i < end; ++i) partial = ieee::fma(a[i], b[i], partial);
        total = ieee::add(total, partial);
      }
      return total;
    }
    return sum_in_order<Float>(o, k, lanes, [&](Float partial, int64 i) {
      return o.fused ? ieee::fma(a[i], b[i], partial) : ieee::add(partial, ieee::mul(a[i], b[i]));
    });
  }
};

template <class Float>
constexpr vec<Float> values_of(const tensor& x) {
  if (is_packed(x.type.element)) {
    const vec<float> decoded = decode_words(x);
    if constexpr (sizeof(Float) == 4) return decoded;
    vec<Float> values(decoded.size());
    for (size_t i = 0; i < values.size(); ++i) values[i] = decoded[i];
    return values;
  }
  vec<Float> values(x.bits.size());
  for (size_t i = 0; i < values.size(); ++i) values[i] = load_float<Float>(x.type.element, x.bits[i]);
  return values;
}

/// Matrices [rows, columns], each transposed.
template <class Float>
constexpr vec<Float> transposed(const vec<Float>& x, int64 rows, int64 columns) {
  vec<Float> r(x.size());
  for (int64 m = 0, size = rows * columns, count = size ? static_cast<int64>(x.size()) / size : 0; m < count; ++m)
    for (int64 i = 0; i < rows; ++i)
      for (int64 j = 0; j < columns; ++j)
        r[static_cast<size_t>(m * size + j * rows + i)] = x[static_cast<size_t>(m * size + i * columns + j)];
  return r;
}

/// The numbers of the matrices of `x` that the matrices of a result with batch extents `to` read.
constexpr vec<uint64> batch_indices(const tensor_type& x, const tensor_type& to) {
  tensor_type own = x, target = to;
  own.rank = static_cast<uint8>(x.rank - 2);
  target.rank = static_cast<uint8>(to.rank - 2);
  own.element = target.element = dtype::i32;
  tensor numbers(own);
  for (size_t i = 0; i < numbers.bits.size(); ++i) numbers.bits[i] = i;
  vec<uint64> indices(static_cast<size_t>(target.element_count()));
  copy_broadcast(numbers, target, indices.data());
  return indices;
}

/// a[…,M,K], b[…,K,N] or, transposed, b[…,N,K] → […,M,N]
template <class Float>
constexpr void matmul(order o, bool transpose_b, const tensor& a, const tensor& b, tensor& result) {
  const tensor_type& t = result.type;
  if (result.bits.empty()) return;
  const int64 m = t.extents[t.rank - 2].code, n = t.extents[t.rank - 1].code, k = a.type.last().code;
  const vec<Float> rows = values_of<Float>(a);  // […, M, K]
  vec<Float> columns = values_of<Float>(b);     // […, N, K]
  if (!transpose_b) columns = transposed(columns, k, n);
  const vec<uint64> a_of = batch_indices(a.type, t), b_of = batch_indices(b.type, t);
  dot<Float> product(o, k);
  uint64* to = result.bits.data();
  for (size_t batch = 0; batch < a_of.size(); ++batch)
    for (int64 i = 0; i < m; ++i)
      for (int64 j = 0; j < n; ++j)
        *to++ = store_float(t.element, product(rows.data() + (static_cast<int64>(a_of[batch]) * m + i) * k,
                                               columns.data() + (static_cast<int64>(b_of[batch]) * n + j) * k));
}

/// x[T,K], w[E,N,K], idx[T] → [T,N]
template <class Float>
constexpr void indexed_matmul(order o, const index_rule& inside, const tensor& x, const tensor& w, const tensor& idx,
                              tensor& result) {
  const int64 k = x.type.last().code, n = result.type.last().code;
  const vec<Float> rows = values_of<Float>(x), experts = values_of<Float>(w);
  dot<Float> product(o, k);
  for (int64 t = 0; t < x.type.extents[0].code; ++t) {
    const int64 e = inside(load_integer(dtype::i32, idx.bits[static_cast<size_t>(t)]), w.type.extents[0].code, "index");
    for (int64 j = 0; j < n; ++j)
      result.bits[static_cast<size_t>(t * n + j)] =
          store_float(result.type.element, product(rows.data() + t * k, experts.data() + (e * n + j) * k));
  }
}

/// x[N,C,H,W], w[O,C/g,kh,kw] → [N,O,H',W']; K runs over (C/g, kh, kw), and a tap in the padding reads +0.
/// at: stride[2] pad[top,bottom,left,right] dilation[2] groups
template <class Float>
constexpr void conv2d(order o, view<int64> at, const tensor& x, const tensor& w, tensor& result) {
  const vec<Float> image = values_of<Float>(x), kernels = values_of<Float>(w);
  const auto& xe = x.type.extents;
  const auto& we = w.type.extents;
  const auto& re = result.type.extents;
  const int64 height = xe[2].code, width = xe[3].code, channels = we[1].code, kh = we[2].code, kw = we[3].code;
  const int64 k = channels * kh * kw, group_outputs = re[1].code / at[8];
  vec<Float> window(static_cast<size_t>(k));  // (C/g, kh, kw)
  dot<Float> product(o, k);
  for (int64 n = 0; n < re[0].code; ++n)
    for (int64 group = 0; group < at[8]; ++group)
      for (int64 row_at = 0; row_at < re[2].code; ++row_at)
        for (int64 column_at = 0; column_at < re[3].code; ++column_at) {
          for (int64 i = 0; i < k; ++i) {
            const int64 c = group * channels + i / (kh * kw);
            const int64 h = row_at * at[0] - at[2] + i / kw % kh * at[6], v = column_at * at[1] - at[4] + i % kw * at[7];
            const bool inside = h >= 0 && h < height && v >= 0 && v < width;
            window[static_cast<size_t>(i)] =
                inside ? image[static_cast<size_t>(((n * xe[1].code + c) * height + h) * width + v)] : Float(0);
          }
          for (int64 j = group * group_outputs; j < (group + 1) * group_outputs; ++j)
            result.bits[static_cast<size_t>(((n * re[1].code + j) * re[2].code + row_at) * re[3].code + column_at)] =
                store_float(result.type.element, product(window.data(), kernels.data() + j * k));
        }
}

}  // namespace poot::ir::detail
