#include <poot/ir/parse.hpp>
#include <poot/plan/compile.hpp>
#include <poot/plan/equal.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace poot;

namespace {

constexpr const char* source =
    "graph g {\n  %x : f32[T<=4,8] = input \"x\"\n  %w : f32[8,8] = weight \"w\"\n  %held : f32[4,8] = state \"held\"\n"
    "  %i : i32[8] = iota {axis=0}\n  %c : f32[8] = cast %i\n  %s : f32[8] = sin %c\n"
    "  %h : f32[T,8] = matmul %x, %w\n  %j : f32[T,8] = matmul %h, %w\n  %k : f32[T,8] = add %j, %s\n"
    "  %n : f32[4,8] = neg %held\n  output \"held\" = %n\n  output \"y\" = %k\n  output \"again\" = %x\n}\n";

plan::program made() { return plan::compile(ir::parse(source), targets::host); }

/// The part in which a program differs from itself after `change`, looked for from both sides.
template <class Change>
std::string found(Change change) {
  const plan::program a = made();
  plan::program b = made();
  change(b);
  const std::string_view there = plan::first_difference(a, b), back = plan::first_difference(b, a);
  CHECK(there == back);
  CHECK(plan::equal(a, b) == there.empty());
  return std::string(there);
}

constexpr plan::program in_constant() {
  return plan::compile(ir::parse("graph g {\n %x : f32[4] = input \"x\"\n %y : f32[4] = neg %x\n output \"y\" = %y\n}"), targets::host);
}

}  // namespace

static_assert(plan::equal(in_constant(), in_constant()));

TEST_CASE("a program equals another plan of the same graph") { CHECK(found([](plan::program&) {}).empty()); }

TEST_CASE("finds a change in every part") {
  using p = plan::program;
  REQUIRE(made().prologue.size() == 1);
  REQUIRE(made().declined.size() > 0);
  REQUIRE(made().copies.size() > 0);
  CHECK(found([](p& a) { a.planned_for.caps.max_buffers = 4; }) == "target");
  CHECK(found([](p& a) { a.planned_for.arch = architecture("zen"); }) == "target");
  CHECK(found([](p& a) { a.changed.push_back(pass::pass_id::cse); }) == "passes");
  CHECK(found([](p& a) { ++a.arena_bytes; }) == "memory");
  CHECK(found([](p& a) { ++a.unshared_bytes; }) == "memory");
  CHECK(found([](p& a) { ++a.table_bytes; }) == "memory");
  CHECK(found([](p& a) { ++a.prologue[0].flops; }) == "prologue");
  CHECK(found([](p& a) { a.launches.pop_back(); }) == "launches");
  CHECK(found([](p& a) { a.launches[0].kind = fuse::region_kind::row; }) == "launches");
  CHECK(found([](p& a) { a.launches[0].compares = plan::comparison::approximate; }) == "launches");
  CHECK(found([](p& a) { ++a.launches[0].bytes; }) == "launches");
  CHECK(found([](p& a) { ++a.launches[0].kernel; }) == "launches");
  CHECK(found([](p& a) { ++a.ids[a.launches[0].inputs.first]; }) == "launches");
  CHECK(found([](p& a) { ++a.copies[0].output; }) == "copies");
  CHECK(found([](p& a) { ++a.kernel_table[0].hash; }) == "kernels");
  CHECK(found([](p& a) { a.repeated.push_back({0, 1, 2}); }) == "sections");
  CHECK(found([](p& a) { ++a.placements[0].offset; }) == "placements");
  CHECK(found([](p& a) { a.declined[0].why = fuse::reason::cycle; }) == "declines");
  CHECK(found([](p& a) { a.declined_numerically.push_back({1, pass::inexact::factor_scalar}); }) == "numerical declines");
  CHECK(found([](p& a) { a.refused.push_back({1, plan::capability::f64_functions}); }) == "refusals");
  CHECK(found([](p& a) { ++a.graph.eqns.back().origin; }) == "graph");
  CHECK(found([](p& a) { a.graph.eqns[0].type.element = dtype::f16; }) == "graph");
  CHECK(found([](p& a) { a.graph.outputs[0].value = 0; }) == "graph");
}
