#pragma once
/// The interpreter's reductions, and sums in the order that numerics.md defines.

#include <poot/ir/evaluate.hpp>
#include <poot/ir/graph.hpp>
#include <poot/ir/tensor.hpp>

namespace poot::ir {

inline constexpr order row_order{256, 4096, false};         ///< of reduce_sum where an equation sets none
inline constexpr order contraction_order{1, 256, true};     ///< of a contraction where an equation sets none

/// The order that equation `e` sums in.
constexpr order order_of(const eqn& e) {
  if (e.sum.lanes != 0) return e.sum;
  return is_contraction(e.kind) || is_attention(e.kind) ? contraction_order : row_order;
}

namespace detail {

/// Adds terms 0 … n-1 in order `o`: `fold(partial, k)` adds term k to a partial sum. `lanes` is scratch of o.lanes.
template <class Float, class Fold>
constexpr Float sum_in_order(order o, int64 n, vec<Float>& lanes, Fold fold) {
  Float total = 0;
  for (int64 first = 0; first < n; first += o.chunk) {
    const int64 count = n - first < o.chunk ? n - first : o.chunk;
    const int64 used = count < o.lanes ? count : o.lanes;
    for (int64 lane = 0; lane < used; ++lane) lanes[static_cast<size_t>(lane)] = 0;
    for (int64 k = 0, lane = 0; k < count; ++k) {
      Float& partial = lanes[static_cast<size_t>(lane)];
      partial = fold(partial, first + k);
      if (++lane == o.lanes) lane = 0;
    }
    // Lanes beyond `used` hold +0: adding one could only turn -0 into +0, as the total does.
    for (int64 half = o.lanes / 2; half > 0; half /= 2) {
      for (int64 lane = 0; lane < half && lane + half < used; ++lane)
        lanes[static_cast<size_t>(lane)] =
            ieee::add(lanes[static_cast<size_t>(lane)], lanes[static_cast<size_t>(lane + half)]);
    }
    total = ieee::add(total, lanes[0]);
  }
  return total;
}

constexpr void check_order(order o, uint32 id, op kind) {
  if (o.chunk == 0 || !std::has_single_bit(o.lanes))
    fail(text{} << "%" << id << ": " << name(kind) << ": an order needs a power of two of lanes and a chunk, here "
                << o.lanes << " and " << o.chunk);
}

/// The bits that a maximum or minimum over no elements has.
constexpr uint64 extreme_of(bool largest, dtype t) {
  if (is_float(t)) return format_of(t).infinity() | (largest ? format_of(t).sign_bit() : 0);
  const integer_range r = range_of(t);
  return store_integer(t, static_cast<uint64>(largest ? r.lowest : r.highest));
}

/// Where along a row the largest element is; a NaN is largest, the first of equals wins.
template <class Float>
constexpr int64 first_largest(dtype t, const uint64* first, int64 n, int64 step) {
  int64 best = 0;
  for (int64 k = 1; k < n; ++k) {
    const uint64 a = first[best * step], b = first[k * step];
    if constexpr (std::is_void_v<Float>) {
      if (load_integer(t, a) < load_integer(t, b)) best = k;
    } else {
      const Float x = load_float<Float>(t, a), y = load_float<Float>(t, b);
      if (ieee::is_nan(x)) return best;
      if (ieee::is_nan(y) || ieee::less(x, y)) best = k;
    }
  }
  return best;
}

template <class Float>
constexpr uint64 sum_row(order o, dtype t, const uint64* first, int64 n, int64 step, vec<Float>& lanes) {
  return store_float(t, sum_in_order<Float>(o, n, lanes, [&](Float partial, int64 k) {
    return ieee::add(partial, load_float<Float>(t, first[k * step]));
  }));
}

constexpr void reduce(op kind, order o, const tensor& x, int axis, tensor& result) {
  const dtype t = x.type.element;
  const int64 n = x.type.extents[axis].code;
  int64 outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= x.type.extents[i].code;
  for (int i = axis + 1; i < x.type.rank; ++i) inner *= x.type.extents[i].code;
  const bool sums_floats = kind == op::reduce_sum && is_float(t);
  vec<float> lanes(sums_floats && t != dtype::f64 ? o.lanes : 0);
  vec<double> wide_lanes(sums_floats && t == dtype::f64 ? o.lanes : 0);
  for (int64 i = 0; i < outer * inner; ++i) {
    const uint64* first = n ? x.bits.data() + (i / inner * n * inner + i % inner) : nullptr;
    uint64& to = result.bits[static_cast<size_t>(i)];
    switch (kind) {
      case op::reduce_sum:
        if (t == dtype::f64) to = sum_row<double>(o, t, first, n, inner, wide_lanes);
        else if (sums_floats) to = sum_row<float>(o, t, first, n, inner, lanes);
        else for (int64 k = 0; k < n; ++k) to = store_integer(t, to + first[k * inner]);
        break;
      case op::reduce_argmax: {
        const int64 at = t == dtype::f64 ? first_largest<double>(t, first, n, inner)
                         : is_float(t)   ? first_largest<float>(t, first, n, inner)
                                         : first_largest<void>(t, first, n, inner);
        to = static_cast<uint64>(at);
        break;
      }
      default: {
        const op pair = kind == op::reduce_max ? op::max : op::min;
        to = extreme_of(kind == op::reduce_max, t);
        for (int64 k = 0; k < n; ++k) to = evaluate(pair, t, t, to, first[k * inner]);
      }
    }
  }
}

}  // namespace detail
}  // namespace poot::ir
