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

/// Watches nothing.
struct no_watch {
  constexpr void operator()(const graph_view&, pass_id) const {}
};

/// Else `recognize_packed` would copy the graph as it is.
constexpr bool has_packed_values(const graph_view& g) {
  for (const eqn& e : g.eqns)
    if (is_packed(e.type.element)) return true;
  return false;
}

/// Requires: a verified graph. Ensures: the same values bit for bit, every order set. `watch` sees the graph after each pass.
template <class Watch = no_watch>
constexpr prepared run_passes(const graph_view& traced, const target& where, Watch watch = {}) {
  prepared p;
  graph g;
  g.eqns = vec<eqn>(traced.eqns);
  for (uint32 id = 0; id < g.eqns.size(); ++id) g.eqns[id].origin = id;
  graph_view numbered = traced;
  numbered.eqns = g.eqns;
  const auto made = [&](graph after, pass_id id) {
    g = std::move(after);
    watch(graph_view(g), id);
  };

  made(canonicalise(numbered, p.notes), pass_id::canonicalise);
  made(cse(g, p.notes), pass_id::cse);
  made(fold_iota(g, p.notes), pass_id::fold_iota);
  made(dce(g, p.notes), pass_id::dce);
  const size_t before = p.notes.changed.size();
  if (has_packed_values(g)) made(recognize_packed(g, p.notes), pass_id::recognize_packed);
  else watch(graph_view(g), pass_id::recognize_packed);
  made(fold_widening_casts(g, p.notes), pass_id::fold_widening_casts);
  // casts and gathers that the two passes above folded into their readers
  if (p.notes.changed.size() > before) made(dce(g, p.notes), pass_id::dce);
  else watch(graph_view(g), pass_id::dce);
  if (set_orders(g.eqns, where.caps.fma_fused)) p.notes.changed.push_back(pass_id::prepare_reductions);
  watch(graph_view(g), pass_id::prepare_reductions);
  p.optimized = std::move(g);
  return p;
}

}  // namespace poot::pass
