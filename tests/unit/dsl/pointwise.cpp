#include <poot/dsl/leaf.hpp>
#include <poot/dsl/pointwise.hpp>

#include <unit/dsl/three_callers.hpp>

using namespace poot::literals;
using poot::bf16, poot::f32, poot::i32, poot::type_of;

namespace {
constexpr auto a = poot::input<"a", f32, 2, 1, 3>;
constexpr auto b = poot::input<"b", f32, 4, 1>;
constexpr auto k = poot::input<"k", i32, 3>;

static_assert(decltype(a + b)::result == type_of(f32, 2, 4, 3));
static_assert(decltype(a < b)::result == type_of(i32, 2, 4, 3));
static_assert(decltype(poot::cast<bf16>(a))::result == type_of(bf16, 2, 1, 3));
static_assert(std::is_empty_v<decltype(a + b)>);
}  // namespace

TEST_CASE("every operator and function names its op, for all callers") {
  three_callers::check([](auto x, auto y) { return -(x + y) * x - y / x; }, R"(
    %a : f32[2,1,3] = input "a"
    %b : f32[4,1] = input "b"
    %0 : f32[2,4,3] = add %a, %b
    %1 : f32[2,4,3] = neg %0
    %2 : f32[2,4,3] = mul %1, %a
    %3 : f32[2,4,3] = div %b, %a
    %4 : f32[2,4,3] = sub %2, %3
    output "y" = %4)", a, b);
  three_callers::check([](auto x, auto y) {
    return poot::exp(poot::log(poot::sqrt(poot::recip(poot::sin(poot::cos(poot::tanh(poot::erf(poot::abs(poot::floor(
        poot::max(x, poot::min(y, poot::pow(x, y)))))))))))));
  }, R"(
    %a : f32[2,1,3] = input "a"
    %b : f32[4,1] = input "b"
    %p : f32[2,4,3] = pow %a, %b
    %n : f32[2,4,3] = min %b, %p
    %0 : f32[2,4,3] = max %a, %n
    %1 : f32[2,4,3] = floor %0
    %2 : f32[2,4,3] = abs %1
    %3 : f32[2,4,3] = erf %2
    %4 : f32[2,4,3] = tanh %3
    %5 : f32[2,4,3] = cos %4
    %6 : f32[2,4,3] = sin %5
    %7 : f32[2,4,3] = recip %6
    %8 : f32[2,4,3] = sqrt %7
    %9 : f32[2,4,3] = log %8
    %10 : f32[2,4,3] = exp %9
    output "y" = %10)", a, b);
  three_callers::check([](auto x) { return ~((x & 6_i) | (x ^ 5_i)) << 2_i >> 1_i; }, R"(
    %k : i32[3] = input "k"
    %0 : i32[3] = and %k, i32(6)
    %1 : i32[3] = xor %k, i32(5)
    %2 : i32[3] = or %0, %1
    %3 : i32[3] = not %2
    %4 : i32[3] = shl %3, i32(2)
    %5 : i32[3] = shr %4, i32(1)
    output "y" = %5)", k);
  three_callers::check([](auto x, auto y) {
    return (x < y) + (x <= y) + (x > y) + (x >= y) + poot::eq(x, y) + poot::ne(x, y);
  }, R"(
    %a : f32[2,1,3] = input "a"
    %b : f32[4,1] = input "b"
    %0 : i32[2,4,3] = lt %a, %b
    %1 : i32[2,4,3] = le %a, %b
    %2 : i32[2,4,3] = add %0, %1
    %3 : i32[2,4,3] = gt %a, %b
    %4 : i32[2,4,3] = add %2, %3
    %5 : i32[2,4,3] = ge %a, %b
    %6 : i32[2,4,3] = add %4, %5
    %7 : i32[2,4,3] = eq %a, %b
    %8 : i32[2,4,3] = add %6, %7
    %9 : i32[2,4,3] = ne %a, %b
    %10 : i32[2,4,3] = add %8, %9
    output "y" = %10)", a, b);
}

TEST_CASE("the reciprocal root is two equations") {
  three_callers::check([](auto x) { return poot::rsqrt(x); }, R"(
    %b : f32[4,1] = input "b"
    %0 : f32[4,1] = sqrt %b
    %1 : f32[4,1] = recip %0
    output "y" = %1)", b);
}

TEST_CASE("select takes numbers on either side") {
  three_callers::check([](auto c, auto x) { return poot::select(c, x, poot::number<-1>) + poot::select(c, poot::number<2>, x); }, R"(
    %k : i32[3] = input "k"
    %b : f32[4,1] = input "b"
    %0 : f32[4,3] = select %k, %b, f32(-1)
    %1 : f32[4,3] = select %k, f32(2), %b
    %2 : f32[4,3] = add %0, %1
    output "y" = %2)", k, b);
}

TEST_CASE("casts: stated, at run time, and to the type of another") {
  three_callers::check([](auto x) { return poot::cast<f32>(poot::cast<bf16>(x)); }, R"(
    %b : f32[4,1] = input "b"
    %0 : bf16[4,1] = cast %b
    %1 : f32[4,1] = cast %0
    output "y" = %1)", b);
  three_callers::check([](auto x, auto y) { return poot::cast_like(x, y) + poot::cast_like(y, y); }, R"(
    %k : i32[3] = input "k"
    %b : f32[4,1] = input "b"
    %0 : f32[3] = cast %k
    %1 : f32[4,3] = add %0, %b
    output "y" = %1)", k, b);
  poot::graph g;
  CHECK(poot::cast(g.input("x", f32, {3}), bf16).type() == type_of(bf16, 3));
}

TEST_CASE("a broken rule in a run-time graph is one sentence") {
  poot::graph g, h;
  const auto x = g.input("x", f32, {8, 4}), y = g.input("y", f32, {5}), z = h.input("z", f32, {4});
  CHECK(three_callers::refusal([&] { (void)(x * y); }).find("mul: operand 1 of (f32[8,4], f32[5]): extents") == 0);
  CHECK(three_callers::refusal([&] { (void)(x + poot::cast(x, bf16)); }).find("operands must have one element type") != std::string::npos);
  CHECK(three_callers::refusal([&] { (void)(x + z); }) ==
        "add: operand 1 stands in another graph than one before it: operands of one call must belong to one graph");
  CHECK(three_callers::refusal([&] { (void)poot::select(poot::eq(x, x), x, z); }).find("select: operand 2 stands in another graph") == 0);
}
