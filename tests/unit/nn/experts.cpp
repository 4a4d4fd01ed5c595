#include <poot/nn/experts.hpp>

#include <unit/dsl/three_callers.hpp>

#include <poot/dsl/leaf.hpp>

using poot::f32;

namespace {
constexpr auto x = poot::input<"x", f32, 3, 4>;
constexpr auto p = poot::input<"p", f32, 3, 5>;
constexpr auto gate = poot::weight<"gate", f32, 5, 6, 4>;
constexpr auto up = poot::weight<"up", f32, 5, 6, 4>;
constexpr auto down = poot::weight<"down", f32, 5, 4, 6>;
}  // namespace

TEST_CASE("the greatest of a row is taken, and what is left has −inf in its place") {
  three_callers::check([](auto v) { return poot::get<2>(poot::nn::take_greatest(poot::get<2>(poot::nn::take_greatest(v)))); }, R"(
    %p : f32[3,5] = input "p"
    %i : i32[5] = iota {axis=0}
    %a : i32[3,1] = reduce_argmax %p {axis=1}
    %b : i32[3,5] = eq %i, %a
    %c : f32[3,5] = select %b, f32(-inf), %p
    %d : i32[3,1] = reduce_argmax %c {axis=1}
    %e : i32[3,5] = eq %i, %d
    %f : f32[3,5] = select %e, f32(-inf), %c
    output "y" = %f)", p);
}

TEST_CASE("a row goes through its own expert") {
  three_callers::check([](auto v, auto at, auto g, auto u, auto d) { return poot::nn::expert_mlp(v, at, g, u, d); }, R"(
    %x : f32[3,4] = input "x"
    %at : i32[3,1] = input "at"
    %gate : f32[5,6,4] = weight "gate"
    %up : f32[5,6,4] = weight "up"
    %down : f32[5,4,6] = weight "down"
    %i : i32[3] = reshape %at
    %0 : f32[3,6] = indexed_matmul %x, %gate, %i
    %1 : f32[3,6] = indexed_matmul %x, %up, %i
    %2 : f32[3,6] = neg %0
    %3 : f32[3,6] = exp %2
    %4 : f32[3,6] = add %3, f32(1)
    %5 : f32[3,6] = div %0, %4
    %6 : f32[3,6] = mul %5, %1
    %7 : f32[3,4] = indexed_matmul %6, %down, %i
    output "y" = %7)", x, poot::input<"at", poot::i32, 3, 1>, gate, up, down);
}

TEST_CASE("experts are mixed by probability, or by their share of it") {
  const auto mixed = [](auto v, auto q, auto g, auto u, auto d) { return poot::nn::routed_mlp<2, false>(v, q, g, u, d); };
  const auto shared = [](auto v, auto q, auto g, auto u, auto d) { return poot::nn::routed_mlp<2>(v, q, g, u, d); };
  three_callers::check(mixed, "", x, p, gate, up, down);
  three_callers::check(shared, "", x, p, gate, up, down);
  const auto by_hand = [](bool normalised) {
    return [normalised](auto v, auto q, auto g, auto u, auto d) {
      const auto first = poot::nn::take_greatest(q);
      const auto second = poot::nn::take_greatest(poot::get<2>(first));
      const auto a = poot::get<1>(first), b = poot::get<1>(second);
      const auto total = a + b;
      const auto y = poot::nn::expert_mlp(v, poot::get<0>(first), g, u, d), z = poot::nn::expert_mlp(v, poot::get<0>(second), g, u, d);
      return normalised ? y * (a / total) + z * (b / total) : y * a + z * b;
    };
  };
  const auto traced = [](auto f) {
    poot::graph g("model");
    poot::output<"y">(f(three_callers::value_of(g, x), three_callers::value_of(g, p), three_callers::value_of(g, gate), three_callers::value_of(g, up),
                        three_callers::value_of(g, down)));
    return three_callers::printed(poot::dsl::in_order_of_outputs(g));
  };
  CHECK(traced(mixed) == traced(by_hand(false)));
  CHECK(traced(shared) == traced(by_hand(true)));
}

TEST_CASE("more choices than experts, and weights of another number of them, are refused") {
  poot::graph g;
  const auto v = g.input("v", f32, {3, 4}), q = g.input("q", f32, {3, 5}), dynamic = g.input("n", f32, {3, g.dynamic("N", 5)});
  const auto a = g.weight("a", f32, {5, 6, 4}), b = g.weight("b", f32, {5, 4, 6}), fewer = g.weight("c", f32, {2, 6, 4});
  const auto refusal = [&](auto count, auto probability, auto other) {
    return three_callers::refusal([&] { (void)poot::nn::routed_mlp<decltype(count)::value>(v, probability, a, other, b); });
  };
  CHECK(refusal(poot::index<5>, q, a).empty());
  CHECK(refusal(poot::index<6>, q, a) == "routed_mlp: operand 0 of (f32[3,5], f32[5,6,4], f32[5,6,4], f32[5,4,6]): there must be at least as many experts as a row goes through");
  CHECK(refusal(poot::index<1>, q, fewer).find("routed_mlp: operand 2 of") == 0);
  CHECK(refusal(poot::index<1>, dynamic, a).find("routed_mlp: operand 0 of (f32[3,N]") == 0);
}
