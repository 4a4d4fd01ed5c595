#pragma once
/// Drops equations that no output needs. Inputs, weights and states stay: they are the program's interface.
/// Requires: a verified graph. Ensures: every other equation is needed by an output.

#include <poot/pass/rewriter.hpp>

namespace poot::pass {

constexpr graph dce(graph g, record& notes) {
  const auto size = static_cast<uint32>(g.size());
  vec<uint8> needed(size, 0);
  uint8* const live = needed.data();
  const graph_view all = g;
  uint32 dead = 0;
  for (const ir::graph_output& o : g.outputs) live[o.value] = 1;
  for (uint32 id = size; id-- > 0;) {
    const eqn& e = all[id];
    if (!live[id] && !ir::is_named_leaf(e.kind)) {
      ++dead;
      continue;
    }
    live[id] = 1;
    const uint32* const in = all.first_operand(id);
    for (uint32 k = 0; k < e.operands.count; ++k) live[in[k]] = 1;
  }
  if (dead == 0) return g;
  rewriter r(std::move(g));
  for (uint32 id = 0; id < size; ++id)
    if (live[id]) r.copy(id);
  r.mark_changed();
  return r.finish(notes, pass_id::dce);
}

}  // namespace poot::pass
