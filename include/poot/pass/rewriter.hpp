#pragma once
/// What every pass is built from: a walk over a graph that copies, replaces or drops equations, and the record of it.

#include <poot/ir/graph.hpp>
#include <poot/pass/chain_decline.hpp>

namespace poot::pass {

using ir::eqn;
using ir::graph;
using ir::graph_view;
using ir::op;

/// Why a rewrite that would change rounding was not made. Each is an option; none is on by default.
enum class inexact : uint8 {
  reciprocal_division,  ///< x · (1 / y) as x / y
  factor_scalar,        ///< (x · s) @ w as (x @ w) · s
};

constexpr std::string_view explain(inexact reason) {
  switch (reason) {
    case inexact::reciprocal_division: return "reciprocal_division: x * recip(y) rounds twice, x / y once";
    case inexact::factor_scalar: return "factor_scalar: moving a factor across a contraction changes the rounding of every product";
  }
  return "";
}

/// A rewrite that was found and not made, with the equation of the traced graph that it would have replaced.
struct numerical_decline {
  uint32 origin = 0;
  inexact reason{};
  constexpr bool operator==(const numerical_decline&) const = default;
};

enum class pass_id : uint8 {
  canonicalise, cse, fold_iota, recognize_rope, recognize_attention, dce, recognize_packed, fold_widening_casts,
  split_argmax, split_attention, prepare_reductions,
};

constexpr std::string_view name(pass_id id) {
  switch (id) {
    case pass_id::canonicalise: return "canonicalise";
    case pass_id::cse: return "cse";
    case pass_id::fold_iota: return "fold_iota";
    case pass_id::recognize_rope: return "recognize_rope";
    case pass_id::recognize_attention: return "recognize_attention";
    case pass_id::dce: return "dce";
    case pass_id::recognize_packed: return "recognize_packed";
    case pass_id::fold_widening_casts: return "fold_widening_casts";
    case pass_id::split_argmax: return "split_argmax";
    case pass_id::split_attention: return "split_attention";
    case pass_id::prepare_reductions: return "prepare_reductions";
  }
  return "";
}

/// What the passes did: those that changed the graph, in order, and what they declined.
struct record {
  vec<pass_id> changed;
  vec<numerical_decline> numerical_declines;
  vec<chain_decline> chain_declines;
};

/// Rewrites a graph in place: a walk in order that keeps, replaces or drops each equation. The result's equations stand
/// before those still to be visited, because an equation becomes at most one; where nothing has changed yet, keeping one
/// touches nothing.
/// Requires: no two equations share a run of operands (`graph::append` never lets them).
class rewriter {
 public:
  constexpr explicit rewriter(graph source) : graph_(std::move(source)), both_(graph_), map_(graph_.size(), 0) {}

  /// Equations of the source; they are visited from 0 on.
  constexpr uint32 size() const { return static_cast<uint32>(map_.size()); }
  /// Equations of the result that are made, and of the source from the visited one on; likewise their operands.
  constexpr const graph_view& both() const { return both_; }
  constexpr const eqn& equation(uint32 id) const { return both_.eqns.first[id]; }
  constexpr view<uint32> operands(uint32 id) const {
    const ir::slice_of& in = both_.eqns.first[id].operands;
    return {both_.operand_pool.first + in.first, in.count};
  }
  /// The operands of an equation of the result, to be changed.
  constexpr uint32* operands_of_made(uint32 value) { return graph_.operand_pool.data() + graph_.eqns[value].operands.first; }
  /// Where the value of source equation `id` is now.
  constexpr uint32 operator[](uint32 id) const { return map_[id]; }

