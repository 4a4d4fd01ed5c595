#pragma once
/// What every pass is built from: a walk over a graph that copies, replaces or drops equations, and the record of it.

#include <poot/ir/graph.hpp>

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
  canonicalise, cse, fold_iota, dce, recognize_packed, fold_widening_casts, prepare_reductions,
};

constexpr std::string_view name(pass_id id) {
  switch (id) {
    case pass_id::canonicalise: return "canonicalise";
    case pass_id::cse: return "cse";
    case pass_id::fold_iota: return "fold_iota";
    case pass_id::dce: return "dce";
    case pass_id::recognize_packed: return "recognize_packed";
    case pass_id::fold_widening_casts: return "fold_widening_casts";
    case pass_id::prepare_reductions: return "prepare_reductions";
  }
  return "";
}

/// What the passes did: those that changed the graph, in order, and the rewrites they declined.
struct record {
  vec<pass_id> changed;
  vec<numerical_decline> numerical_declines;
};

/// Builds the graph after a pass. Pools of attributes and names are shared with the source, so that copying an equation
/// copies only its operands.
class rewriter {
 public:
  constexpr explicit rewriter(const graph_view& source) : from(source), map_(source.size(), 0) {
    result_.eqns.reserve(source.size());
    result_.operand_pool.reserve(source.operand_pool.size());
    result_.attr_pool = vec<int64>(source.attr_pool);
    result_.char_pool = vec<char>(source.char_pool);
    result_.symbols = vec<ir::symbol>(source.symbols);
    result_.name = source.name;
  }

  const graph_view from;

  constexpr graph& result() { return result_; }
  constexpr graph_view built() const { return result_; }
  /// Where the value of source equation `id` is now.
  constexpr uint32 operator[](uint32 id) const { return map_[id]; }

  /// Copies source equation `id` with its operands renamed.
  constexpr uint32 copy(uint32 id) {
    const eqn& e = from[id];
    eqn made = e;
    made.operands = {static_cast<uint32>(result_.operand_pool.size()), e.operands.count};
    for (uint32 in : from.operands(e)) result_.operand_pool.push_back(map_[in]);
    result_.eqns.push_back(made);
    return map_[id] = static_cast<uint32>(result_.eqns.size() - 1);
  }
  /// Lets `id` of the source mean value `value` of the result.
  constexpr void replace(uint32 id, uint32 value) {
    map_[id] = value;
    changed_ = true;
  }
  /// Appends `e` over `operands` (values of the result) in place of source equation `id`.
  constexpr uint32 emit(uint32 id, eqn e, view<uint32> operands) {
    e.origin = from[id].origin;
    const uint32 made = result_.append(e, operands);
    replace(id, made);
    return made;
  }
  constexpr void mark_changed() { changed_ = true; }
  constexpr bool changed() const { return changed_; }

  /// Renames the outputs and hands the graph over, noting in `notes` whether anything changed.
  constexpr graph finish(record& notes, pass_id id) {
    result_.outputs.reserve(from.outputs.size());
    for (const ir::graph_output& o : from.outputs) result_.outputs.push_back({map_[o.value], o.name});
    if (changed_) notes.changed.push_back(id);
    return std::move(result_);
  }

 private:
  graph result_;
  vec<uint32> map_;
  bool changed_ = false;
};

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
