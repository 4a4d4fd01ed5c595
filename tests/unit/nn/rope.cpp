#include <poot/nn/rope.hpp>

#include <unit/dsl/three_callers.hpp>

#include <poot/ir/interpret.hpp>

#include <cmath>

using poot::f32, poot::i32;

namespace {
constexpr auto x = poot::input<"x", f32, 2, 3, 8>;
constexpr auto at = poot::input<"at", i32, 3>;
template <poot::nn::rope_pairs Pairs>
constexpr auto turned = [](auto v, auto positions) {
  const auto tables = poot::nn::rope_tables(positions, v);
  return poot::nn::rope<Pairs>(v, poot::get<0>(tables), poot::get<1>(tables));
};

/// The definition: pair i of a head turns by position · 10000^(−2i/8).
template <poot::nn::rope_pairs Pairs>
void compare() {
  const poot::graph g = poot::trace(poot::output<"y">(turned<Pairs>(x, at)));
  const int positions[3] = {0, 5, 1000};
  poot::ir::tensor in(poot::type_of(f32, 2, 3, 8)), where(poot::type_of(i32, 3));
  for (size_t i = 0; i < 48; ++i) in.bits[i] = std::bit_cast<poot::uint32>(std::sin(static_cast<float>(i)));
  for (size_t i = 0; i < 3; ++i) where.bits[i] = static_cast<poot::uint64>(positions[i]);
  poot::vec<poot::ir::named_tensor> inputs;
  inputs.push_back({"x", in});
  inputs.push_back({"at", where});
  const auto out = poot::ir::interpret(g, inputs);
  const auto value = [](const poot::ir::tensor& t, size_t i) { return static_cast<double>(std::bit_cast<float>(static_cast<poot::uint32>(t.bits[i]))); };
  const poot::ir::tensor* y = poot::ir::find(out.outputs, "y");
  REQUIRE(y);
  for (size_t row = 0; row < 6; ++row)
    for (size_t i = 0; i < 4; ++i) {
      const bool halves = Pairs == poot::nn::rope_pairs::halves;
      const size_t first = row * 8 + (halves ? i : 2 * i), second = first + (halves ? 4 : 1);
      const double angle = positions[row % 3] * std::pow(10000.0, -2.0 * static_cast<double>(i) / 8);
      const double a = value(in, first), b = value(in, second);
      CHECK(std::fabs(value(*y, first) - (a * std::cos(angle) - b * std::sin(angle))) < 2e-4);
      CHECK(std::fabs(value(*y, second) - (a * std::sin(angle) + b * std::cos(angle))) < 2e-4);
    }
}
}  // namespace

TEST_CASE("both orders of pairs turn as defined") {
  compare<poot::nn::rope_pairs::halves>();
  compare<poot::nn::rope_pairs::adjacent>();
}

TEST_CASE("rope is the same for all callers") {
  three_callers::check(turned<poot::nn::rope_pairs::halves>, R"(
    %x : f32[2,3,8] = input "x"
    %at : i32[3] = input "at"
    %p : f32[3] = cast %at
    %c : f32[3,1] = reshape %p
    %i : i32[4] = iota {axis=0}
    %j : f32[4] = cast %i
    %e : f32[4] = mul %j, f32(-0.25)
    %b : f32[4] = pow f32(10000), %e
    %angle : f32[3,4] = mul %c, %b
    %cos : f32[3,4] = cos %angle
    %sin : f32[3,4] = sin %angle
    %lo : f32[2,3,4] = slice %x {start=[0,0,0] size=[2,3,4]}
    %hi : f32[2,3,4] = slice %x {start=[0,0,4] size=[2,3,4]}
    %0 : f32[2,3,4] = mul %lo, %cos
    %1 : f32[2,3,4] = mul %hi, %sin
    %2 : f32[2,3,4] = sub %0, %1
    %3 : f32[2,3,4] = mul %hi, %cos
    %4 : f32[2,3,4] = mul %lo, %sin
    %5 : f32[2,3,4] = add %3, %4
    %6 : f32[2,3,8] = concat %2, %5 {axis=2}
    output "y" = %6)", x, at);
  three_callers::check(turned<poot::nn::rope_pairs::adjacent>, "", x, at);
}

