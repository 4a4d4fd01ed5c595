#include <poot/nn/decoder.hpp>

#include <unit/dsl/three_callers.hpp>

using poot::bf16, poot::f32, poot::i32;

namespace {
constexpr auto at = poot::input<"at", i32, 1>;
constexpr auto layer = [](auto h, auto position) {
  return poot::nn::decoder_layer(h, position, poot::nn::decoder_weights{
      poot::weight<"attn_norm", bf16, 32>, poot::weight<"attn_q", bf16, 32, 32>, poot::weight<"attn_k", bf16, 16, 32>,
      poot::weight<"attn_v", bf16, 16, 32>, poot::weight<"attn_output", bf16, 32, 32>, poot::weight<"ffn_norm", bf16, 32>,
      poot::weight<"ffn_gate", bf16, 48, 32>, poot::weight<"ffn_up", bf16, 48, 32>, poot::weight<"ffn_down", bf16, 32, 48>},
      poot::state<"keys", bf16, 2, 64, 8>, poot::state<"values", bf16, 2, 64, 8>);
};
}  // namespace

TEST_CASE("one model serves every number of rows") {
  constexpr auto rows = poot::input<"x", f32, poot::dyn<"T", 64>, 32>;
  three_callers::check(layer, "", rows, at);
  const poot::graph g = poot::trace(poot::output<"y">(poot::block(layer, rows, at)));
  CHECK(g.symbols.size() == 1);
  CHECK(g.eqns[g.outputs[2].value].type == decltype(rows)::result);
}
