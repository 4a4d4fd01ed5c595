#pragma once
/// Ops among the ranks of a named group: every rank runs the same model on values of its own, and gets here.
///
///     auto y = poot::all_reduce_sum<"tp">(poot::linear(h, part_of_w));   // the sum over ranks, on each of them
///
/// Extents are fixed, and equal on every rank. What sums are: ir/interpret_ranks.hpp.

#include <poot/dsl/reduction.hpp>

namespace poot::dsl {

template <fixed_text Group>
struct summed_in {
  static constexpr std::string_view group = Group.view();
  constexpr void operator()(attributes&, const tensor_type*) const {}
};
struct summed_in_run_time {
  std::string_view group;
  constexpr void operator()(attributes&, const tensor_type*) const {}
};

/// The axis, and the extent along it of all `ranks` or of one. (An extent that ranks do not share is left 0: typing refuses it.)
constexpr void write_ranks(attributes& a, const tensor_type& x, int axis, int64 ranks, bool gathers) {
  const int64 at = axis_of(axis, x);
  a.add(at);
  a.declared = x;
  if (at < 0 || at >= x.rank || x.extents[at].is_dynamic()) return;
  int64& code = a.declared.extents[at].code;
  if (gathers) code = ranks < 1 || __builtin_mul_overflow(code, ranks, &code) ? 0 : code;
  else code = ranks < 1 || code % ranks ? 0 : code / ranks;
}
template <fixed_text Group, int64 Ranks, int Axis, bool Gathers>
struct along_ranks {
  static constexpr std::string_view group = Group.view();
  constexpr void operator()(attributes& a, const tensor_type* in) const { write_ranks(a, in[0], Axis, Ranks, Gathers); }
};
struct along_ranks_run_time {
  std::string_view group;
  int64 ranks;
  int axis;
  bool gathers;
  constexpr void operator()(attributes& a, const tensor_type* in) const { write_ranks(a, in[0], axis, ranks, gathers); }
};

/// The sum of x over the ranks of `Group`.
template <fixed_text Group, handle X>
constexpr auto all_reduce_sum(X x) {
  return apply<ir::op::all_reduce_sum>(summed_in<Group>{}, x);
}
/// The x of all ranks of `Group`, of which there are `Ranks`, one after the other along `Axis`.
template <fixed_text Group, int64 Ranks, int Axis = -1, handle X>
constexpr auto all_gather(X x) {
  return apply<ir::op::all_gather>(along_ranks<Group, Ranks, Axis, true>{}, x);
}
/// This rank's part, along `Axis`, of the sum of x over the `Ranks` ranks of `Group`.
template <fixed_text Group, int64 Ranks, int Axis = -1, handle X>
constexpr auto reduce_scatter(X x) {
  return apply<ir::op::reduce_scatter>(along_ranks<Group, Ranks, Axis, false>{}, x);
}
template <run_time V>
constexpr V all_reduce_sum(V x, std::string_view group) {
  return apply<ir::op::all_reduce_sum>(summed_in_run_time{group}, x);
}
template <run_time V>
constexpr V all_gather(V x, std::string_view group, int64 ranks, int axis) {
  return apply<ir::op::all_gather>(along_ranks_run_time{group, ranks, axis, true}, x);
}
template <run_time V>
constexpr V reduce_scatter(V x, std::string_view group, int64 ranks, int axis) {
  return apply<ir::op::reduce_scatter>(along_ranks_run_time{group, ranks, axis, false}, x);
}

}  // namespace poot::dsl

namespace poot {
using dsl::all_gather, dsl::all_reduce_sum, dsl::reduce_scatter;
}  // namespace poot
