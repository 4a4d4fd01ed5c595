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

/// Orders that a graph came with are set anew, for a target says which they are. One of a matrix unit is no exact one, so it does not
/// go in silence: throws `error` where `prepare_reductions` would not set it again.
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
    ir::order wanted{};
    if (made.kind == op::reduce_sum && is_float(made.type.element)) wanted = row_order;
    if (ir::is_contraction(made.kind) || ir::is_attention(made.kind)) {
      wanted = contraction_order;
      wanted.fused = where.caps.fma_fused;
      wanted.hardware = matrix_units && ir::fits_matrix_unit(g, id, where.caps);
    }
    if (made.sum == wanted) continue;
    made.sum = wanted;
    changed = true;
  }
  if (changed) notes.changed.push_back(pass_id::prepare_reductions);
  return g;
}

}  // namespace poot::pass
