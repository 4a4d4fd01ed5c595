#include <poot/nn/mlp.hpp>

#include <unit/dsl/three_callers.hpp>

#include <poot/dsl/leaf.hpp>

using poot::f32;

TEST_CASE("a gated perceptron") {
  three_callers::check([](auto x, auto g, auto u, auto d) { return poot::nn::gated_mlp(x, g, u, d); }, R"(
    %x : f32[1,16] = input "x"
    %g : f32[24,16] = weight "g"
    %u : f32[24,16] = weight "u"
    %d : f32[16,24] = weight "d"
    %0 : f32[1,24] = matmul %x, %g {transpose_b=1}
    %1 : f32[1,24] = matmul %x, %u {transpose_b=1}
    %2 : f32[1,24] = neg %0
    %3 : f32[1,24] = exp %2
    %4 : f32[1,24] = add %3, f32(1)
    %5 : f32[1,24] = div %0, %4
    %6 : f32[1,24] = mul %5, %1
    %7 : f32[1,16] = matmul %6, %d {transpose_b=1}
    output "y" = %7)", poot::input<"x", f32, 1, 16>, poot::weight<"g", f32, 24, 16>, poot::weight<"u", f32, 24, 16>, poot::weight<"d", f32, 16, 24>);
}

TEST_CASE("a perceptron with biases") {
  three_callers::check([](auto x, auto u, auto ub, auto d, auto db) { return poot::nn::mlp(x, u, ub, d, db); }, "",
                       poot::input<"x", f32, 2, 16>, poot::weight<"u", f32, 24, 16>, poot::weight<"ub", f32, 24>, poot::weight<"d", f32, 16, 24>, poot::weight<"db", f32, 16>);
}

TEST_CASE("a gate may go through gelu in its tanh form") {
  const auto x = poot::input<"x", f32, 1, 16>;
  const auto gate = poot::weight<"g", f32, 24, 16>;
  const auto up = poot::weight<"u", f32, 24, 16>;
  const auto down = poot::weight<"d", f32, 16, 24>;
  three_callers::check([](auto a, auto g, auto u, auto d) { return poot::nn::gated_mlp<poot::nn::gating::gelu_tanh>(a, g, u, d); }, "", x, gate, up, down);
  const auto by_hand = [](auto a, auto g, auto u, auto d) { return poot::matmul_t(poot::nn::geglu(poot::matmul_t(a, g), poot::matmul_t(a, u)), d); };
  CHECK(three_callers::printed(poot::trace(poot::output<"y">(poot::nn::gated_mlp<poot::nn::gating::gelu_tanh>(x, gate, up, down)))) ==
        three_callers::printed(poot::trace(poot::output<"y">(by_hand(x, gate, up, down)))));
}
