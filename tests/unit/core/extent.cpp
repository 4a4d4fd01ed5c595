// Counts below 0 are no extents: they are never taken for dynamic ones, and refusals print them as they were given.
#include <poot/dsl/movement.hpp>

#include <unit/dsl/three_callers.hpp>

#include <limits>

using poot::extent, poot::f32, poot::int64;

static_assert(extent(-1).is_negative() && extent(-0x80000000ll).is_negative() && extent(-0x80000001ll).is_negative());
static_assert(extent(std::numeric_limits<int64>::min()).is_negative() && extent(extent::dynamic("L", 8).code).is_negative());
static_assert(!extent::dynamic("L", 0).is_negative() && !extent::dynamic("L", 0x7fffffff).is_negative() && extent(0x7fffffffffffffff).code == 0x7fffffffffffffff);

TEST_CASE("an extent below 0 is refused, and printed as a count") {
  using three_callers::refusal;
  poot::graph g;
  CHECK(refusal([&] { (void)g.input("a", f32, {2, -1}); }) == "input: () to f32[2,-1]: extents must not be negative (\"a\")");
  for (int64 count : {std::numeric_limits<int64>::min(), int64{-0x80000001ll}, extent::dynamic("L", 8).code})
    CHECK(refusal([&] { (void)g.input("a", f32, {count}); }) == "input: () to f32[-2147483648]: extents must not be negative (\"a\")");
  const auto one = g.input("one", f32, {1});
  for (int64 count : {int64{-1}, std::numeric_limits<int64>::min()}) {
    CHECK(refusal([&] { (void)poot::broadcast(one, poot::shape{count}); }).find("extents must not be negative") != std::string::npos);
    CHECK(refusal([&] { (void)poot::reshape(one, poot::shape{count, count}); }).find("extents must not be negative") != std::string::npos);
  }
}
