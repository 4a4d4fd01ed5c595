#include "llama.hpp"

#include <poot/nn/decoder.hpp>
#include <poot/nn/mlp.hpp>
#include <poot/nn/norm.hpp>
#include <poot/nn/softmax.hpp>

#include <cmath>

namespace poot::tool {

namespace {

using ir::value;

std::string numbered(const std::string& before, int64 number, const std::string& after = "") {
  return before + std::to_string(number) + after;
}

/// Builds the graph; every comment on a tensor line is its shape.
class llama_builder {
 public:
  llama_builder(const llama_config& c, const std::vector<weight_type>& weights, const llama_step& step)
      : c_(c), weights_(weights), step_(step), g_("llama") {}

  ir::graph build() {
    const extent one_sequence = step_.tokens ? extent(step_.tokens) : g_.dynamic("T", step_.most_tokens);
    if (step_.sequences > 1 && !step_.tokens) fail("llama: several sequences need a fixed number of tokens");
    rows_ = step_.sequences > 1 ? extent(step_.sequences * step_.tokens) : one_sequence;
    tokens_ = one_sequence;
    live_ = g_.dynamic("L", c_.context);
    value tokens = g_.input("tokens", dtype::i32, {rows_});
    start_ = g_.input("start", dtype::i32, {1});
    keys_ = g_.input("keys", dtype::i32, {live_});
    make_positions();
    make_tables();
    value x = dsl::cast<f32>(dsl::gather<0>(weight("token_embd.weight", {c_.vocabulary, c_.width}), tokens));  // (S·T, E)
    for (int64 layer = 0; layer < c_.layers; ++layer) x = decoder_layer(x, layer);
    if (!step_.every_logit) x = dsl::gather<0>(x, g_.input("last", dtype::i32, {step_.sequences}));  // (S, E)
    x = norm(x, "output_norm.weight");
    const std::string head = is_weight("output.weight") ? "output.weight" : "token_embd.weight";
    g_.output("logits", dsl::matmul_t(x, weight(head, {c_.vocabulary, c_.width})));  // (S or S·T, V)
    return std::move(g_);
  }

 private:
  bool is_weight(const std::string& name) const {
    for (const weight_type& w : weights_)
      if (w.name == name) return true;
    return false;
  }
  value weight(const std::string& name, std::initializer_list<extent> extents) {
    const uint32 known = g_.view_of().find_leaf(name);
    if (known != g_.size()) return {&g_, known};
    for (const weight_type& w : weights_)
      if (w.name == name) return g_.weight(name, w.element, extents);
    fail(text{} << "llama: the file has no tensor \"" << name << "\"");
  }

  value iota(dtype t, std::initializer_list<extent> extents, int64 axis) {
    tensor_type type;
    type.element = t;
    for (extent e : extents) type.extents[type.rank++] = e;
    const int64 attr[1] = {axis};
    return {&g_, g_.leaf(ir::op::iota, type, {attr, 1})};
  }
  value constant_f32(float v) { return {&g_, g_.literal(dtype::f32, std::bit_cast<uint32>(v))}; }

  void make_positions() {
    positions_ = iota(dtype::i32, {tokens_}, 0) + start_;  // (T)
    update_at_ = nn::cache_start(start_);                  // (3)
  }

  /// cos and sin of every position, once, at load; a step gathers the rows of its positions. The angle of pair i at
  /// position p is p · theta^(−2i / head_width); sin carries the sign of the element it multiplies.
  void make_tables() {
    const int64 D = c_.head_width, half = D / 2;
    vec<int64> partner, pair, sign;
    for (int64 i = 0; i < D; ++i) {
      const bool second = c_.rotate_halves ? i >= half : i % 2 == 1;
      partner.push_back(c_.rotate_halves ? (second ? i - half : i + half) : (second ? i - 1 : i + 1));
      pair.push_back(static_cast<int64>(std::bit_cast<uint32>(static_cast<float>(c_.rotate_halves ? i % half : i / 2))));
      sign.push_back(static_cast<int64>(std::bit_cast<uint32>(second ? 1.0f : -1.0f)));
    }
    partner_ = {&g_, g_.leaf(ir::op::constant, type_of(dtype::i32, D), partner)};
    const value exponent = value{&g_, g_.leaf(ir::op::constant, type_of(f32, D), pair)} *
                           constant_f32(static_cast<float>(-2.0 / static_cast<double>(D)));
    const value frequency = dsl::pow(constant_f32(c_.theta), exponent);                            // (D)
    const value position = dsl::cast<f32>(iota(dtype::i32, {c_.context, 1}, 0));                   // (C, 1)
    const value angle = position * frequency;                                                      // (C, D)
    const value signs{&g_, g_.leaf(ir::op::constant, type_of(f32, D), sign)};
    const value cosine = dsl::gather<0>(dsl::cos(angle), positions_);                              // (T, D)
    const value sine = dsl::gather<0>(dsl::sin(angle) * signs, positions_);                        // (T, D)
    cosine_ = dsl::reshape(cosine, dsl::shape{tokens_, 1, D});
    sine_ = dsl::reshape(sine, dsl::shape{tokens_, 1, D});
  }

