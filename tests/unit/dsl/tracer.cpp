#include <poot/dsl/tracer.hpp>

#include <unit/dsl/three_callers.hpp>

using poot::f32, poot::type_of;

TEST_CASE("two nodes with one key are two equations") {
  // Keys only find a place in the table; a collision must not merge what differs.
  using poot::dsl::description;
  description x, zero, one;
  x.kind = zero.kind = one.kind = poot::ir::op::input;
  x.type = zero.type = one.type = type_of(f32, 3);
  x.key = zero.key = one.key = 42;
  x.name = "x", zero.name = "zero", one.name = "one";
  poot::graph g;
  poot::dsl::tracer t(g);
  const poot::uint32 a = t.lower(&x), b = t.lower(&zero), c = t.lower(&one);
  CHECK(a != b);
  CHECK(b != c);
  CHECK(t.lower(&zero) == b);
  CHECK(g.size() == 3);
}

TEST_CASE("in a shared graph what is there is found by its content") {
  poot::graph g;
  const auto v = g.input("x", f32, {3});
  using leaf = std::remove_const_t<decltype(poot::input<"x", f32, 3>)>;
  CHECK(poot::dsl::tracer(g, true).lower(&leaf::node_description) == v.id);
  using number = std::remove_const_t<decltype(poot::literal_bits<f32, 7>)>;
  const poot::uint32 once = poot::dsl::tracer(g, true).lower(&number::node_description);
  CHECK(poot::dsl::tracer(g, true).lower(&number::node_description) == once);
}

TEST_CASE("many nodes are found again") {
  using poot::dsl::description;
  poot::vec<description> nodes(500);
  poot::vec<std::string> names;
  for (poot::uint32 i = 0; i < nodes.size(); ++i) names.push_back("n" + std::to_string(i));
  for (poot::uint32 i = 0; i < nodes.size(); ++i) {
    nodes[i].kind = poot::ir::op::weight;
    nodes[i].type = type_of(f32, 3);
    nodes[i].name = names[i];
    nodes[i].key = i % 7;
  }
  poot::graph g;
  poot::dsl::tracer t(g);
  for (const description& d : nodes) (void)t.lower(&d);
  for (poot::uint32 i = 0; i < nodes.size(); ++i) CHECK(t.lower(&nodes[i]) == i);
  CHECK(g.size() == nodes.size());
}
