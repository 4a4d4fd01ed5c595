#include "sampling.hpp"

#include <poot/dsl/movement.hpp>
#include <poot/nn/sampling.hpp>

namespace poot::tool {

void add_token(ir::graph& g, const sampling& how) {
  uint32 found = 0;
  for (const ir::graph_output& o : g.outputs)
    if (g.view_of().chars(o.name) == "logits") found = o.value;
  const ir::value logits{&g, found};  // (S, V)
  if (how.temperature <= 0) {
    g.output("token", nn::greedy(logits));
    return;
  }
  ir::value scores = logits / how.temperature;
  if (how.top_k > 0) scores = nn::top_k(scores, ir::value{&g, g.literal(dtype::f32, std::bit_cast<uint32>(static_cast<float>(how.top_k)))});
  if (how.top_p < 1) scores = nn::top_p(scores, how.top_p);
  if (how.min_p > 0) scores = nn::min_p(scores, how.min_p);
  const int64 sequences = logits.type().extents[0].code, width = logits.type().last().code;
  const ir::value seed{&g, g.literal(dtype::u32, how.seed)}, draws = g.input("draw", dtype::u32, {sequences});
  const ir::value row = dsl::broadcast(ir::value{&g, g.literal(dtype::f32, 0)}, dsl::shape{1, width});  // only its type is read
  ir::value noise;
  for (int64 s = 0; s < sequences; ++s) {
    const int64 attrs[3] = {s, 1, 1};
    const uint32 in[1] = {draws.id};
    const ir::value draw{&g, g.apply(ir::op::slice, {in, 1}, {attrs, 3})};
    const ir::value own = nn::gumbel_noise(row, seed, dsl::reshape(draw, dsl::shape{}));  // (1, V)
    noise = s == 0 ? own : dsl::concat<0>(noise, own);
  }
  g.output("token", dsl::argmax(scores + noise));
}

}  // namespace poot::tool
