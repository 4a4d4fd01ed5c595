#include <poot/dsl/leaf.hpp>
#include <poot/dsl/literal.hpp>
#include <poot/dsl/pointwise.hpp>

#include <unit/dsl/three_callers.hpp>

using namespace poot::literals;
using poot::bf16, poot::f16, poot::f32, poot::f64, poot::i32, poot::u32, poot::type_of;

namespace {
template <class L>
constexpr poot::uint64 bits(L) {
  return static_cast<poot::uint64>(L::bits[0]);
}
// Bits of IEEE numbers, from their definition.
static_assert(bits(1e-5_f) == 0x3727c5ac && bits(1_f) == 0x3f800000 && bits(0.1_f) == 0x3dcccccd);
static_assert(bits(16'777'217_f) == 0x4b800000);  // 2^24 + 1 is halfway: to even
static_assert(bits(0x1p-3_f) == 0x3e000000);
static_assert(bits(2147483647_i) == 0x7fffffff && bits(0x10_i) == 16 && bits(4294967295_u) == 0xffffffff);
static_assert(decltype(3_i)::result == type_of(i32) && decltype(3_u)::result == type_of(u32));
static_assert(std::is_empty_v<decltype(1e-5_f)>);
static_assert(std::is_same_v<decltype(1_f), decltype(1.0_f)>);

constexpr poot::dsl::encoded encode(poot::dtype t, auto v) { return poot::dsl::encode(t, v); }
static_assert(encode(bf16, 0.1).bits == 0x3dcd && encode(f16, 0.1).bits == 0x2e66 && encode(f64, 0.5).bits == 0x3fe0000000000000);
static_assert(encode(i32, -1).bits == 0xffffffff && encode(i32, -1).fits && !encode(u32, -1).fits && !encode(i32, 0.5).fits);
static_assert(encode(poot::i8, -128).fits && !encode(poot::i8, 128).fits && !encode(poot::boolean, 2).fits && encode(f32, 3).bits == 0x40400000);
// Beyond int64, and with more digits than a double has: rounded once, or refused.
static_assert(encode(f32, 18446744073709551615ull).bits == 0x5f800000 && encode(f64, 9223372036854775809ull).bits == 0x43e0000000000000);
static_assert(!encode(i32, 18446744073709551615ull).fits && !encode(u32, 18446744071562067968ull).fits && encode(u32, 4294967295ull).fits);
static_assert(!encode(i32, 1.0L + 0x1p-60L).fits && !encode(i32, 1e4000L).fits && encode(i32, -3.0L).bits == 0xfffffffd);
static_assert(encode(f32, 1.0L + 0x1p-24L + 0x1p-60L).bits == 0x3f800001 && encode(f32, -(1.0L + 0x1p-24L)).bits == 0xbf800000);
static_assert(encode(f64, 0x1p-1074L).bits == 1 && encode(f32, 1e4000L).bits == 0x7f800000 && encode(f64, -0.0L).bits == 0x8000000000000000u);

constexpr auto x = poot::input<"x", f32, 3>;
constexpr auto h = poot::input<"h", bf16, 3>;
}  // namespace

TEST_CASE("a literal's value is in its type") {
  three_callers::check([](auto v) { return 2_f * v + 1e-5_f; }, R"(
    %x : f32[3] = input "x"
    %0 : f32[3] = mul f32(2), %x
    %1 : f32[3] = add %0, f32(1e-5)
    output "y" = %1)", x);
}

TEST_CASE("a number takes the element type beside it") {
  three_callers::check([](auto v) { return v * poot::number<0.5> + poot::number<1>; }, R"(
    %h : bf16[3] = input "h"
    %0 : bf16[3] = mul %h, bf16(0.5)
    %1 : bf16[3] = add %0, bf16(1)
    output "y" = %1)", h);
}

TEST_CASE("C++ numbers beside typed tensors and values") {
  constexpr auto twice = [](auto v) { return v * 2.0f + 1.0f; };
  const poot::graph of_block = poot::trace(poot::output<"y">(poot::block(twice, x)));
  poot::graph of_values("model");
  poot::output<"y">(twice(three_callers::value_of(of_values, x)));
  three_callers::check_text(of_block, R"(
    %x : f32[3] = input "x"
    %0 : f32[3] = mul %x, f32(2)
    %1 : f32[3] = add %0, f32(1)
    output "y" = %1)");
  CHECK(three_callers::printed(poot::dsl::in_order_of_outputs(of_values)) == three_callers::printed(of_block));
  constexpr auto half = [](auto v) { return v + poot::constant<bf16>(0.1); };
  three_callers::check_text(poot::trace(poot::output<"y">(poot::block(half, h))), R"(
    %h : bf16[3] = input "h"
    %0 : bf16[3] = add %h, bf16(0.1)
    output "y" = %0)");
}

TEST_CASE("what would lose value is refused") {
  poot::graph g;
  const auto v = g.input("v", f32, {3});
  const auto n = g.input("n", i32, {3});
  const char* const wants = "mul: operand 1: a number beside a tensor of f32 must have exactly its type: write poot::constant<f32>(…)";
  CHECK(three_callers::refusal([&] { (void)(v * 2.0); }) == wants);
  CHECK(three_callers::refusal([&] { (void)(v * 2); }) == wants);
  CHECK(three_callers::refusal([&] { (void)(n + 2u); }) != "");
  CHECK(three_callers::refusal([&] { (void)(2u - n); }).find("sub: operand 0: a number beside a tensor of i32") == 0);
  CHECK(three_callers::refusal([&] { (void)poot::select(n, 2.0, v); }).find("select: operand 1: a number") == 0);
  CHECK(three_callers::refusal([&] { (void)(n + 2); }) == "");
  CHECK(three_callers::refusal([&] { (void)(n + poot::number<0.5>); }) == "number: i32 cannot hold this value");
  CHECK(three_callers::refusal([&] { (void)poot::constant<poot::u8>(256); }) == "constant: u8 cannot hold this value");
  CHECK(three_callers::refusal([&] { (void)poot::constant<i32>(18446744073709551615ull); }) == "constant: i32 cannot hold this value");
  CHECK(three_callers::refusal([&] { (void)(n + poot::number<9223372036854775808ull>); }) == "number: i32 cannot hold this value");
}

TEST_CASE("equal numbers are one constant") {
  poot::graph g;
  const auto v = g.input("v", f32, {3});
  (void)(v * 2.0f + 2.0f + 2_f);
  CHECK(g.size() == 5);
}
