#pragma once
/// The passes, in the one order in which every graph for every target goes through them.

#include <poot/core/target.hpp>
#include <poot/pass/canonicalise.hpp>
#include <poot/pass/cse.hpp>
#include <poot/pass/dce.hpp>
#include <poot/pass/fold_iota.hpp>
#include <poot/pass/fold_widening_casts.hpp>
#include <poot/pass/prepare_reductions.hpp>
#include <poot/pass/recognize_attention.hpp>
#include <poot/pass/recognize_packed.hpp>
#include <poot/pass/recognize_rope.hpp>
#include <poot/pass/split_argmax.hpp>
#include <poot/pass/split_attention.hpp>

namespace poot::pass {

/// A graph after the passes, with what they did.
struct prepared {
  graph optimized;
  record notes;
};

/// What a caller asks of the passes.
struct options {
  bool strict = false;        ///< recognise only what keeps every bit
  bool matrix_units = false;  ///< products that a matrix unit of the target can compute are left to its order of sums
  int64 split_keys = INT64_MAX;  ///< least bound of keys from which attention is split although it fits
};

/// Watches nothing.
struct no_watch {
  constexpr void operator()(const graph_view&, pass_id) const {}
};

/// Else `recognize_packed` has nothing to look for.
constexpr bool has_packed_values(const graph& g) {
  for (const eqn& e : g.eqns)
    if (is_packed(e.type.element)) return true;
  return false;
}

/// Lays the operands out in the order of the equations, without those of equations that are gone.
constexpr void close_gaps(graph& g) {
  vec<uint32> pool(g.operand_pool.size());
  const uint32* const from = g.operand_pool.data();
  uint32* const to = pool.data();
  uint32 end = 0;
  eqn* const eqns = g.eqns.data();
  for (size_t id = 0; id < g.eqns.size(); ++id) {
    ir::slice_of& operands = eqns[id].operands;
    for (uint32 k = 0; k < operands.count; ++k) to[end + k] = from[operands.first + k];
    operands.first = end;
    end += operands.count;
  }
  pool.truncate(end);
  g.operand_pool = std::move(pool);
}

/// Requires: a verified graph. Ensures: the same values, bit for bit where no attention was recognised, and every order set.
/// `watch` sees the graph after each pass. Throws `error` for an order of a
/// sum that no target keeps, and for one of a matrix unit that the target or a caller does not want.
template <class Watch = no_watch>
constexpr prepared run_passes(const graph_view& traced, const target& where, options wanted = {}, Watch watch = {}) {
  check_orders(traced);
  prepared p;
  graph g(traced);
  eqn* const eqns = g.eqns.data();
  for (uint32 id = 0, size = static_cast<uint32>(g.size()); id < size; ++id) eqns[id].origin = id;
  const auto made = [&](graph after, pass_id id) {
    g = std::move(after);
    watch(graph_view(g), id);
  };

  made(canonicalise(std::move(g), p.notes), pass_id::canonicalise);
  made(cse(std::move(g), p.notes), pass_id::cse);
  made(fold_iota(std::move(g), p.notes), pass_id::fold_iota);
  made(recognize_rope(std::move(g), where, p.notes), pass_id::recognize_rope);
  made(recognize_attention(std::move(g), where, wanted.strict, p.notes), pass_id::recognize_attention);
  made(dce(std::move(g), p.notes), pass_id::dce);
  const size_t before = p.notes.changed.size();
  if (has_packed_values(g)) made(recognize_packed(std::move(g), p.notes), pass_id::recognize_packed);
  else watch(graph_view(g), pass_id::recognize_packed);
  made(fold_widening_casts(std::move(g), p.notes), pass_id::fold_widening_casts);
  // casts and gathers that the two passes above folded into their readers
  if (p.notes.changed.size() > before) made(dce(std::move(g), p.notes), pass_id::dce);
  else watch(graph_view(g), pass_id::dce);
  made(split_argmax(std::move(g), where, p.notes), pass_id::split_argmax);
  check_matrix_units(g, where, wanted.matrix_units);
  made(split_attention(std::move(g), where, wanted.split_keys, p.notes), pass_id::split_attention);
  made(prepare_reductions(std::move(g), where, wanted.matrix_units, p.notes), pass_id::prepare_reductions);
  if (!p.notes.changed.empty()) close_gaps(g);
  p.optimized = std::move(g);
  return p;
}

}  // namespace poot::pass