TEST_CASE("tables narrower than half a head leave the rest of it as it is") {
  const auto cos = poot::input<"cos", f32, 3, 2>;
  const auto sin = poot::input<"sin", f32, 3, 2>;
  three_callers::check([](auto a, auto c, auto s) { return poot::nn::rope(a, c, s); }, R"(
    %x : f32[2,3,8] = input "x"
    %cos : f32[3,2] = input "cos"
    %sin : f32[3,2] = input "sin"
    %lo : f32[2,3,2] = slice %x {start=[0,0,0] size=[2,3,2]}
    %hi : f32[2,3,2] = slice %x {start=[0,0,2] size=[2,3,2]}
    %rest : f32[2,3,4] = slice %x {start=[0,0,4] size=[2,3,4]}
    %0 : f32[2,3,2] = mul %lo, %cos
    %1 : f32[2,3,2] = mul %hi, %sin
    %2 : f32[2,3,2] = sub %0, %1
    %3 : f32[2,3,2] = mul %hi, %cos
    %4 : f32[2,3,2] = mul %lo, %sin
    %5 : f32[2,3,2] = add %3, %4
    %6 : f32[2,3,8] = concat %2, %5, %rest {axis=2}
    output "y" = %6)", x, cos, sin);
  three_callers::check([](auto a, auto c, auto s) { return poot::nn::rope<poot::nn::rope_pairs::adjacent>(a, c, s); }, R"(
    %x : f32[2,3,8] = input "x"
    %cos : f32[3,2] = input "cos"
    %sin : f32[3,2] = input "sin"
    %even : f32[2,3,2] = slice %x {start=[0,0,0] size=[2,3,2] step=[1,1,2]}
    %odd : f32[2,3,2] = slice %x {start=[0,0,1] size=[2,3,2] step=[1,1,2]}
    %rest : f32[2,3,4] = slice %x {start=[0,0,4] size=[2,3,4]}
    %0 : f32[2,3,2] = mul %even, %cos
    %1 : f32[2,3,2] = mul %odd, %sin
    %2 : f32[2,3,2] = sub %0, %1
    %3 : f32[2,3,2] = mul %odd, %cos
    %4 : f32[2,3,2] = mul %even, %sin
    %5 : f32[2,3,2] = add %3, %4
    %a : f32[2,3,2,1] = reshape %2
    %b : f32[2,3,2,1] = reshape %5
    %p : f32[2,3,2,2] = concat %a, %b {axis=3}
    %j : f32[2,3,4] = reshape %p
    %6 : f32[2,3,8] = concat %j, %rest {axis=2}
    output "y" = %6)", x, cos, sin);
}

TEST_CASE("scaled frequencies are products with the tables' own") {
  const auto scaled = [](auto a, auto p, auto divisors) {
    const auto tables = poot::nn::rope_tables_of(p, poot::nn::rope_frequencies(a) / divisors);
    return poot::nn::rope(a, poot::get<0>(tables), poot::get<1>(tables));
  };
  three_callers::check(scaled, "", x, at, poot::weight<"rope_freqs.weight", f32, 4>);
}

TEST_CASE("widths that are no numbers, and tables wider than the pairs of x, are refused by name") {
  using three_callers::refusal;
  poot::graph g;
  const poot::extent n = g.dynamic("N", 8);
  const auto v = g.input("v", f32, {4, 2, 6}), open = g.input("open", f32, {4, 2, n});
  const auto places = g.input("at", poot::i32, {2}), fits = g.input("c3", f32, {2, 3}), wide = g.input("c4", f32, {2, 4}), table = g.input("cn", f32, {2, n});
  const auto scalar = g.input("s", f32, {});
  const auto turned = [&](auto a, auto c, auto s) { return refusal([&] { (void)poot::nn::rope(a, c, s); }); };
  CHECK(turned(v, fits, fits).empty());
  CHECK(turned(v, wide, wide) == "rope: operand 1 of (f32[4,2,6], f32[2,4], f32[2,4]): the tables must be at most half as wide as x");
  CHECK(turned(v, table, table).find("rope: operand 1") == 0);
  CHECK(turned(v, fits, table).find("rope: operand 2") == 0);
  CHECK(turned(v, scalar, scalar).find("rope: operand 1") == 0);
  CHECK(turned(open, fits, fits).find("rope: operand 0 of (f32[4,2,N], ") == 0);
  CHECK(refusal([&] { (void)poot::nn::rope_tables(places, open); }).find("rope_frequencies: operand 0 of (f32[4,2,N]): ") == 0);
  for (poot::int64 width : {0, 1, 7}) {
    const auto odd = g.input("odd" + std::to_string(width), poot::f32, {4, 2, width});
    CHECK(refusal([&] { (void)poot::nn::rope_frequencies(odd); }).find("): the last extent must be even, and two at least") != std::string::npos);
  }
}
