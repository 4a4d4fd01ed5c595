#include "before_after.hpp"

#include <poot/pass/dce.hpp>

using namespace before_after;

namespace {
constexpr auto dce = [](ir::graph g, pass::record& notes) { return pass::dce(std::move(g), notes); };
}

static_assert([] {
  pass::record notes;
  const ir::graph made = pass::dce(ir::parse("graph t {\n%x : f32[4] = input \"x\"\n%a : f32[4] = exp %x\n%b : f32[4] = neg %a\n%c : f32[4] = abs %x\noutput \"y\" = %c\n}"), notes);
  return made.size() == 2 && made.outputs[0].value == 1;
}());

TEST_CASE("drops chains that no output needs") {
  CHECK(after(dce, "%x : f32[4] = input \"x\"\n%a : f32[4] = exp %x\n%b : f32[4] = neg %a\n%c : f32[4] = abs %x\n%i : f32[4] = iota {axis=0}\noutput \"y\" = %c") ==
        normal("%x : f32[4] = input \"x\"\n%c : f32[4] = abs %x\noutput \"y\" = %c"));
}

TEST_CASE("keeps inputs, weights and states that nothing reads") {
  CHECK(unchanged(dce, "%x : f32[4] = input \"x\"\n%w : f32[4] = weight \"w\"\n%s : f32[4] = state \"s\"\n%a : f32[4] = iota {axis=0}\noutput \"y\" = %a"));
}

TEST_CASE("keeps the new value of a state") {
  CHECK(unchanged(dce, "%x : f32[4] = input \"x\"\n%s : f32[4] = state \"s\"\n%a : f32[4] = add %x, %s\noutput \"s\" = %a"));
}

TEST_CASE("keeps every bit of random graphs, and has nothing to do a second time") {
  const auto one_output = [](ir::graph g, pass::record& notes) { return pass::dce(std::move(g), notes); };
  for (int k = 0; k < 200; ++k) {
    poot_tests::fusion_draws d(3000 + static_cast<uint64>(k));
    ir::graph g = d.make(5 + d.below(25));
    g.outputs.truncate(g.outputs.size() > 2 ? 2 : g.outputs.size());
    pass::record notes, again;
    const ir::graph made = one_output(g, notes);
    INFO(printed(g));
    CHECK(ir::verify(made));
    CHECK(same_values(g, made, d.d));
    CHECK(notes.changed.empty() == (made.size() == g.size()));
    // every equation left is reached from an output, by a search of its own
    std::vector<bool> needed(made.size());
    std::vector<uint32> open;
    for (const ir::graph_output& o : made.outputs) open.push_back(o.value);
    while (!open.empty()) {
      const uint32 id = open.back();
      open.pop_back();
      if (needed[id]) continue;
      needed[id] = true;
      for (uint32 in : made.view_of().operands(id)) open.push_back(in);
    }
    for (uint32 id = 0; id < made.size(); ++id) CHECK((needed[id] || ir::is_named_leaf(made.eqns[id].kind)));
    pass::dce(made, again);
    CHECK(again.changed.empty());
  }
}
