#pragma once
/// What a graph costs when its equations run one by one: dispatches, bytes alive, uses, floating-point operations.
/// Usable after any pass. Dynamic extents count at their bounds.

#include <poot/ir/graph.hpp>

namespace poot::ir {

/// Does running the graph unfused launch work for this equation? Not for leaves and constants, nor for a reshape, which
/// reads its operand's storage. (random_uniform is a leaf by class, but its values differ from run to run.)
constexpr bool is_dispatched(op o) {
  if (o == op::random_uniform) return true;
  return !is_leaf(o) && o != op::reshape;
}

/// Launches of one run without fusion.
constexpr int64 dispatch_count(const graph_view& g) {
  int64 count = 0;
  for (const eqn& e : g.eqns) count += is_dispatched(e.kind);
  return count;
}

/// How often each value is read on the way to an output: once per operand that names it, once per output.
constexpr vec<uint32> use_counts(const graph_view& g) {
  vec<uint32> counts(g.size(), 0);
  for (const graph_output& o : g.outputs) ++counts[o.value];
  for (uint32 id = static_cast<uint32>(g.size()); id-- > 0;) {
    if (counts[id] == 0) continue;
    for (uint32 in : g.operands(id)) ++counts[in];
  }
  return counts;
}

/// The value whose storage `id` reads: itself, or what a chain of reshapes starts from.
constexpr uint32 storage_of(const graph_view& g, uint32 id) {
  while (g[id].kind == op::reshape) id = g.operands(id)[0];
  return id;
}

/// The most bytes that computed values occupy at once when equations run in order: a value appears with its equation
/// and is freed after its last reader, while outputs stay to the end. Inputs, weights, states, constants and iotas
/// are not counted.
constexpr int64 peak_transient_bytes(const graph_view& g) {
  const uint32 count = static_cast<uint32>(g.size());
  vec<uint32> last(count, 0);  // by storage: the last equation that needs it
  for (uint32 id = 0; id < count; ++id) {
    last[storage_of(g, id)] = id;
    for (uint32 in : g.operands(id)) last[storage_of(g, in)] = id;
  }
  for (const graph_output& o : g.outputs) last[storage_of(g, o.value)] = count;
  vec<uint32> dying_next(count, count), dying(count, count);  // lists of the values that equation i frees
  int64 alive = 0, peak = 0;
  for (uint32 id = 0; id < count; ++id) {
    if (!is_dispatched(g[id].kind) || last[id] == count) continue;
    dying_next[id] = dying[last[id]];
    dying[last[id]] = id;
  }
  for (uint32 id = 0; id < count; ++id) {
    if (is_dispatched(g[id].kind)) alive += g.type(id).bytes();
    if (alive > peak) peak = alive;
    for (uint32 value = dying[id]; value != count; value = dying_next[value]) alive -= g.type(value).bytes();
  }
  return peak;
}

/// Operations of one equation: per element of the result; of reductions, contractions and attention per element read, a
/// multiplication and an addition being two.
constexpr int64 flops(const graph_view& g, uint32 id) {
  const eqn& e = g[id];
  const int64 each = row(e.kind).flops, results = e.type.element_count();
  if (each == 0) return 0;
  if (is_reduction(e.kind)) return each * g.type(g.operands(id)[0]).element_count();
  if (e.kind == op::attention_join) return each * g.type(g.operands(id)[0]).element_count();
  if (attends(e.kind)) {  // two contractions, and a row of exponentials for each of the queries
    const tensor_type &q = g.type(g.operands(id)[0]), &v = g.type(g.operands(id)[2]);
    const int64 scores = q.with(q.rank - 1, v.extents[v.rank - 2]).element_count();
    return scores * (each * (q.last().bound() + v.last().bound()) + row(op::exp).flops);
  }
  if (!is_contraction(e.kind)) return each * results;
  if (e.kind != op::conv2d) return each * results * g.type(g.operands(id)[0]).last().bound();
  const tensor_type& kernel = g.type(g.operands(id)[1]);  // [O, C/g, kh, kw]
  return each * results * kernel.extents[1].bound() * kernel.extents[2].bound() * kernel.extents[3].bound();
}

constexpr int64 flops(const graph_view& g) {
  int64 sum = 0;
  for (uint32 id = 0; id < g.size(); ++id) sum += flops(g, id);
  return sum;
}

}  // namespace poot::ir
