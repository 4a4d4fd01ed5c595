#pragma once
/// Which launches of a program have one kernel: those that are equal but for which values they read and write. Their
/// kernels need to be generated once; a layer's serves all layers.

#include <poot/core/hash.hpp>
#include <poot/plan/program.hpp>

#include <vector>

namespace poot::run {

/// Everything that a kernel is generated from, with the values that a launch touches numbered in the order of their
/// appearance: launches of equal facts have equal kernels.
struct launch_key {
  std::vector<int64> facts;
  std::vector<uint32> values;  ///< the value of each number

  launch_key(const plan::program_view& p, const plan::launch& l) {
    facts = {static_cast<int64>(l.kind), static_cast<int64>(l.body), static_cast<int64>(l.compares), l.chunks};
    for (const ir::slice_of list : {l.inputs, l.members, l.outputs}) {
      facts.push_back(list.count);
      for (uint32 id : p(list)) facts.push_back(number(id));
    }
    for (size_t i = 0; i < values.size(); ++i) describe(p, l, values[i]);  // grows as values lie in the memory of others
  }

 private:
  int64 number(uint32 value) {
    size_t i = 0;
    while (i < values.size() && values[i] != value) ++i;
    if (i == values.size()) values.push_back(value);
    return static_cast<int64>(i);
  }

  void describe(const plan::program_view& p, const plan::launch& l, uint32 id) {
    const ir::eqn& e = p.graph[id];
    facts.push_back(static_cast<int64>(e.kind));
    facts.push_back(static_cast<int64>(e.type.element) << 8 | e.type.rank);
    for (int i = 0; i < e.type.rank; ++i) facts.push_back(e.type.extents[i].code);
    facts.push_back(static_cast<int64>(e.sum.lanes) << 32 | static_cast<int64>(e.sum.chunk) << 2 | e.sum.hardware << 1 | e.sum.fused);
    facts.push_back(static_cast<int64>(reinterpret_cast<uintptr_t>(e.custom)));
    const plan::placement& at = p.placements[id];
    facts.push_back(static_cast<int64>(at.where));
    if (at.where == plan::place::view || at.where == plan::place::window || at.where == plan::place::state) facts.push_back(number(at.index));
    const view<int64> attrs = p.graph.attrs(e);
    facts.push_back(static_cast<int64>(attrs.size()));
    if (attrs.size() <= most_attrs)
      for (int64 a : attrs) facts.push_back(a);
    else
      facts.push_back(id);  // the elements of a table: equal tables are one value
    bool is_member = false;
    for (uint32 m : p(l.members)) is_member = is_member || m == id;
    if (!is_member) return;
    facts.push_back(e.operands.count);
    for (uint32 in : p.graph.operands(e)) facts.push_back(number(in));
  }

  static constexpr size_t most_attrs = 64;
};

}  // namespace poot::run
