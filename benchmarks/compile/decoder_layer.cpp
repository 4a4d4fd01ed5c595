// budget: 0.5 s over the headers, 500,000 steps
// A llama decoder layer with its caches, in primitives.
#include <poot/poot.hpp>

using poot::bf16, poot::f32, poot::i32;

constexpr auto x = poot::input<"x", f32, 1, 64>;
constexpr auto position = poot::input<"position", i32, 1>;
constexpr auto weights = poot::nn::decoder_weights{
    poot::weight<"attn_norm.weight", f32, 64>,        poot::weight<"attn_q.weight", bf16, 64, 64>,
    poot::weight<"attn_k.weight", bf16, 32, 64>,      poot::weight<"attn_v.weight", bf16, 32, 64>,
    poot::weight<"attn_output.weight", bf16, 64, 64>, poot::weight<"ffn_norm.weight", f32, 64>,
    poot::weight<"ffn_gate.weight", bf16, 96, 64>,    poot::weight<"ffn_up.weight", bf16, 96, 64>,
    poot::weight<"ffn_down.weight", bf16, 64, 96>};
constexpr auto keys = poot::state<"cache_k", f32, 2, 32, 16>;
constexpr auto values = poot::state<"cache_v", f32, 2, 32, 16>;
constexpr auto y = poot::output<"y">(poot::nn::decoder_layer(x, position, weights, keys, values));

static_assert(poot::planned<y, poot::targets::host>.dispatch_count() < 30);
int main() {}
