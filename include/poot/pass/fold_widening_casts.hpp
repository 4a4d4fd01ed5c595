#pragma once
/// A contraction reads narrow floats itself: widening to f32 is exact, and products accumulate in f32 either way.
/// Requires: casts in canonical form. Ensures: no matmul operand is a cast from f16 or bf16 to f32.
///   %1 : f32[64,64] = cast %w (bf16); %2 = matmul %x, %1   →   %2 = matmul %x, %w

#include <poot/pass/rewriter.hpp>

namespace poot::pass {

constexpr graph fold_widening_casts(const graph_view& g, record& notes) {
  rewriter r(g);
  for (uint32 id = 0; id < g.size(); ++id) {
    const uint32 made = r.copy(id);
    const op kind = g[id].kind;
    if (kind != op::matmul && kind != op::indexed_matmul && kind != op::packed_contraction) continue;
    graph& built = r.result();
    const uint32 first = built.eqns[made].operands.first;
    for (uint32 k = 0; k < 2; ++k) {
      const graph_view b = r.built();
      const eqn& operand = b[built.operand_pool[first + k]];
      if (operand.kind != op::cast || operand.type.element != dtype::f32) continue;
      const uint32 source = b.operands(operand)[0];
      if (!is_narrow(b.type(source).element)) continue;
      built.operand_pool[first + k] = source;
      r.mark_changed();
    }
  }
  return r.finish(notes, pass_id::fold_widening_casts);
}

}  // namespace poot::pass
