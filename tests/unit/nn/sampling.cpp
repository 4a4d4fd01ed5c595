#include <poot/nn/sampling.hpp>

#include <unit/dsl/three_callers.hpp>

#include <poot/ir/interpret.hpp>

#include <cmath>
#include <vector>

using poot::f32, poot::u32;

TEST_CASE("sampling is an argmax of logits with noise") {
  three_callers::check([](auto x) { return poot::nn::greedy(x); }, R"(
    %x : f32[2,50] = input "x"
    %0 : i32[2,1] = reduce_argmax %x {axis=1}
    output "y" = %0)", poot::input<"x", f32, 2, 50>);
  three_callers::check([](auto x, auto t, auto seed, auto offset) { return poot::nn::gumbel_argmax(x, t, seed, offset); }, R"(
    %x : f32[2,50] = input "x"
    %t : f32[] = input "t"
    %seed : u32[] = input "seed"
    %offset : u32[] = input "offset"
    %0 : f32[2,50] = div %x, %t
    %1 : f32[2,50] = random_uniform %seed, %offset
    %2 : f32[2,50] = add %1, f32(2.9802322387695312e-08)
    %3 : f32[2,50] = log %2
    %4 : f32[2,50] = neg %3
    %5 : f32[2,50] = log %4
    %6 : f32[2,50] = neg %5
    %7 : f32[2,50] = add %0, %6
    %8 : i32[2,1] = reduce_argmax %7 {axis=1}
    output "y" = %8)", poot::input<"x", f32, 2, 50>, poot::scalar<"t">, poot::scalar<"seed", u32>, poot::scalar<"offset", u32>);
}

TEST_CASE("tokens are drawn as often as softmax says") {
  constexpr int tokens = 5, draws = 20000;
  poot::graph g;
  const auto seed = g.input("seed", u32, {}), offset = g.input("offset", u32, {});
  const auto logits = g.input("logits", f32, {draws, tokens});
  g.output("token", poot::nn::gumbel_argmax(logits, 0.5f, seed, offset));
  const float wanted[tokens] = {0.0f, 1.0f, -1.0f, 0.25f, 0.5f};
  const auto tensor = [](const poot::tensor_type& t, auto bits_of) {
    poot::ir::tensor x(t);
    for (size_t i = 0; i < x.bits.size(); ++i) x.bits[i] = bits_of(i);
    return x;
  };
  std::vector<double> chi_square;
  for (poot::uint32 at : {1u, 2u, 77u}) {
    const poot::vec<poot::ir::named_tensor> given{
        {"seed", tensor(seed.type(), [](size_t) { return 42u; })},
        {"offset", tensor(offset.type(), [&](size_t) { return at; })},
        {"logits", tensor(logits.type(), [&](size_t i) { return poot::ieee::to_bits(wanted[i % tokens]); })}};
    const auto drawn = poot::ir::interpret(g, given).outputs[0].value;
    int count[tokens]{};
    for (poot::uint64 token : drawn.bits) ++count[token];
    double sum = 0, distance = 0;
    for (float w : wanted) sum += std::exp(w / 0.5);
    for (int t = 0; t < tokens; ++t) {
      const double expected = draws * std::exp(wanted[t] / 0.5) / sum;
      distance += (count[t] - expected) * (count[t] - expected) / expected;
    }
    chi_square.push_back(distance);
  }
  // 4 degrees of freedom: above 18.5 once in a thousand
  for (double distance : chi_square) CHECK(distance < 18.5);
  CHECK(chi_square[0] != chi_square[1]);  // another offset draws other numbers
}

TEST_CASE("a row draws the same token alone and among others") {
  // element i of the noise depends on i alone, so row 0 of many is the row alone
  const auto tokens = [](int rows) {
    poot::graph g;
    const auto x = g.input("x", f32, {rows, 300});
    g.output("y", poot::nn::gumbel_argmax(x, 1.0f, g.input("s", u32, {}), g.input("o", u32, {})));
    poot::ir::tensor logits(x.type()), zero(poot::type_of(u32));
    for (size_t i = 0; i < logits.bits.size(); ++i) logits.bits[i] = poot::ieee::to_bits(static_cast<float>(i % 7) * 0.1f);
    return poot::ir::interpret(g, poot::vec<poot::ir::named_tensor>{{"x", logits}, {"s", zero}, {"o", zero}}).outputs[0].value.bits;
  };
  CHECK(tokens(1)[0] == tokens(5)[0]);
  CHECK(tokens(5)[1] != tokens(5)[0]);
}
