#include "each_device.hpp"

#include <poot/dsl/pointwise.hpp>

#include <cmath>

using namespace poot;
using poot_tests::on_each_device;

namespace {

/// y = x + |c| + 1 of a table c, whose part without x is made when it is loaded.
graph table_added(float first) {
  graph g("table");
  vec<int64> bits;
  for (int i = 0; i < 4; ++i) bits.push_back(std::bit_cast<int32>(first - static_cast<float>(i)));
  const value c{&g, g.leaf(ir::op::constant, type_of(f32, 4), {bits.data(), bits.size()})}, one{&g, g.literal(f32, std::bit_cast<uint32>(1.0f))};
  g.output("y", g.input("x", f32, {4}) + (dsl::exp(c) + one));
  return g;
}

std::vector<float> run_with(const run::vulkan::device& d, float first) {
  auto session = d.load(compile(table_added(first), d.target()));
  REQUIRE(session.program().prologue.size() > 0);
  const float x[4]{};
  session.bind("x", read_only(x, f32, 4)).run();
  const auto* y = static_cast<const float*>(session.result("y").data);
  return {y, y + 4};
}

}  // namespace

TEST_CASE("what the prologue makes is kept on disk, and is that of the same tables only") {
  on_each_device([](const run::vulkan::device& d) {
    run::cache::from_environment().clear();
    const auto dispatches = [&](float first) {
      const auto before = d.counted();
      const std::vector<float> y = run_with(d, first);
      for (int i = 0; i < 4; ++i) CHECK(y[static_cast<size_t>(i)] == doctest::Approx(std::exp(first - static_cast<float>(i)) + 1));
      return d.counted().dispatches - before.dispatches;
    };
    CHECK(dispatches(1) == 2);
    CHECK(dispatches(1) == 1);
    CHECK(dispatches(2) == 2);
    CHECK(dispatches(2) == 1);
    CHECK(dispatches(1) == 1);
    for (const run::cache::entry& e : run::cache::from_environment().entries()) {  // each is corrupt now
      const std::string path = run::cache::from_environment().folder() + "/" + e.name;
      CHECK(::truncate(path.c_str(), e.bytes - 1) == 0);
    }
    CHECK(dispatches(1) == 2);
  });
}
