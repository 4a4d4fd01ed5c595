#include <poot/ir/freeze.hpp>

#include <doctest/doctest.h>

using namespace poot;

namespace {

struct two_equations {
  template <ir::graph_sizes Capacity>
  using frozen = ir::frozen_graph<Capacity>;
  constexpr ir::graph operator()() const {
    ir::graph g("twice");
    const ir::value x = g.input("x", f32, {3});
    const uint32 in[2] = {x.id, x.id};
    g.add_output("y", g.apply(ir::op::add, {in, 2}));
    return g;
  }
};
template <size_t Eqns>
struct with_room_for : two_equations {
  static constexpr ir::graph_sizes capacity() { return {Eqns, 8, 8, 32, 4, 4}; }
};

constexpr ir::graph_sizes exact{2, 2, 0, 7, 1, 0};

}  // namespace

TEST_CASE("a_frozen_graph_shows_what_is_used_of_its_arrays") {
  constexpr const auto& g = ir::freeze<with_room_for<5>>;
  static_assert(g.eqns.size() == 5 && g.sizes == exact && ir::sizes_of(g.view()) == exact);
  static_assert(g.view()[1].kind == ir::op::add && g.view().chars(g.view().outputs[0].name) == "y");
  CHECK(g.view().chars(g.view().name) == "twice");
}

TEST_CASE("a_graph_that_outgrows_its_estimate_is_frozen_at_its_own_size") {
  constexpr const auto& g = ir::freeze<with_room_for<1>>;
  static_assert(g.eqns.size() == 2 && g.operand_pool.size() == 2 && ir::sizes_of(g.view()) == exact);
  static_assert(g.view()[1].kind == ir::op::add && g.view().name_of(0) == "x");
  CHECK(g.view().chars(g.view().name) == "twice");
}
