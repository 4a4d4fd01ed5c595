#include <poot/dsl/block.hpp>

#include <unit/dsl/three_callers.hpp>

#include <poot/dsl/contraction.hpp>
#include <poot/dsl/reduction.hpp>

using namespace poot::literals;
using poot::bf16, poot::f32, poot::i32, poot::type_of;

namespace {
constexpr auto x = poot::input<"x", f32, 2, 4>;
constexpr auto w = poot::weight<"w", f32, 4>;

constexpr auto norm = [](auto v, auto gain) { return v * poot::rsqrt(poot::mean(v * v) + 1e-5_f) * gain; };
constexpr auto numbered_layer = [](auto v, auto i, auto gain) { return poot::matmul_t(v, poot::weight_at<"blk.{}.w", bf16, 4, 4>(i)) * gain; };
constexpr auto twice = poot::block(norm, poot::block(norm, x, w), w);
static_assert(decltype(twice)::result == type_of(f32, 2, 4));
static_assert(std::is_empty_v<decltype(twice)>);
static_assert(decltype(twice)::spelt == 5);  // itself, the inner block, x, and w in each
}  // namespace

TEST_CASE("nested blocks are the graph of the plain expression") {
  three_callers::check([](auto v, auto g) { return poot::block(norm, poot::block(norm, v, g), g); }, "", x, w);
  const poot::graph blocks = poot::trace(poot::output<"y">(twice)), plain = poot::trace(poot::output<"y">(norm(norm(x, w), w)));
  CHECK(three_callers::printed(blocks) == three_callers::printed(plain));
}

TEST_CASE("a block that is read twice stands in the graph once") {
  const poot::graph g = poot::trace(poot::output<"y">(twice * twice + poot::block(norm, x, w)));
  int roots = 0;
  for (const auto& e : g.eqns) roots += e.kind == poot::ir::op::sqrt;
  CHECK(roots == 2);
}

TEST_CASE("two functions of equal text and operands are two blocks") {
  constexpr auto plus = [](auto v) { return v + 1_f; };
  constexpr auto minus = [](auto v) { return v - 1_f; };
  three_callers::check_text(poot::trace(poot::output<"y">(poot::block(plus, x) * poot::block(minus, x))), R"(
    %x : f32[2,4] = input "x"
    %0 : f32[2,4] = add %x, f32(1)
    %1 : f32[2,4] = sub %x, f32(1)
    %2 : f32[2,4] = mul %0, %1
    output "y" = %2)");
}

TEST_CASE("several results come apart, for every caller") {
  constexpr auto whole = [](auto v) {
    const auto [a, b] = poot::block([](auto u) { return poot::results{u * 0.5_f, u + u}; }, v);
    return a - b;
  };
  three_callers::check(whole, R"(
    %x : f32[2,4] = input "x"
    %0 : f32[2,4] = mul %x, f32(0.5)
    %1 : f32[2,4] = add %x, %x
    %2 : f32[2,4] = sub %0, %1
    output "y" = %2)", x);
}

TEST_CASE("results are arguments, and so are bundles of your own") {
  constexpr auto mix = [](auto pair, auto v) { return poot::get<0>(pair) * poot::get<1>(pair) + v; };
  const auto y = poot::block(mix, poot::results{x, w}, x);
  three_callers::check_text(poot::trace(poot::output<"y">(y)), R"(
    %x : f32[2,4] = input "x"
    %w : f32[4] = weight "w"
    %0 : f32[2,4] = mul %x, %w
    %1 : f32[2,4] = add %0, %x
    output "y" = %1)");
}

TEST_CASE("a result that does not depend on the arguments") {
  three_callers::check([](auto v) { return poot::block([](auto) { return poot::weight<"w", f32, 4> + 1_f; }, v) * v; }, R"(
    %w : f32[4] = weight "w"
    %x : f32[2,4] = input "x"
    %0 : f32[4] = add %w, f32(1)
    %1 : f32[2,4] = mul %0, %x
    output "y" = %1)", x);
}

TEST_CASE("repeat numbers its calls and their weights") {
  constexpr auto model = [](auto v) { return poot::repeat<2>(numbered_layer, v, poot::weight<"blk.{}.gain", f32, 4>); };
  const char* const wanted = R"(
    %x : f32[2,4] = input "x"
    %w0 : bf16[4,4] = weight "blk.0.w"
    %0 : f32[2,4] = matmul %x, %w0 {transpose_b=1}
    %g0 : f32[4] = weight "blk.0.gain"
    %1 : f32[2,4] = mul %0, %g0
    %w1 : bf16[4,4] = weight "blk.1.w"
    %2 : f32[2,4] = matmul %1, %w1 {transpose_b=1}
    %g1 : f32[4] = weight "blk.1.gain"
    %3 : f32[2,4] = mul %2, %g1
    output "y" = %3)";
  three_callers::check(model, wanted, x);
}

namespace {
template <class A, class B>
struct two_weights {
  A a;
  B b;
};
}  // namespace

TEST_CASE("a struct of leaves is numbered and enters a block member by member") {
  constexpr auto layer = [](auto v, auto, auto t) { return v * t.a + t.b; };
  using tree = two_weights<std::remove_const_t<decltype(poot::weight<"{}.a", f32, 4>)>, std::remove_const_t<decltype(poot::weight<"{}.b", f32, 4>)>>;
  const auto y = poot::repeat<2>(layer, x, tree{});
  three_callers::check_text(poot::trace(poot::output<"y">(y)), R"(
    %x : f32[2,4] = input "x"
    %a0 : f32[4] = weight "0.a"
    %b0 : f32[4] = weight "0.b"
    %0 : f32[2,4] = mul %x, %a0
    %1 : f32[2,4] = add %0, %b0
    %a1 : f32[4] = weight "1.a"
    %b1 : f32[4] = weight "1.b"
    %2 : f32[2,4] = mul %1, %a1
    %3 : f32[2,4] = add %2, %b1
    output "y" = %3)");
}
