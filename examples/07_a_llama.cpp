/// Lesson 7: a llama. Layers are blocks, weights are numbered by layer, caches are states; the compiler plans the whole
/// decoder, and one step of it runs here on made-up weights, fused and one dispatch per equation.

#include <poot/poot.hpp>
#include <poot/run/host/device.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

using poot::bf16, poot::f32, poot::i32;

// Width 64, 4 heads of 16 that share 2 key and value heads, hidden 96, 32 positions, 128 tokens.
constexpr int layers = 3;
constexpr auto token = poot::input<"token", i32, 1>;
constexpr auto position = poot::input<"position", i32, 1>;
constexpr auto table = poot::weight<"token_embd.weight", f32, 128, 64>;
constexpr auto weights = poot::nn::decoder_weights{
    poot::weight<"blk.{}.attn_norm.weight", f32, 64>,      poot::weight<"blk.{}.attn_q.weight", bf16, 64, 64>,
    poot::weight<"blk.{}.attn_k.weight", bf16, 32, 64>,    poot::weight<"blk.{}.attn_v.weight", bf16, 32, 64>,
    poot::weight<"blk.{}.attn_output.weight", bf16, 64, 64>, poot::weight<"blk.{}.ffn_norm.weight", f32, 64>,
    poot::weight<"blk.{}.ffn_gate.weight", bf16, 96, 64>,  poot::weight<"blk.{}.ffn_up.weight", bf16, 96, 64>,
    poot::weight<"blk.{}.ffn_down.weight", bf16, 64, 96>};
constexpr auto keys = poot::state<"cache_k.{}", f32, 2, 32, 16>;
constexpr auto values = poot::state<"cache_v.{}", f32, 2, 32, 16>;

inline constexpr auto layer = [](auto x, auto, auto at, auto w, auto k, auto v) { return poot::nn::decoder_layer(x, at, w, k, v); };
inline constexpr auto head = [](auto x, auto gain, auto w) { return poot::matmul_t(poot::nn::rms_norm(x, gain), w); };

constexpr auto embedded = poot::gather(table, token);                                               // [1,64]
constexpr auto x = poot::repeat<layers>(layer, embedded, position, weights, keys, values);         // [1,64]
constexpr auto llama = poot::output<"logits">(poot::block(head, x, poot::weight<"output_norm.weight", f32, 64>, table));

constexpr auto& plan = poot::planned<llama, poot::targets::host>;
static_assert(plan.dispatch_count() == 6 * layers + 3);  // the embedding with the mask, the tables of the position, the head
static_assert(plan.sections()[0].times >= layers - 1);  // the first layer also makes what the others share

/// One step of `p` on weights made from their names; returns the logits.
std::vector<float> step(poot::plan::program p, int which) {
  auto session = poot::host().load(std::move(p));
  const auto g = session.program().graph;
  const poot::int32 id = which, at = 0;
  std::map<std::string, std::vector<poot::uint32>> arrays;
  for (poot::uint32 leaf = 0; leaf < g.size(); ++leaf) {
    if (g[leaf].kind != poot::ir::op::weight) continue;
    const poot::tensor_type t = g.type(leaf);
    std::vector<poot::uint32>& words = arrays[std::string(g.name_of(leaf))];
    words.resize(static_cast<size_t>(t.bytes()) / 4);
    poot::uint64 seed = poot::hash_text(g.name_of(leaf));
    for (poot::uint32& word : words) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      const auto sign = static_cast<poot::uint32>(seed >> 32) & 0x80008000u, low = static_cast<poot::uint32>(seed >> 40) & 0x7f;
      word = t.element == bf16 ? sign | 0x3d803d00u | low : (t.rank == 1 ? 0x3f800000u : (sign & 0x80000000u) | 0x3e000000u | low << 16);
    }
    session.bind(g.name_of(leaf), {words.data(), t});
  }
  session.bind("token", poot::read_only(&id, i32, 1)).bind("position", poot::read_only(&at, i32, 1)).run();
  const auto* logits = static_cast<const float*>(session.result("logits").data);
  return {logits, logits + 128};
}

int main() {
  const poot::plan::program unfused = poot::compile(poot::frozen<llama>.view(), poot::targets::host, {.fuse = false});
  std::printf("%zu equations; %zu dispatches unfused, %zu fused; %zu kernels; layer of %u dispatches, %u times\n", plan.graph.size(),
              unfused.dispatch_count(), plan.dispatch_count(), plan.kernels().size(), plan.sections()[0].length, plan.sections()[0].times);
  const std::vector<float> fused = step(poot::plan::instantiate<llama, poot::targets::host>(), 7), slow = step(unfused, 7);
  const bool same = std::memcmp(fused.data(), slow.data(), fused.size() * sizeof(float)) == 0;
  std::printf("logits %g %g %g …, %s\n", static_cast<double>(fused[0]), static_cast<double>(fused[1]), static_cast<double>(fused[2]),
              same ? "fused and unfused equal bit for bit" : "DIFFERENT");
  return same && std::isfinite(fused[0]) && fused[0] != fused[1] ? 0 : 1;
}
