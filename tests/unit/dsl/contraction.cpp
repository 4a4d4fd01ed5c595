#include <poot/dsl/contraction.hpp>
#include <poot/dsl/leaf.hpp>

#include <unit/dsl/three_callers.hpp>

using poot::bf16, poot::f16, poot::f32, poot::i32, poot::q8_0, poot::type_of;

namespace {
constexpr auto a = poot::input<"a", f32, 5, 2, 64>;
constexpr auto b = poot::weight<"b", bf16, 64, 3>;
constexpr auto w = poot::weight<"w", q8_0, 7, 64>;
constexpr auto h = poot::input<"h", bf16, 2, 64>;
static_assert(decltype(poot::matmul(a, b))::result == type_of(f32, 5, 2, 3));   // f32 where a is f32
static_assert(decltype(poot::matmul(h, b))::result == type_of(bf16, 2, 3));     // else a's
static_assert(decltype(poot::matmul<f32>(h, b))::result == type_of(f32, 2, 3)); // or as stated
static_assert(decltype(poot::matmul_t(a, w))::result == type_of(f32, 5, 2, 7));
static_assert(decltype(poot::matmul_t<f16>(a, w))::result == type_of(f16, 5, 2, 7));
}  // namespace

TEST_CASE("matmul in both orders") {
  three_callers::check([](auto x, auto y) { return poot::matmul(x, y); }, R"(
    %a : f32[5,2,64] = input "a"
    %b : bf16[64,3] = weight "b"
    %0 : f32[5,2,3] = matmul %a, %b
    output "y" = %0)", a, b);
  three_callers::check([](auto x, auto y) { return poot::matmul_t(x, y); }, R"(
    %a : f32[5,2,64] = input "a"
    %w : q8_0[7,64] = weight "w"
    %0 : f32[5,2,7] = matmul %a, %w {transpose_b=1}
    output "y" = %0)", a, w);
  three_callers::check([](auto x, auto y) { return poot::matmul<f32>(x, y); }, R"(
    %h : bf16[2,64] = input "h"
    %b : bf16[64,3] = weight "b"
    %0 : f32[2,3] = matmul %h, %b
    output "y" = %0)", h, b);
}

TEST_CASE("indexed matmul") {
  three_callers::check([](auto x, auto e, auto i) { return poot::indexed_matmul(x, e, i); }, R"(
    %x : bf16[4,64] = input "x"
    %e : q8_0[9,3,64] = weight "e"
    %i : i32[4] = input "i"
    %0 : bf16[4,3] = indexed_matmul %x, %e, %i
    output "y" = %0)", poot::input<"x", bf16, 4, 64>, poot::weight<"e", q8_0, 9, 3, 64>, poot::input<"i", i32, 4>);
}

TEST_CASE("convolution with constant options, with run-time options, and without") {
  constexpr auto x = poot::input<"x", f32, 2, 4, 9, 8>;
  constexpr auto k = poot::weight<"k", f32, 6, 2, 3, 3>;
  three_callers::check([](auto v, auto u) {
    return poot::conv2d(v, u, poot::conv<{.stride = {2, 1}, .pad = {1, 0, 2, 1}, .dilation = {1, 2}, .groups = 2}>);
  }, R"(
    %x : f32[2,4,9,8] = input "x"
    %k : f32[6,2,3,3] = weight "k"
    %0 : f32[2,6,4,7] = conv2d %x, %k {stride=[2,1] pad=[1,0,2,1] dilation=[1,2] groups=2}
    output "y" = %0)", x, k);
  three_callers::check([](auto v, auto u) { return poot::conv2d(v, u); }, R"(
    %x : f32[2,4,9,8] = input "x"
    %u : f32[6,4,3,3] = weight "u"
    %0 : f32[2,6,7,6] = conv2d %x, %u
    output "y" = %0)", x, poot::weight<"u", f32, 6, 4, 3, 3>);
  poot::graph g;
  const poot::conv_options same{.pad = {1, 1, 1, 1}};
  CHECK(poot::conv2d(g.input("x", f32, {1, 3, 8, 8}), g.weight("w", f32, {5, 3, 3, 3}), same).type() == type_of(f32, 1, 5, 8, 8));
}
