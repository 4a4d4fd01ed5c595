#pragma once
/// Drops equations that no output needs. Inputs, weights and states stay: they are the program's interface.
/// Requires: a verified graph. Ensures: every other equation is needed by an output.

#include <poot/pass/rewriter.hpp>

namespace poot::pass {

constexpr graph dce(const graph_view& g, record& notes) {
  const auto size = static_cast<uint32>(g.size());
  vec<uint8> live(size, 0);
  for (const ir::graph_output& o : g.outputs) live[o.value] = 1;
  for (uint32 id = size; id-- > 0;) {
    if (ir::is_named_leaf(g[id].kind)) live[id] = 1;
    if (!live[id]) continue;
    for (uint32 in : g.operands(id)) live[in] = 1;
  }
  rewriter r(g);
  for (uint32 id = 0; id < size; ++id) {
    if (live[id]) r.copy(id);
    else r.mark_changed();
  }
  return r.finish(notes, pass_id::dce);
}

}  // namespace poot::pass
