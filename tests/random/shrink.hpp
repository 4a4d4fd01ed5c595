#pragma once
/// Makes a failing graph small: outputs are dropped and equations become inputs for as long as it fails.

#include "agreement.hpp"

#include <memory>

namespace poot_tests {

struct shrinker {
  /// The names in `values` view the characters of `failing`, which stay where they are.
  shrinker(ir::graph failing, const runs& values, uint64 variant_of_options)
      : source(std::move(failing)), g(source), given(values), variant(variant_of_options) {}

  const ir::graph source;
  ir::graph g;
  runs given;
  uint64 variant;
  std::string why{};

  void shrink() {
    why = disagreement(g, given, variant);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t k = g.outputs.size(); k-- > 0 && g.outputs.size() > 1;) changed |= keep(without_output(k), given);
      while (given.size() > 1 && keep(g, runs(given.begin(), given.end() - 1))) changed = true;
      for (uint32 id = static_cast<uint32>(g.size()); id-- > 0;) changed |= freeze(id);
    }
  }

 private:
  bool keep(ir::graph candidate, const runs& values) {
    const std::string still = disagreement(candidate, values, variant);
    if (still.empty() || (still.starts_with("refused") && !why.starts_with("refused"))) return false;
    g = std::move(candidate);
    given = values;
    why = still;
    return true;
  }

  ir::graph without_output(size_t k) const {
    ir::graph made = g;
    made.outputs.clear();
    for (size_t i = 0; i < g.outputs.size(); ++i)
      if (i != k) made.outputs.push_back(g.outputs[i]);
    return drop_unused(made);
  }

  /// Without what no output needs, leaves included.
  static ir::graph drop_unused(const ir::graph& from) {
    const ir::graph_view g = from;
    vec<uint8> live(g.size(), 0);
    for (const ir::graph_output& o : g.outputs) {
      live[o.value] = 1;
      if (const uint32 state = g.state_of(o); state < g.size()) live[state] = 1;
    }
    for (uint32 id = static_cast<uint32>(g.size()); id-- > 0;)
      for (uint32 in : g.operands(id)) live[in] |= live[id];
    pass::record notes;
    pass::rewriter r(from);
    for (uint32 id = 0; id < g.size(); ++id)
      if (live[id]) r.copy(id);
    return r.finish(notes, pass::pass_id::dce);
  }

  /// Equation `id` becomes an input that holds what the interpreter gave for it.
  bool freeze(uint32 id) {
    if (id >= g.size() || ir::is_leaf(g.eqns[id].kind)) return false;
    ir::graph probe = g;
    probe.outputs.push_back({id, probe.intern("probe")});
    runs values = given;
    const std::string name = "v" + std::to_string(id) + "_" + std::to_string(g.size());
    try {
      const std::vector<ir::interpretation> all = interpret_runs(probe, given);
      ir::graph made = g;
      made.eqns[id].kind = ir::op::input;
      made.eqns[id].operands = made.eqns[id].attrs = {};
      made.eqns[id].name = made.intern(name);
      names_.push_back(std::make_unique<std::string>(name));
      for (size_t k = 0; k < values.size(); ++k) values[k].push_back({*names_.back(), *ir::find(all[k].outputs, "probe")});
      return keep(drop_unused(made), values);
    } catch (const std::exception&) {
      return false;
    }
  }

  std::vector<std::unique_ptr<std::string>> names_{};
};

}  // namespace poot_tests
