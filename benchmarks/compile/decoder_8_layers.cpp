// budget: under 300 MB, object 10 MB, twice the layers at most 2.3 times the steps
// Eight decoder layers as blocks, planned by the compiler, with debug information.
#include <poot/poot.hpp>

using poot::bf16, poot::f32, poot::i32;

constexpr auto x = poot::input<"x", f32, 1, 64>;
constexpr auto position = poot::input<"position", i32, 1>;
constexpr auto weights = poot::nn::decoder_weights{
    poot::weight<"blk.{}.attn_norm.weight", f32, 64>,        poot::weight<"blk.{}.attn_q.weight", bf16, 64, 64>,
    poot::weight<"blk.{}.attn_k.weight", bf16, 32, 64>,      poot::weight<"blk.{}.attn_v.weight", bf16, 32, 64>,
    poot::weight<"blk.{}.attn_output.weight", bf16, 64, 64>, poot::weight<"blk.{}.ffn_norm.weight", f32, 64>,
    poot::weight<"blk.{}.ffn_gate.weight", bf16, 96, 64>,    poot::weight<"blk.{}.ffn_up.weight", bf16, 96, 64>,
    poot::weight<"blk.{}.ffn_down.weight", bf16, 64, 96>};
constexpr auto keys = poot::state<"cache_k.{}", f32, 2, 32, 16>;
constexpr auto values = poot::state<"cache_v.{}", f32, 2, 32, 16>;
inline constexpr auto layer = [](auto h, auto, auto at, auto w, auto k, auto v) { return poot::nn::decoder_layer(h, at, w, k, v); };
constexpr auto y = poot::output<"y">(poot::repeat<8>(layer, x, position, weights, keys, values));

static_assert(poot::planned<y, poot::targets::host>.sections().size() > 0);
int main() {}