  /// Keeps source equation `id` with its operands renamed.
  constexpr uint32 copy(uint32 id) {
    const uint32 made = made_++;
    map_[id] = made;
    if (made == id && !changed_) return made;
    eqn* const eqns = graph_.eqns.data();
    if (made != id) eqns[made] = eqns[id];
    const uint32 count = eqns[made].operands.count;
    uint32* const in = graph_.operand_pool.data() + eqns[made].operands.first;
    const uint32* const map = map_.data();
    for (uint32 k = 0; k < count; ++k) in[k] = map[in[k]];
    return made;
  }
  /// Lets `id` of the source mean value `value` of the result.
  constexpr void replace(uint32 id, uint32 value) {
    map_[id] = value;
    changed_ = true;
  }
  /// Takes back the equation just made of `id`, and lets `id` mean `value`.
  constexpr void merge(uint32 id, uint32 value) {
    --made_;
    replace(id, value);
  }
  /// Appends `e` over `operands` (values of the result, not a part of its graph) in place of source equation `id`.
  constexpr uint32 emit(uint32 id, eqn e, view<uint32> operands) {
    e.origin = graph_.eqns[id].origin;
    const ir::slice_of own = graph_.eqns[id].operands;
    e.operands = {own.first, static_cast<uint32>(operands.size())};
    if (operands.size() <= own.count) {
      for (size_t k = 0; k < operands.size(); ++k) graph_.operand_pool[own.first + k] = operands[k];
    } else {
      e.operands.first = static_cast<uint32>(graph_.operand_pool.size());
      graph_.operand_pool.append(operands);
      both_.operand_pool = graph_.operand_pool;
    }
    graph_.eqns[made_] = e;
    replace(id, made_);
    return made_++;
  }
  constexpr ir::slice_of keep_attrs(view<int64> attrs) {
    const ir::slice_of kept = graph_.keep_attrs(attrs);
    both_.attr_pool = graph_.attr_pool;
    return kept;
  }
  constexpr void mark_changed() { changed_ = true; }

  /// Renames the outputs and hands the graph over, noting in `notes` whether anything changed.
  constexpr graph finish(record& notes, pass_id id) {
    graph_.eqns.truncate(made_);
    graph_.leaf_names = {};
    for (ir::graph_output& o : graph_.outputs) o.value = map_[o.value];
    if (changed_) notes.changed.push_back(id);
    return std::move(graph_);
  }

 private:
  graph graph_;
  graph_view both_;  ///< graph_, made anew only where a pool may have moved: its eqns never do
  vec<uint32> map_;
  uint32 made_ = 0;
  bool changed_ = false;
};

/// What `expanded` keeps as it is.
inline constexpr uint32 stays = 0xffffffffu;

/// A copy of `g` in which equations become several. `replace(to, id, operands)` appends those of `id` to `to`, over operands of `to`, and
/// returns the value that takes its place, or `stays`.
template <class Replace>
constexpr graph expanded(const graph& g, Replace replace) {
  const graph_view from = g;
  graph to;
  to.char_pool = g.char_pool;
  to.symbols = g.symbols;
  to.name = g.name;
  vec<uint32> map;
  for (uint32 id = 0; id < from.size(); ++id) {
    vec<uint32> in;
    for (uint32 operand : from.operands(id)) in.push_back(map[operand]);
    uint32 made = replace(to, id, in);
    if (made == stays) {
      made = to.append(from[id], in);
      to.eqns[made].attrs = to.keep_attrs(from.attrs(id));
    }
    map.push_back(made);
  }
  for (ir::graph_output o : g.outputs) {
    o.value = map[o.value];
    to.outputs.push_back(o);
  }
  return to;
}

constexpr bool is_commutative(op o) {
  return o == op::add || o == op::mul || o == op::max || o == op::min || o == op::eq || o == op::ne ||
         (o >= op::bit_and && o <= op::bit_xor);
}
/// Are the operands of a commutative op out of canonical order, which is constants last, else as they are defined?
constexpr bool stands_reversed(const graph_view& g, op o, uint32 first, uint32 second) {
  if (!is_commutative(o)) return false;
  const bool constant0 = g.is_scalar_constant(first), constant1 = g.is_scalar_constant(second);
  return constant0 != constant1 ? constant0 : first > second;
}

}  // namespace poot::pass
