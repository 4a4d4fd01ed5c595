#include <poot/dsl/movement.hpp>

#include <unit/dsl/three_callers.hpp>

using poot::f32, poot::i32, poot::q4_0, poot::type_of;

namespace {
constexpr auto x = poot::input<"x", f32, 2, 3, 4>;
}

TEST_CASE("reshape and broadcast to constant extents") {
  three_callers::check([](auto v) { return poot::broadcast(poot::reshape(v, poot::extents<6, 1, 4>), poot::extents<6, 5, 4>); }, R"(
    %x : f32[2,3,4] = input "x"
    %0 : f32[6,1,4] = reshape %x
    %1 : f32[6,5,4] = broadcast %0
    output "y" = %1)", x);
}

TEST_CASE("run-time extents, axes and bounds") {
  poot::graph g;
  const auto v = g.input("x", f32, {2, 3, 4});
  CHECK(poot::reshape(v, poot::shape{4, 6}).type() == type_of(f32, 4, 6));
  CHECK(poot::broadcast(v, poot::shape{7, 2, 3, 4}).type() == type_of(f32, 7, 2, 3, 4));
  CHECK(poot::transpose(v, {2, 0, 1}).type() == type_of(f32, 4, 2, 3));
  CHECK(poot::slice(v, -1, 1, 2).type() == type_of(f32, 2, 3, 2));
  CHECK(poot::gather(v, g.input("i", i32, {9}), 1).type() == type_of(f32, 2, 9, 4));
  CHECK(three_callers::refusal([&] { (void)poot::slice(v, 2, 1, 4); }).find("slice: operand 0 of (f32[2,3,4]): start + (size - 1) * step") == 0);
  CHECK(three_callers::refusal([&] { (void)poot::transpose(v, {0, 1}); }).find("perm must name every axis once") != std::string::npos);
  CHECK(three_callers::refusal([&] { (void)poot::shape{1, 1, 1, 1, 1, 1, 1}; }) == "shape: at most 6 axes");
}

TEST_CASE("an axis outside, a size below zero and axes beyond six are refused") {
  poot::graph g;
  const auto v = g.input("x", f32, {2, 3, 4}), deep = g.input("d", f32, {1, 2, 3, 4, 5, 6});
  const char* const outside = "slice: operand 0 of (f32[2,3,4]): the axis must lie inside the operand's rank";
  for (int axis : {5, 3, -4}) CHECK(three_callers::refusal([&] { (void)poot::slice(v, axis, 0, 1); }) == outside);
  CHECK(three_callers::refusal([&] { (void)poot::slice<3, 0, 1>(v); }) == outside);
  for (poot::int64 size : {poot::int64{-1}, poot::extent::dynamic("", 2).code})
    CHECK(three_callers::refusal([&] { (void)poot::slice(v, 0, 0, size); }) == "slice: (f32[2,3,4]): steps must be at least 1, starts and sizes at least 0");
  CHECK(three_callers::refusal([&] { (void)poot::transpose(deep, {5, 4, 3, 2, 1, 0, 0, 9}); }) ==
        "transpose: operand 0 of (f32[1,2,3,4,5,6]): perm must name every axis once");
  CHECK(g.size() == 2);
}

TEST_CASE("transposes: stated, and of the last two axes") {
  three_callers::check([](auto v) { return poot::transpose<1, 0, 2>(poot::transpose(v)); }, R"(
    %x : f32[2,3,4] = input "x"
    %0 : f32[2,4,3] = transpose %x {perm=[0,2,1]}
    %1 : f32[4,2,3] = transpose %0 {perm=[1,0,2]}
    output "y" = %1)", x);
}

TEST_CASE("slices take one axis in part and the others whole") {
  three_callers::check([](auto v) { return poot::slice<-1, 1, 2, 2>(poot::slice<0, 1, 1>(v)); }, R"(
    %x : f32[2,3,4] = input "x"
    %0 : f32[1,3,4] = slice %x {start=[1,0,0] size=[1,3,4]}
    %1 : f32[1,3,2] = slice %0 {start=[0,0,1] size=[1,3,2] step=[1,1,2]}
    output "y" = %1)", x);
}

TEST_CASE("concat, gather and dynamic_update_slice") {
  three_callers::check([](auto v) { return poot::concat<-1>(v, v, poot::slice<2, 0, 1>(v)); }, R"(
    %x : f32[2,3,4] = input "x"
    %0 : f32[2,3,1] = slice %x {start=[0,0,0] size=[2,3,1]}
    %1 : f32[2,3,9] = concat %x, %x, %0 {axis=2}
    output "y" = %1)", x);
  three_callers::check([](auto table, auto i) { return poot::cast<f32>(poot::gather(table, i)); }, R"(
    %t : q4_0[9,32] = weight "t"
    %i : i32[3,2] = input "i"
    %0 : q4_0[3,2,32] = gather %t, %i {axis=0}
    %1 : f32[3,2,32] = cast %0
    output "y" = %1)", poot::weight<"t", q4_0, 9, 32>, poot::input<"i", i32, 3, 2>);
  three_callers::check([](auto v, auto u, auto s) { return poot::dynamic_update_slice(v, u, s); }, R"(
    %x : f32[2,3,4] = input "x"
    %u : f32[1,3,2] = input "u"
    %s : i32[3] = input "s"
    %0 : f32[2,3,4] = dynamic_update_slice %x, %u, %s
    output "y" = %0)", x, poot::input<"u", f32, 1, 3, 2>, poot::input<"s", i32, 3>);
}

TEST_CASE("a dynamic extent passes through") {
  three_callers::check([](auto v) { return poot::broadcast(poot::reshape(v, poot::extents<poot::dyn<"L", 32>, 2, 2>), poot::extents<3, poot::dyn<"L", 32>, 2, 2>); }, R"(
    %v : f32[L<=32,4] = input "v"
    %0 : f32[L,2,2] = reshape %v
    %1 : f32[3,L,2,2] = broadcast %0
    output "y" = %1)", poot::input<"v", f32, poot::dyn<"L", 32>, 4>);
}
