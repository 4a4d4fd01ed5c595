#include <poot/nn/decoder.hpp>

#include <unit/dsl/three_callers.hpp>

#include <poot/pass/cse.hpp>

using poot::bf16, poot::f32, poot::i32;

namespace {
constexpr auto x = poot::input<"x", f32, 2, 32>;
constexpr auto at = poot::input<"at", i32, 1>;
constexpr auto weights = poot::nn::decoder_weights{
    poot::weight<"blk.{}.attn_norm", bf16, 32>,     poot::weight<"blk.{}.attn_q", bf16, 32, 32>, poot::weight<"blk.{}.attn_k", bf16, 16, 32>,
    poot::weight<"blk.{}.attn_v", bf16, 16, 32>,    poot::weight<"blk.{}.attn_output", bf16, 32, 32>, poot::weight<"blk.{}.ffn_norm", bf16, 32>,
    poot::weight<"blk.{}.ffn_gate", bf16, 48, 32>,  poot::weight<"blk.{}.ffn_up", bf16, 48, 32>, poot::weight<"blk.{}.ffn_down", bf16, 32, 48>};
constexpr auto keys = poot::state<"keys.{}", bf16, 2, 64, 8>;
constexpr auto values = poot::state<"values.{}", bf16, 2, 64, 8>;
constexpr auto layer = [](auto h, auto, auto position, auto w, auto k, auto v) { return poot::nn::decoder_layer(h, position, w, k, v); };
constexpr auto stack = [](auto h, auto position) { return poot::repeat<2>(layer, h, position, weights, keys, values); };
constexpr auto one = [](auto h, auto position) {
  const auto k = keys.at(poot::index<0>);
  const auto v = values.at(poot::index<0>);
  return poot::nn::decoder_layer(h, position, weights, k, v);
};
constexpr auto model = poot::output<"y">(stack(x, at));
static_assert(poot::frozen<model>.view().outputs.size() == 5);
}  // namespace

TEST_CASE("a decoder layer is the same for all callers") { three_callers::check(one, "", x, at); }

TEST_CASE("several layers differ between callers only by equations that occur twice") {
  // Tables that depend on no operand are nodes, so that a typed trace holds them once; run-time values make them again.
  const auto merged = [](const poot::graph& g) {
    poot::pass::record notes;
    return three_callers::printed(poot::dsl::in_order_of_outputs(poot::pass::cse(poot::dsl::in_order_of_outputs(g), notes)));
  };
  poot::graph of_values("model");
  poot::output<"y">(stack(three_callers::value_of(of_values, x), three_callers::value_of(of_values, at)));
  const std::string of_nodes = merged(poot::trace(model));
  CHECK(of_nodes == merged(poot::trace(poot::output<"y">(poot::block(stack, x, at)))));
  CHECK(of_nodes == merged(of_values));
}

TEST_CASE("layers are numbered and update their own caches") {
  const auto g = poot::frozen<model>.view();
  for (const char* name : {"keys.0", "values.0", "keys.1", "values.1"}) {
    bool written = false;
    for (const auto& o : g.outputs) written = written || g.chars(o.name) == name;
    CHECK(written);
  }
  CHECK(g.find_leaf("blk.1.ffn_down") != g.size());
  CHECK(g.find_leaf("blk.{}.ffn_down") == g.size());
}

TEST_CASE("tables of positions stand in a model once") {
  const auto g = poot::frozen<model>.view();
  int cosines = 0, masks = 0;
  for (const auto& e : g.eqns) cosines += e.kind == poot::ir::op::pow, masks += e.kind == poot::ir::op::concat && e.type.rank == 1;
  CHECK(cosines == 1);
  CHECK(masks == 2);  // the start of the writes, once in each layer
}
