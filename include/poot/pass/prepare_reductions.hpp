#pragma once
/// Sets the order of every sum (numerics.md, "Order of sums"). Nothing else does.
/// Requires: no later pass makes sums. Ensures: every reduce_sum over floats, every contraction and every attention
/// carries its order.

#include <poot/ir/matrix_unit.hpp>
#include <poot/pass/rewriter.hpp>

namespace poot::pass {

/// Partial sums and chunk of a float reduce_sum, elements.
inline constexpr ir::order row_order{256, 4096, false};
/// Chunk along K of a contraction, elements; `fused` is the target's.
inline constexpr ir::order contraction_order{1, 256, false};

/// The order in which a target adds what equation `id` sums; unset where it sums nothing, or whole numbers. `on_unit`: a matrix unit does.
constexpr ir::order order_on(const graph_view& g, uint32 id, const target& where, bool on_unit) {
  const eqn& e = g[id];
  if (e.kind == op::reduce_sum && is_float(e.type.element)) return row_order;
  if (!ir::is_contraction(e.kind) && !ir::is_attention(e.kind)) return {};
  ir::order wanted = contraction_order;
  wanted.fused = where.caps.fma_fused;
  wanted.hardware = on_unit;
  return wanted;
}

/// An order that a graph comes with says what its results are. Throws `error` where no target adds so: lanes and chunks are everywhere the
/// same. (Whether product and sum round once follows from the target.)
constexpr void check_orders(const graph_view& g) {
  for (uint32 id = 0; id < g.size(); ++id) {
    const ir::order said = g[id].sum;
    if (said.lanes == 0 && said.chunk == 0) continue;
    const ir::order wanted = order_on(g, id, {}, false);
    if (said.lanes == wanted.lanes && said.chunk == wanted.chunk) continue;
    fail(text{} << "%" << id << " (" << name(g[id].kind) << "): its order says lanes=" << said.lanes << " chunk=" << said.chunk
                << ", and programs add it in lanes=" << wanted.lanes << " chunk=" << wanted.chunk);
  }
}

/// An order of a matrix unit is no exact one, so it does not go in silence: throws `error` where `prepare_reductions` would not set it again.
constexpr void check_matrix_units(const graph_view& g, const target& where, bool matrix_units) {
  for (uint32 id = 0; id < g.size(); ++id) {
    if (!g[id].sum.hardware || (matrix_units && ir::fits_matrix_unit(g, id, where.caps))) continue;
    fail(text{} << "%" << g[id].origin << " (" << name(g[id].kind) << "): its order says hardware=1, and "
                << (matrix_units ? "the target has no matrix unit for it" : "options::matrix_units is off"));
  }
}

/// `matrix_units`: products that one of the target can compute are left to it.
constexpr graph prepare_reductions(graph g, const target& where, bool matrix_units, record& notes) {
  bool changed = false;
  for (uint32 id = 0; id < g.size(); ++id) {
    eqn& made = g.eqns[id];
    const ir::order wanted = order_on(g, id, where, matrix_units && ir::fits_matrix_unit(g, id, where.caps));
    if (made.sum == wanted) continue;
    made.sum = wanted;
    changed = true;
  }
  if (changed) notes.changed.push_back(pass_id::prepare_reductions);
  return g;
}

}  // namespace poot::pass
