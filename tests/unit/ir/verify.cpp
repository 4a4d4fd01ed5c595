#include <poot/ir/verify.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace poot;
using namespace poot::ir;

namespace {

constexpr graph well_formed() {
  graph g;
  const uint32 x[1] = {g.input("x", f32, {2, 3}).id};
  const uint32 negative[1] = {g.apply(op::neg, {x, 1})};
  const int64 axis[1] = {1};
  g.add_output("y", g.apply(op::reduce_sum, {negative, 1}, {axis, 1}));
  return g;
}
static_assert(verify(well_formed()));

std::string refusal(const graph& g) {
  try {
    verify(g);
  } catch (const error& e) {
    return e.what();
  }
  return {};
}
bool contains(const std::string& s, std::string_view part) { return s.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("names the first equation that is not well formed") {
  CHECK(refusal(well_formed()).empty());
  {
    graph g = well_formed();
    g.operand_pool[0] = 1;
    const std::string message = refusal(g);
    for (const char* part : {"%1", "neg", "before it is defined"}) CHECK_MESSAGE(contains(message, part), message);
  }
  {
    graph g = well_formed();
    g.operand_pool[1] = 7;
    CHECK(contains(refusal(g), "%2: reduce_sum reads %7"));
  }
  {
    graph g = well_formed();
    g.eqns[2].type = type_of(f32, 2);
    const std::string message = refusal(g);
    for (const char* part : {"%2", "reduce_sum", "f32[2,1]", "f32[2]"}) CHECK_MESSAGE(contains(message, part), message);
  }
  {
    graph g = well_formed();
    g.eqns[1].type.element = bf16;
    CHECK(contains(refusal(g), "%1"));
  }
  {
    graph g = well_formed();
    g.attr_pool[0] = 2;
    const std::string message = refusal(g);
    for (const char* part : {"%2", "reduce_sum", "axis"}) CHECK_MESSAGE(contains(message, part), message);
  }
  {
    graph g = well_formed();
    g.eqns[1].kind = op::bit_not;
    CHECK(contains(refusal(g), "%1: not"));
  }
  {
    graph g = well_formed();
    g.outputs[0].value = 3;
    CHECK(contains(refusal(g), "\"y\""));
  }
}
