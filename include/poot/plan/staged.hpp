#pragma once
/// Several programs of one model, planned together: prefill and decode, say, which share weights and states.

#include <poot/plan/compile.hpp>

namespace poot::plan {

/// A graph under the name of its entry.
struct entry_graph {
  std::string_view name;
  graph_view graph;
};

/// A planned entry. `name` is the caller's text.
struct entry_program {
  std::string_view name;
  program planned;
};

/// Every entry of a model for one device. An executor loads it as it is: nothing is planned again.
struct staged {
  vec<entry_program> entries;
};

namespace detail {

/// Weights and states of one name are one thing: they must have one type in every entry.
constexpr void check_shared(const graph_view& a, std::string_view a_name, const graph_view& b, std::string_view b_name) {
  for (uint32 id = 0; id < b.size(); ++id) {
    const ir::op kind = b[id].kind;
    if (kind != ir::op::weight && kind != ir::op::state) continue;
    const uint32 other = a.find_leaf(b.name_of(id));
    if (other == a.size()) continue;
    if (a[other].kind == kind && a.type(other) == b.type(id)) continue;
    text message;
    message << "compile_staged: \"" << b.name_of(id) << "\" is " << ir::name(a[other].kind) << ' ';
    ir::write_type(message, a.type(other), a);
    message << " in entry \"" << a_name << "\" and " << ir::name(kind) << ' ';
    ir::write_type(message, b.type(id), b);
    fail(message << " in entry \"" << b_name << "\"; both must be the same");
  }
}

}  // namespace detail

/// Plans every entry for `where`. Throws `error` when entries disagree about a weight or a state they share.
constexpr staged compile_staged(view<entry_graph> graphs, const target& where, const options& wanted = {}) {
  staged s;
  for (size_t i = 0; i < graphs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (graphs[j].name == graphs[i].name) fail(text{} << "compile_staged: there are two entries \"" << graphs[i].name << '"');
      detail::check_shared(graphs[j].graph, graphs[j].name, graphs[i].graph, graphs[i].name);
    }
    s.entries.push_back({graphs[i].name, compile(graphs[i].graph, where, wanted)});
  }
  return s;
}

}  // namespace poot::plan
