#include <poot/dsl/leaf.hpp>
#include <poot/dsl/reduction.hpp>

#include <unit/dsl/three_callers.hpp>

using poot::bf16, poot::f32, poot::f64, poot::i32, poot::type_of;

namespace {
constexpr auto x = poot::input<"x", f32, 2, 3, 5>;
static_assert(decltype(poot::sum(x))::result == type_of(f32, 2, 3, 1));
static_assert(decltype(poot::sum<0>(x))::result == type_of(f32, 1, 3, 5));
static_assert(decltype(poot::max<-2>(x))::result == type_of(f32, 2, 1, 5));
static_assert(decltype(poot::argmax(x))::result == type_of(i32, 2, 3, 1));
}  // namespace

TEST_CASE("reductions keep their axis, the last one by default") {
  three_callers::check([](auto v) { return poot::sum(v) + poot::max<0>(v) * poot::min<-2>(v); }, R"(
    %x : f32[2,3,5] = input "x"
    %0 : f32[2,3,1] = reduce_sum %x {axis=2}
    %1 : f32[1,3,5] = reduce_max %x {axis=0}
    %2 : f32[2,1,5] = reduce_min %x {axis=1}
    %3 : f32[2,3,5] = mul %1, %2
    %4 : f32[2,3,5] = add %0, %3
    output "y" = %4)", x);
  three_callers::check([](auto v) { return poot::argmax<1>(v); }, R"(
    %x : f32[2,3,5] = input "x"
    %0 : i32[2,1,5] = reduce_argmax %x {axis=1}
    output "y" = %0)", x);
}

TEST_CASE("the mean is a sum times the rounded reciprocal of the count") {
  // 1/5 rounded to f32 is 0x1.99999ap-3; 1/3 is 0x1.555556p-2.
  three_callers::check([](auto v) { return poot::mean(v) - poot::mean<1>(v); }, R"(
    %x : f32[2,3,5] = input "x"
    %0 : f32[2,3,1] = reduce_sum %x {axis=2}
    %1 : f32[2,3,1] = mul %0, f32(0x1.99999ap-3)
    %2 : f32[2,1,5] = reduce_sum %x {axis=1}
    %3 : f32[2,1,5] = mul %2, f32(0x1.555556p-2)
    %4 : f32[2,3,5] = sub %1, %3
    output "y" = %4)", x);
}

TEST_CASE("run-time axes, counted from the end when negative") {
  poot::graph g;
  const auto v = g.input("x", f32, {2, 3, 5});
  CHECK(poot::sum(v, 0).type() == type_of(f32, 1, 3, 5));
  CHECK(poot::max_along(v, -1).type() == type_of(f32, 2, 3, 1));
  CHECK(poot::min_along(v, 1).type() == type_of(f32, 2, 1, 5));
  CHECK(poot::argmax(v, -3).type() == type_of(i32, 1, 3, 5));
  CHECK(three_callers::refusal([&] { (void)poot::sum(v, 3); }).find("reduce_sum: operand 0 of (f32[2,3,5]): the axis must lie inside") == 0);
}

TEST_CASE("the mean is refused where there is no count or no float") {
  poot::graph g;
  const auto v = g.input("v", f32, {g.dynamic("L", 8)});
  const auto n = g.input("n", i32, {8});
  CHECK(three_callers::refusal([&] { (void)poot::mean(v); }).find("mean: the axis must not be dynamic") == 0);
  CHECK(three_callers::refusal([&] { (void)poot::mean(n); }) == "mean: the operand must be a float (use cast)");
  CHECK(three_callers::refusal([&] { (void)poot::mean<2>(n); }).find("mean: the axis") == 0);
}
