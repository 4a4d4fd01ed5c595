// Layers of families other than llama, typed, from the compositions of nn.
#include <poot/nn/decoder.hpp>
#include <poot/nn/experts.hpp>

#include <unit/dsl/three_callers.hpp>

#include <poot/pass/cse.hpp>
#include <poot/plan/planned.hpp>

using poot::f32, poot::i32;
namespace nn = poot::nn;

namespace {

constexpr auto x = poot::input<"x", f32, 1, 64>;
constexpr auto at = poot::input<"at", i32, 1>;

/// A sliding layer of Gemma 2: capped scores, a window, norms behind both branches.
constexpr auto gemma_layer = [](auto h, auto position) {
  const auto positions = nn::positions_of(h, position);
  const auto in = nn::rms_norm(h, poot::weight<"attn_norm", f32, 64>);
  const auto q = nn::split_heads(poot::matmul_t(in, poot::weight<"attn_q", f32, 64, 64>), poot::index<16>);
  const auto k = nn::split_heads(poot::matmul_t(in, poot::weight<"attn_k", f32, 32, 64>), poot::index<16>);
  const auto v = nn::split_heads(poot::matmul_t(in, poot::weight<"attn_v", f32, 32, 64>), poot::index<16>);
  const auto tables = nn::rope_tables(positions, q);
  const auto start = nn::cache_start(position);
  constexpr auto key_cache = poot::state<"keys", f32, 2, 48, 16>;
  constexpr auto value_cache = poot::state<"values", f32, 2, 48, 16>;
  const auto keys = poot::update(key_cache, nn::write_cache(key_cache, nn::rope(k, poot::get<0>(tables), poot::get<1>(tables)), start));
  const auto values = poot::update(value_cache, nn::write_cache(value_cache, v, start));
  const auto seen = nn::causal(poot::dsl::iota_from<nn::detail::keys_of>(keys), positions, poot::number<16>);
  const auto mixed = nn::attend(nn::rope(q, poot::get<0>(tables), poot::get<1>(tables)), nn::repeat_heads(keys, poot::index<4>),
                                nn::repeat_heads(values, poot::index<4>), seen, poot::number<0.25>, poot::number<50>);
  const auto attended = poot::matmul_t(nn::join_heads(mixed), poot::weight<"attn_output", f32, 64, 64>);
  const auto y = h + nn::rms_norm(attended, poot::weight<"post_attention_norm", f32, 64>);
  const auto fed = nn::gated_mlp<nn::gating::gelu_tanh>(nn::rms_norm(y, poot::weight<"ffn_norm", f32, 64>), poot::weight<"ffn_gate", f32, 96, 64>,
                                                        poot::weight<"ffn_up", f32, 96, 64>, poot::weight<"ffn_down", f32, 64, 96>);
  return y + nn::rms_norm(fed, poot::weight<"post_ffw_norm", f32, 64>);
};

/// A feed-forward layer of Qwen2-MoE: routed experts, and one that every token uses behind a gate.
constexpr auto expert_layer = [](auto h, auto) {
  const auto in = nn::rms_norm(h, poot::weight<"ffn_norm", f32, 64>);
  const auto probability = nn::softmax(poot::matmul_t(in, poot::weight<"ffn_gate_inp", f32, 8, 64>));
  const auto routed = nn::routed_mlp<2, false>(in, probability, poot::weight<"ffn_gate_exps", f32, 8, 32, 64>, poot::weight<"ffn_up_exps", f32, 8, 32, 64>,
                                               poot::weight<"ffn_down_exps", f32, 8, 64, 32>);
  const auto shared = nn::gated_mlp(in, poot::weight<"ffn_gate_shexp", f32, 48, 64>, poot::weight<"ffn_up_shexp", f32, 48, 64>, poot::weight<"ffn_down_shexp", f32, 64, 48>);
  return h + (routed + shared * nn::sigmoid(poot::matmul_t(in, poot::weight<"ffn_gate_inp_shexp", f32, 1, 64>)));
};

constexpr auto gemma = poot::output<"y">(poot::block(gemma_layer, x, at));
constexpr auto experts = poot::output<"y">(poot::block(expert_layer, x, at));

/// Attention and both rotations were recognised in the compiler's plan.
template <auto& Model>
consteval int count_of(poot::ir::op kind) {
  int n = 0;
  for (const auto& e : poot::planned<Model, poot::targets::host>.graph.eqns) n += e.kind == kind;
  return n;
}
static_assert(count_of<gemma>(poot::ir::op::attention) == 1);
static_assert(count_of<gemma>(poot::ir::op::rope) == 2);
static_assert(count_of<experts>(poot::ir::op::indexed_matmul) == 6);

/// The graphs of the typed model and of run-time values, without equations that occur twice: typed tables are nodes.
template <class Layer>
void check_values(const poot::graph& typed, Layer layer) {
  const auto merged = [](const poot::graph& g) {
    poot::pass::record notes;
    return three_callers::printed(poot::dsl::in_order_of_outputs(poot::pass::cse(poot::dsl::in_order_of_outputs(g), notes)));
  };
  poot::graph of_values("model");
  const auto h = three_callers::value_of(of_values, x);
  const auto position = three_callers::value_of(of_values, at);
  poot::output<"y">(layer(h, position));
  CHECK(merged(typed) == merged(of_values));
}

template <auto& Model>
void check_plan() {
  CHECK(poot::plan::compile(poot::trace(Model), poot::targets::host).dispatch_count() == poot::planned<Model, poot::targets::host>.dispatch_count());
}

}  // namespace

TEST_CASE("a sliding layer of gemma is the same typed and at run time") {
  check_values(poot::trace(gemma), gemma_layer);
  check_plan<gemma>();
}

TEST_CASE("experts beside a shared one are the same typed and at run time") {
  check_values(poot::trace(experts), expert_layer);
  check_plan<experts>();
}
