#include <poot/plan/staged.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace poot;

/// y = x · w^T, and a state that keeps x.
constexpr ir::graph step(int64 rows, int64 width, dtype weights) {
  ir::graph g("step");
  const ir::value x = g.input("x", f32, {rows, width}), w = g.weight("w", weights, {3, width}), s = g.state("s", f32, {rows, width});
  const uint32 in[2] = {x.id, w.id}, sum[2] = {x.id, s.id};
  const int64 transposed[1] = {1};
  g.add_output("y", g.apply(ir::op::matmul, {in, 2}, {transposed, 1}, type_of(f32, rows, 3)));
  g.add_output("s", g.apply(ir::op::add, {sum, 2}));
  return g;
}

constexpr size_t entries_of_two_steps() {
  const ir::graph a = step(1, 8, f32), b = step(1, 8, f32);
  const plan::entry_graph graphs[] = {{"decode", a}, {"again", b}};
  return plan::compile_staged({graphs, 2}, targets::host).entries.size();
}
static_assert(entries_of_two_steps() == 2);

std::string refusal(const ir::graph& a, const ir::graph& b, std::string_view second = "prefill") {
  const plan::entry_graph graphs[] = {{"decode", a}, {second, b}};
  try {
    plan::compile_staged({graphs, 2}, targets::host);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("entries keep their names, and each has the plan it has alone") {
  const ir::graph a = step(1, 8, f32), b = step(1, 8, f32);
  const plan::entry_graph graphs[] = {{"decode", a}, {"again", b}};
  const plan::staged s = plan::compile_staged({graphs, 2}, targets::host);
  CHECK(s.entries[0].name == "decode");
  CHECK(s.entries[1].name == "again");
  CHECK(s.entries[0].planned.dispatch_count() == plan::compile(a, targets::host).dispatch_count());
}

TEST_CASE("entries that disagree about a shared weight or state are refused by name") {
  const std::string weight = refusal(step(1, 8, f32), step(1, 8, bf16));
  CHECK(weight.find("\"w\"") != std::string::npos);
  CHECK(weight.find("bf16[3,8]") != std::string::npos);
  CHECK(refusal(step(1, 8, f32), step(2, 8, f32)).find("\"s\"") != std::string::npos);
  CHECK(refusal(step(1, 8, f32), step(1, 8, f32)) == "");
}

TEST_CASE("two entries of one name are refused") {
  CHECK(refusal(step(1, 8, f32), step(1, 8, f32), "decode").find("\"decode\"") != std::string::npos);
}
