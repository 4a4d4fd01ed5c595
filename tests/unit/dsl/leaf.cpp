#include <poot/dsl/leaf.hpp>
#include <poot/dsl/pointwise.hpp>

#include <unit/dsl/three_callers.hpp>

using poot::bf16, poot::f32, poot::i32, poot::u32, poot::type_of;

namespace {
static_assert(decltype(poot::scalar<"temperature">)::result == type_of(f32));
static_assert(decltype(poot::scalar<"n", i32>)::result == type_of(i32));
static_assert(std::is_empty_v<decltype(poot::input<"x", f32, 8>)>);
static_assert(!std::is_same_v<decltype(poot::input<"x", f32, 8>), decltype(poot::weight<"x", f32, 8>)>);
static_assert(decltype(poot::weight_at<"blk.{}.wq", bf16, 4>(poot::index<12>))::leaf_name.view() == "blk.12.wq");
static_assert(decltype(poot::state_at<"{}.{}", bf16, 4>(poot::index<7>))::leaf_name.view() == "7.7");
static_assert(std::is_same_v<decltype(poot::iota<i32, 1, 2, 3>), decltype(poot::iota<i32, -1, 2, 3>)>);
}  // namespace

TEST_CASE("leaves that a body names itself are found by every caller") {
  three_callers::check([](auto v) { return v * poot::weight<"w", f32, 3> + poot::weight<"w", f32, 3> * poot::scalar<"s">; }, R"(
    %x : f32[2,3] = input "x"
    %w : f32[3] = weight "w"
    %s : f32[] = input "s"
    %0 : f32[2,3] = mul %x, %w
    %1 : f32[3] = mul %w, %s
    %2 : f32[2,3] = add %0, %1
    output "y" = %2)", poot::input<"x", f32, 2, 3>);
}

TEST_CASE("index tables, with dynamic extents too") {
  three_callers::check([](auto v) { return v + poot::iota<i32, 1, 2, 3>; }, R"(
    %x : i32[2,3] = input "x"
    %i : i32[2,3] = iota {axis=1}
    %0 : i32[2,3] = add %x, %i
    output "y" = %0)", poot::input<"x", i32, 2, 3>);
  three_callers::check([](auto v) { return v + poot::iota<i32, 0, poot::dyn<"T", 16>>; }, R"(
    %x : i32[T<=16] = input "x"
    %i : i32[T] = iota {axis=0}
    %0 : i32[T] = add %x, %i
    output "y" = %0)", poot::input<"x", i32, poot::dyn<"T", 16>>);
  poot::graph g;
  CHECK(poot::iota_in(g, i32, poot::shape{4, 5}, -1).type() == type_of(i32, 4, 5));
}

TEST_CASE("random numbers from a seed and an offset") {
  three_callers::check([](auto seed, auto offset) { return poot::random_uniform(seed, offset, poot::extents<4, 8>); }, R"(
    %seed : u32[] = input "seed"
    %offset : u32[] = input "offset"
    %0 : f32[4,8] = random_uniform %seed, %offset
    output "y" = %0)", poot::scalar<"seed", u32>, poot::scalar<"offset", u32>);
  poot::graph g;
  CHECK(poot::random_uniform(g.input("s", u32, {}), g.input("o", u32, {}), poot::shape{3}).type() == type_of(f32, 3));
}

TEST_CASE("one name with two types is an error") {
  constexpr auto twice = poot::input<"x", f32, 3> + poot::input<"x", f32, 1>;
  CHECK(three_callers::refusal([&] { (void)poot::trace(poot::output<"y">(twice)); }) ==
        "input \"x\": read as f32[1] here and as f32[3] (input) before");
  poot::graph g;
  const auto x = g.input("x", f32, {3});
  CHECK(three_callers::refusal([&] { (void)(x + poot::weight<"x", f32, 3>); }) != "");
}
