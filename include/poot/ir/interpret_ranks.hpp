#pragma once
/// Runs a graph on several ranks: what its collectives mean.
///
///     interpret_ranks(g, {{x0, 1}, {x1, 1}});   // two ranks, each with its own inputs, weights and states
///
/// Every group has all ranks. The sum of an element over ranks begins with that of rank 0 and adds those of rank 1, 2, …, in the
/// type that reduce_sum adds in, and rounds once to the element type: the same on every rank, whenever they get there.

#include <poot/ir/group.hpp>
#include <poot/ir/interpret.hpp>

namespace poot::ir {

namespace detail {

/// The sum of element `i` of a value of every rank.
template <class Float>
constexpr uint64 sum_over_ranks(view<const tensor*> ranks, size_t i) {
  const dtype t = ranks[0]->type.element;
  Float sum = load_float<Float>(t, ranks[0]->bits[i]);
  for (size_t r = 1; r < ranks.size(); ++r) sum = ieee::add(sum, load_float<Float>(t, ranks[r]->bits[i]));
  return store_float(t, sum);
}
constexpr tensor sum_over_ranks(view<const tensor*> ranks) {
  tensor sum = *ranks[0];
  const dtype t = sum.type.element;
  for (size_t i = 0; i < sum.bits.size(); ++i) {
    if (t == dtype::f64) sum.bits[i] = sum_over_ranks<double>(ranks, i);
    else if (is_float(t)) sum.bits[i] = sum_over_ranks<float>(ranks, i);
    else
      for (size_t r = 1; r < ranks.size(); ++r) sum.bits[i] = store_integer(t, sum.bits[i] + ranks[r]->bits[i]);
  }
  return sum;
}

/// The part of `x` along `axis` that begins at `first` and fills `result`.
constexpr void take_part(const tensor& x, int axis, int64 first, tensor& result) {
  int64 at[3 * max_rank]{};
  const int rank = x.type.rank;
  for (int i = 0; i < rank; ++i) {
    at[i] = i == axis ? first : 0;
    at[rank + i] = result.type.extents[i].code;
    at[2 * rank + i] = 1;
  }
  slice({at, static_cast<size_t>(3 * rank)}, x, result);
}

}  // namespace detail

/// Runs `g` once on as many ranks as there are lists of values, one of each rank in order; what each of them gets. Throws as
/// `interpret` does, for no rank at all, and where a collective says that its group has another size.
constexpr vec<interpretation> interpret_ranks(const graph_view& g, view<view<named_tensor>> given, interpret_options options = {}) {
  const size_t count = given.size();
  if (count == 0) fail("interpret_ranks: 0 ranks; there is one at least");
  vec<detail::rank_run> runs;
  for (view<named_tensor> own : given) runs.push_back(detail::rank_run(g, own, options));
  vec<const tensor*> in;
  for (uint32 id = 0; id < g.size(); ++id) {
    const eqn& e = g[id];
    if (!is_collective(e.kind)) {
      for (detail::rank_run& run : runs) run.compute(id);
      continue;
    }
    if (const int64 ranks = ranks_of(g, id); ranks != 0 && ranks != static_cast<int64>(count))
      fail(text{} << "%" << id << ": " << name(e.kind) << ": the group \"" << g.name_of(id) << "\" has " << ranks << " ranks, and "
                  << count << " are interpreted");
    const float_environment environment(options.small);
    in.clear();
    for (const detail::rank_run& run : runs) in.push_back(run[g.first_operand(id)[0]]);
    const int axis = e.kind == op::all_reduce_sum ? 0 : static_cast<int>(g.attrs(e)[0]);
    tensor whole;
    if (e.kind == op::all_gather) {
      whole = tensor(runs[0].type(id));
      detail::concat(axis, in, whole);
    } else {
      whole = detail::sum_over_ranks(in);
    }
    for (size_t r = 0; r < count; ++r) {
      tensor result = whole;
      if (e.kind == op::reduce_scatter) {
        result = tensor(runs[r].type(id));
        detail::take_part(whole, axis, static_cast<int64>(r) * result.type.extents[axis].code, result);
      }
      runs[r].take(id, std::move(result));
    }
  }
  vec<interpretation> all;
  for (const detail::rank_run& run : runs) all.push_back(run.results());
  return all;
}

}  // namespace poot::ir
