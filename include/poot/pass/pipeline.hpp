#pragma once
/// The passes, in the one order in which every graph for every target goes through them.

#include <poot/core/target.hpp>
#include <poot/pass/canonicalise.hpp>
#include <poot/pass/cse.hpp>
#include <poot/pass/dce.hpp>
#include <poot/pass/fold_iota.hpp>
#include <poot/pass/fold_widening_casts.hpp>
#include <poot/pass/prepare_reductions.hpp>
#include <poot/pass/recognize_packed.hpp>

namespace poot::pass {

/// A graph after the passes, with what they did.
struct prepared {
  graph optimized;
  record notes;
};

/// Requires: a verified graph. Ensures: the same values bit for bit, every order set.
constexpr prepared run_passes(const graph_view& traced, const target& where) {
  prepared p;
  graph g;
  g.eqns = vec<eqn>(traced.eqns);
  for (uint32 id = 0; id < g.eqns.size(); ++id) g.eqns[id].origin = id;
  graph_view numbered = traced;
  numbered.eqns = g.eqns;

  g = canonicalise(numbered, p.notes);
  g = cse(g, p.notes);
  g = fold_iota(g, p.notes);
  g = dce(g, p.notes);
  g = recognize_packed(g, p.notes);
  g = fold_widening_casts(g, p.notes);
  g = dce(g, p.notes);  // casts and gathers that the two passes above folded into their readers
  g = prepare_reductions(g, where.caps.fma_fused, p.notes);
  p.optimized = std::move(g);
  return p;
}

}  // namespace poot::pass
