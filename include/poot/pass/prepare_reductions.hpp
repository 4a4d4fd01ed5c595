#pragma once
/// Sets the order of every sum (numerics.md, "Order of sums"). Nothing else does.
/// Requires: no later pass makes sums. Ensures: every reduce_sum over floats and every contraction carries its order.

#include <poot/pass/rewriter.hpp>

namespace poot::pass {

/// Partial sums and chunk of a float reduce_sum, elements.
inline constexpr ir::order row_order{256, 4096, false};
/// Chunk along K of a contraction, elements; `fused` is the target's.
inline constexpr ir::order contraction_order{1, 256, false};

/// In place. Returns whether an order has changed.
constexpr bool set_orders(vec<eqn>& eqns, bool fma_is_exact) {
  bool changed = false;
  for (eqn& made : eqns) {
    ir::order wanted{};
    if (made.kind == op::reduce_sum && is_float(made.type.element)) wanted = row_order;
    if (ir::is_contraction(made.kind)) {
      wanted = contraction_order;
      wanted.fused = fma_is_exact;
    }
    if (made.sum == wanted) continue;
    made.sum = wanted;
    changed = true;
  }
  return changed;
}

constexpr graph prepare_reductions(const graph_view& g, bool fma_is_exact, record& notes) {
  rewriter r(g);
  for (uint32 id = 0; id < g.size(); ++id) r.copy(id);
  if (set_orders(r.result().eqns, fma_is_exact)) r.mark_changed();
  return r.finish(notes, pass_id::prepare_reductions);
}

}  // namespace poot::pass
