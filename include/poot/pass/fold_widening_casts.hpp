#pragma once
/// A contraction reads narrow floats itself: widening to f32 is exact, and products accumulate in f32 either way.
/// Requires: casts in canonical form. Ensures: no matmul operand is a cast from f16 or bf16 to f32.
///   %1 : f32[64,64] = cast %w (bf16); %2 = matmul %x, %1   →   %2 = matmul %x, %w

#include <poot/pass/rewriter.hpp>

namespace poot::pass {

constexpr graph fold_widening_casts(graph g, record& notes) {
  bool changed = false;
  for (const eqn& e : g.eqns) {
    if (e.kind != op::matmul && e.kind != op::indexed_matmul && e.kind != op::packed_contraction) continue;
    for (uint32 k = 0; k < 2; ++k) {
      uint32& in = g.operand_pool[e.operands.first + k];
      const eqn& operand = g.eqns[in];
      if (operand.kind != op::cast || operand.type.element != dtype::f32) continue;
      const uint32 source = g.operand_pool[operand.operands.first];
      if (!is_narrow(g.eqns[source].type.element)) continue;
      in = source;
      changed = true;
    }
  }
  if (changed) notes.changed.push_back(pass_id::fold_widening_casts);
  return g;
}

}  // namespace poot::pass