  value norm(value x, const std::string& gain) {
    return nn::rms_norm(x, weight(gain, {c_.width}), constant_f32(c_.epsilon));
  }

  /// (T, H, D)
  value rope(value x) { return x * cosine_ + dsl::gather<2>(x, partner_) * sine_; }

  value decoder_layer(value x, int64 layer) {
    const int64 E = c_.width, H = c_.heads, K = c_.kv_heads, D = c_.head_width;
    const std::string blk = numbered("blk.", layer, ".");
    const value h = norm(x, blk + "attn_norm.weight");
    const value q = dsl::matmul_t(h, weight(blk + "attn_q.weight", {H * D, E}));  // (S·T, H·D)
    const value k = dsl::matmul_t(h, weight(blk + "attn_k.weight", {K * D, E}));  // (S·T, K·D)
    const value v = dsl::matmul_t(h, weight(blk + "attn_v.weight", {K * D, E}));  // (S·T, K·D)
    value mixed = attention(part(q, 0), part(k, 0), part(v, 0), layer, 0);        // (T, H·D)
    for (int64 s = 1; s < step_.sequences; ++s)
      mixed = dsl::concat<0>(mixed, attention(part(q, s), part(k, s), part(v, s), layer, s));
    x = x + dsl::matmul_t(mixed, weight(blk + "attn_output.weight", {E, H * D}));
    const value f = norm(x, blk + "ffn_norm.weight");
    return x + nn::gated_mlp(f, weight(blk + "ffn_gate.weight", {c_.hidden, E}), weight(blk + "ffn_up.weight", {c_.hidden, E}),
                             weight(blk + "ffn_down.weight", {E, c_.hidden}));
  }

  /// Rows of sequence `s`.
  value part(value x, int64 s) {
    if (step_.sequences == 1) return x;
    const int64 width = x.type().extents[1].code;
    const int64 attrs[6] = {s * step_.tokens, 0, step_.tokens, width, 1, 1};
    const uint32 in[1] = {x.id};
    return {&g_, g_.apply(ir::op::slice, {in, 1}, {attrs, 6})};
  }

  value attention(value q, value k, value v, int64 layer, int64 sequence) {
    const int64 H = c_.heads, K = c_.kv_heads, D = c_.head_width, group = H / K;
    const std::string of = sequence ? numbered(".", sequence) : "";
    const value qr = dsl::transpose(rope(dsl::reshape(q, dsl::shape{tokens_, H, D})), {1, 0, 2});  // (H, T, D)
    const value kr = dsl::transpose(rope(dsl::reshape(k, dsl::shape{tokens_, K, D})), {1, 0, 2});  // (K, T, D)
    const value vr = dsl::transpose(dsl::reshape(v, dsl::shape{tokens_, K, D}), {1, 0, 2});        // (K, T, D)
    const value keys = cache(numbered("cache_k.", layer, of), kr);                                 // (K, L, D)
    const value values = cache(numbered("cache_v.", layer, of), vr);                               // (K, L, D)
    const value allowed = keys_ <= dsl::reshape(positions_, dsl::shape{tokens_, 1});               // (T, L)
    const value scale = constant_f32(static_cast<float>(1.0 / std::sqrt(static_cast<double>(D))));
    const value blocked = constant_f32(-HUGE_VALF);
    // One token: the heads of a group are the rows of one product. Several: a batch of heads shares the keys.
    const bool one = tokens_ == extent(1);
    const value queries = one ? dsl::reshape(qr, dsl::shape{K, group, D}) : dsl::reshape(qr, dsl::shape{K, group, tokens_, D});
    const value held_k = one ? keys : dsl::reshape(keys, dsl::shape{K, 1, live_, D});
    const value held_v = one ? values : dsl::reshape(values, dsl::shape{K, 1, live_, D});
    const value scores = dsl::select(allowed, dsl::matmul_t(queries, held_k) * scale, blocked);    // (K, G[, T], L)
    const value mixed = dsl::matmul(nn::softmax(scores), held_v);                                  // (K, G[, T], D)
    const value by_head = dsl::reshape(mixed, dsl::shape{H, tokens_, D});
    return dsl::reshape(dsl::transpose(by_head, {1, 0, 2}), dsl::shape{tokens_, H * D});
  }

  /// Writes the new rows into the state, in place, and returns its live part, (K, L, D).
  value cache(const std::string& name, value rows) {
    const int64 K = c_.kv_heads, D = c_.head_width;
    const value held = g_.state(name, f32, {K, c_.context, D});
    const value written = dsl::dynamic_update_slice(held, rows, update_at_);
    g_.output(name, written);
    const int64 attrs[9] = {0, 0, 0, K, live_.code, D, 1, 1, 1};
    const uint32 in[1] = {written.id};
    return {&g_, g_.apply(ir::op::slice, {in, 1}, {attrs, 9})};
  }

  const llama_config& c_;
  const std::vector<weight_type>& weights_;
  const llama_step& step_;
  ir::graph g_;
  extent rows_, tokens_, live_;
  value start_, keys_, positions_, update_at_, partner_, cosine_, sine_;
};

}  // namespace

ir::graph llama_graph(const llama_config& c, const std::vector<weight_type>& weights, const llama_step& step) {
  return llama_builder(c, weights, step).build();
}

}  // namespace poot::tool
