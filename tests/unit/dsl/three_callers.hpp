#pragma once
/// Calls one generic function with free nodes, inside a block and with run-time values, and compares the graphs.

#include <poot/dsl/pointwise.hpp>
#include <poot/dsl/trace.hpp>
#include <poot/ir/equal.hpp>
#include <poot/ir/parse.hpp>
#include <poot/ir/verify.hpp>

#include <support/refusal.hpp>

#include <doctest/doctest.h>

#include <string>

namespace three_callers {

using poot_tests::refusal;

/// The run-time value of a leaf.
template <class Leaf>
poot::value value_of(poot::graph& g, Leaf) {
  const auto& d = Leaf::node_description;
  for (const auto& s : d.symbols) g.dynamic(s.name, s.bound);
  return {&g, g.leaf(d.kind, d.type, {}, d.name)};
}

inline std::string printed(const poot::ir::graph_view& g) {
  const poot::text t = poot::ir::print(g);
  return std::string(t.str());
}

/// Compares with graph text written by hand; the order of its equations does not matter.
inline void check_text(const poot::ir::graph_view& got, const char* body) {
  const poot::graph wanted = poot::dsl::in_order_of_outputs(poot::ir::parse(std::string("graph model {\n") + body + "\n}\n"));
  CHECK(printed(got) == printed(wanted));
}

/// `f` of the leaves gives one tensor; all three callers must give the graph `body`.
template <class F, class... Leaf>
void check(F f, const char* body, Leaf... leaf) {
  const poot::graph of_nodes = poot::trace(poot::output<"y">(f(leaf...)));
  const poot::graph of_block = poot::trace(poot::output<"y">(poot::block(f, leaf...)));
  poot::graph of_values("model");
  poot::output<"y">(f(value_of(of_values, leaf)...));
  CHECK(poot::ir::verify(of_nodes));
  CHECK(poot::ir::verify(of_block));
  CHECK(poot::ir::verify(of_values));
  CHECK(printed(of_block) == printed(of_nodes));
  CHECK(printed(poot::dsl::in_order_of_outputs(of_values)) == printed(of_nodes));
  if (*body) check_text(of_nodes, body);
}

}  // namespace three_callers
