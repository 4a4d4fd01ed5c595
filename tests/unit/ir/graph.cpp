#include <poot/ir/graph.hpp>
#include <poot/ir/verify.hpp>

#include <support/refusal.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace poot;
using namespace poot::ir;
using poot_tests::refusal;

namespace {

bool contains(const std::string& s, std::string_view part) { return s.find(part) != std::string::npos; }

constexpr graph sum_of_squares() {
  graph g("sum_of_squares");
  const value x = g.input("x", f32, {8, g.dynamic("L", 64)});
  const uint32 twice[2] = {x.id, x.id};
  const uint32 square[1] = {g.apply(op::mul, {twice, 2})};
  const int64 axis[1] = {1};
  g.add_output("y", g.apply(op::reduce_sum, {square, 1}, {axis, 1}));
  return g;
}
static_assert([] {
  const graph g = sum_of_squares();
  const graph_view v = g;
  return v.size() == 3 && v.type(1) == v.type(0) && v.type(2) == type_of(f32, 8, 1) && v.operands(1) == view<uint32>(vec<uint32>{0, 0}) &&
         v.attrs(2)[0] == 1 && v.find_leaf("x") == 0 && v.find_leaf("y") == 3 && v.chars(v.name) == "sum_of_squares" &&
         v.chars(v.outputs[0].name) == "y" && v.outputs[0].value == 2 && verify(v);
}());

}  // namespace

TEST_CASE("spells types with the names of dynamic extents") {
  graph g;
  const value x = g.input("x", bf16, {g.dynamic("Length", 4096), 64});
  text with_names, without;
  write_type(with_names, x.type(), g);
  write_type(without, x.type());
  CHECK(std::string(with_names.str()) == "bf16[Length,64]");
  CHECK(std::string(without.str()) == "bf16[?<=4096,64]");
  text scalar;
  write_type(scalar, type_of(u8));
  CHECK(std::string(scalar.str()) == "u8[]");
}

TEST_CASE("gives a dynamic extent of one name one bound") {
  graph g;
  const extent first = g.dynamic("L", 16);
  CHECK(g.dynamic("L", 16) == first);
  CHECK(g.dynamic("M", 16) != first);
  CHECK(g.symbols.size() == 2);
  const std::string message = refusal([&] { g.dynamic("L", 17); });
  CHECK(contains(message, "L"));
  CHECK(contains(message, "17"));
  CHECK(contains(message, "16"));
  CHECK(contains(refusal([&] { g.dynamic("N", int64{1} << 31); }), "31 bits"));
  CHECK(contains(refusal([&] { g.dynamic("N", -1); }), "31 bits"));
}

TEST_CASE("names call, operands and rule when an equation is refused") {
  graph g;
  const uint32 x = g.input("x", f32, {3, 4}).id, y = g.input("y", f32, {3}).id;
  const uint32 in[2] = {x, y};
  const std::string message = refusal([&] { g.apply(op::add, {in, 2}); });
  for (const char* part : {"add", "operand 1", "f32[3,4]", "f32[3]", "equal or 1"}) CHECK_MESSAGE(contains(message, part), message);
  const std::string target = refusal([&] { g.apply(op::broadcast, {in, 1}, {}, type_of(f32, 4, 3)); });
  for (const char* part : {"broadcast", "f32[3,4]", "f32[4,3]"}) CHECK_MESSAGE(contains(target, part), target);
  const std::string block = refusal([&] { g.weight("blk.0.w", q4_0, {2, 48}); });
  for (const char* part : {"weight", "q4_0[2,48]", "32", "blk.0.w"}) CHECK_MESSAGE(contains(block, part), block);
  CHECK(g.size() == 2);  // nothing was added
}

TEST_CASE("refuses more operands than an op has, many of them too") {
  graph g;
  vec<uint32> in(20, g.input("x", f32, {2}).id);
  const int64 axis[1] = {0};
  CHECK(g.eqns[g.apply(op::concat, in, {axis, 1})].type == type_of(f32, 40));
  CHECK(contains(refusal([&] { g.apply(op::add, in); }), "number of operands"));
}

TEST_CASE("gives every input, weight and state its own name") {
  graph g;
  g.input("x", f32, {2});
  CHECK(contains(refusal([&] { g.input("x", f32, {2}); }), "\"x\""));
  CHECK(contains(refusal([&] { g.weight("x", f32, {2}); }), "taken"));
  CHECK(contains(refusal([&] { g.state("x", f32, {2}); }), "taken"));
  CHECK(contains(refusal([&] { g.input("deep", f32, {1, 1, 1, 1, 1, 1, 1}); }), "6 axes"));
}

TEST_CASE("takes an output with a state's name as its new value, of the same type") {
  graph g;
  const value s = g.state("cache", f32, {4}), x = g.input("x", f32, {2});
  g.output("cache", s);
  g.output("y", x);
  const std::string again = refusal([&] { g.output("y", s); });
  CHECK(contains(again, "\"y\""));
  graph other;
  const value old = other.state("cache", f32, {4}), wide = other.input("wide", f32, {2, 4});
  const std::string message = refusal([&] { other.output("cache", wide); });
  for (const char* part : {"cache", "f32[4]", "f32[2,4]"}) CHECK_MESSAGE(contains(message, part), message);
  CHECK(contains(refusal([&] { g.output("z", old); }), "another graph"));
}

TEST_CASE("keeps the bits of literals") {
  graph g;
  const uint32 id = g.literal(f32, 0x7fc00001);
  CHECK(g.view_of().is_scalar_constant(id));
  CHECK(g.view_of().attrs(id)[0] == 0x7fc00001);
  CHECK(g.eqns[id].type == type_of(f32));
  CHECK(g.view_of().find_symbol(1) == nullptr);
}

// 50,000 names one by one through all those before them would be a billion comparisons of text.
TEST_CASE("finds a name among many without looking at all of them") {
  name_index names;
  uint32 asked = 0;
  std::vector<std::string> items;
  for (uint32 i = 0; i < 50000; ++i) {
    const auto name_of = [&](uint32 k) { return ++asked, k % 3 == 2 ? std::string_view{} : std::string_view(items[k]); };
    const std::string next = "item." + std::to_string(i);
    CHECK(names.find(i, next, name_of) == i);
    items.push_back(next);
    if (i % 1000 == 0 && i % 3 != 2) CHECK(names.find(i + 1, next, name_of) == i);
    if (i % 1000 == 2 && i % 3 == 2) CHECK(names.find(i + 1, next, name_of) == i + 1);  // has no name
  }
  CHECK(asked < 50000u * 4 + name_index::indexed_from * name_index::indexed_from);
}

TEST_CASE("a graph of many weights and results keeps their names apart, after a pass too") {
  ir::graph g;
  for (int i = 0; i < 2000; ++i) {
    const value w = g.weight("w." + std::to_string(i), f32, {4});
    g.output("y." + std::to_string(i), w);
  }
  CHECK_THROWS_AS(g.weight("w.1999", f32, {4}), error);
  CHECK_THROWS_AS(g.input("w.3", f32, {4}), error);
  CHECK_THROWS_AS(g.output("y.700", {&g, 0}), error);
  const value s = g.state("s", f32, {4});
  CHECK_THROWS_AS(g.output("s", g.input("x", f32, {5})), error);  // another type than the state's
  g.output("s", s);
  CHECK(g.view_of().find_leaf("w.1234") == 1234);
}
