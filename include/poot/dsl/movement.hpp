#pragma once
/// Ops that move elements and change no bit.

#include <poot/dsl/leaf.hpp>
#include <poot/dsl/reduction.hpp>

namespace poot::dsl {

/// To declared extents: `reshape(x, extents<32, 1, 128>)`, for values also `reshape(x, shape{heads, 1, width})`.
template <handle X, class Extents>
  requires is_extents<Extents>
constexpr auto reshape(X x, Extents e) {
  return apply<ir::op::reshape>(e, x);
}
template <handle X, class Extents>
  requires is_extents<Extents>
constexpr auto broadcast(X x, Extents e) {
  return apply<ir::op::broadcast>(e, x);
}

template <int... Axis>
struct permutation {
  constexpr void operator()(attributes& a, const tensor_type*) const {
    if constexpr (sizeof...(Axis) > max_rank) a.refuse(ir::rule::permutation, 0);
    else (a.add(Axis), ...);
  }
};
struct permutation_run_time {
  int64 axes[max_rank]{};
  size_t rank = 0;  ///< as many as were given
  constexpr void operator()(attributes& a, const tensor_type*) const {
    if (rank > max_rank) return a.refuse(ir::rule::permutation, 0);
    for (size_t i = 0; i < rank; ++i) a.add(axes[i]);
  }
};
struct last_two_swapped {
  constexpr void operator()(attributes& a, const tensor_type* in) const {
    const int rank = in[0].rank;
    for (int i = 0; i < rank; ++i) a.add(rank < 2 || i < rank - 2 ? i : 2 * rank - 3 - i);
  }
};
/// `transpose<0, 2, 1>(x)`; without axes the last two change places.
template <int... Axis, handle X>
constexpr auto transpose(X x) {
  if constexpr (sizeof...(Axis) == 0) {
    return apply<ir::op::transpose>(last_two_swapped{}, x);
  } else {
    return apply<ir::op::transpose>(permutation<Axis...>{}, x);
  }
}
template <run_time V>
constexpr V transpose(V x, std::initializer_list<int> axes) {
  permutation_run_time p;
  for (int a : axes) {
    if (p.rank < max_rank) p.axes[p.rank] = a;
    ++p.rank;
  }
  return apply<ir::op::transpose>(p, x);
}

/// Fills in a slice that takes every axis whole but one.
constexpr void write_slice(attributes& a, const tensor_type& x, int64 axis, int64 start, int64 size, int64 step) {
  if (axis < 0 || axis >= x.rank) return a.refuse(ir::rule::axis_in_range, 0);
  if (size < 0) return a.refuse(ir::rule::slice_step);  // or it would be read as the code of a dynamic extent
  for (int i = 0; i < x.rank; ++i) a.add(i == axis ? start : 0);
  for (int i = 0; i < x.rank; ++i) a.add(i == axis ? size : x.extents[i].code);
  for (int i = 0; i < x.rank; ++i) a.add(i == axis ? step : 1);
}
template <int Axis, int64 Start, int64 Size, int64 Step>
struct slice_rule {
  constexpr void operator()(attributes& a, const tensor_type* in) const {
    write_slice(a, in[0], axis_of(Axis, in[0]), Start, Size, Step);
  }
};
struct slice_rule_run_time {
  int axis;
  int64 start, size, step;
  constexpr void operator()(attributes& a, const tensor_type* in) const {
    write_slice(a, in[0], axis_of(axis, in[0]), start, size, step);
  }
};
/// `Size` elements along an axis from `Start` on: `slice<-1, 0, 64>(x)`.
template <int Axis, int64 Start, int64 Size, int64 Step = 1, handle X>
constexpr auto slice(X x) {
  return apply<ir::op::slice>(slice_rule<Axis, Start, Size, Step>{}, x);
}
template <run_time V>
constexpr V slice(V x, int axis, int64 start, int64 size, int64 step = 1) {
  return apply<ir::op::slice>(slice_rule_run_time{axis, start, size, step}, x);
}

/// Along `Axis`, in this order.
template <int Axis, handle... X>
  requires(sizeof...(X) > 0)
constexpr auto concat(X... x) {
  return apply<ir::op::concat>(along<Axis>{}, x...);
}
/// Rows of x by idx (i32), whose extents stand for the axis.
template <int Axis = 0, handle X, handle Idx>
constexpr auto gather(X x, Idx idx) {
  return apply<ir::op::gather>(along<Axis>{}, x, idx);
}
template <run_time V>
constexpr V gather(V x, V idx, int axis) {
  return apply<ir::op::gather>(along_run_time{axis}, x, idx);
}

/// x with `update` written at `start`, an i32[rank].
template <handle X, handle Update, handle Start>
constexpr auto dynamic_update_slice(X x, Update update, Start start) {
  return apply<ir::op::dynamic_update_slice>(no_attributes{}, x, update, start);
}

}  // namespace poot::dsl

namespace poot {
using dsl::broadcast, dsl::concat, dsl::dynamic_update_slice, dsl::gather, dsl::reshape, dsl::slice, dsl::transpose;
}  // namespace poot
