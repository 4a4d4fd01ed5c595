#include "transformer.hpp"

#include <poot/nn/attention.hpp>
#include <poot/nn/decoder.hpp>
#include <poot/nn/experts.hpp>
#include <poot/nn/mlp.hpp>
#include <poot/nn/norm.hpp>
#include <poot/nn/rope.hpp>

#include <cmath>
#include <string_view>
#include <unordered_map>

namespace poot::tool {

namespace {

using ir::value;
using constant_f32 = dsl::scalar_constant<f32>;

std::string numbered(const std::string& before, int64 number, const std::string& after = "") {
  return before + std::to_string(number) + after;
}

/// Builds the graph; every comment on a tensor line is its shape.
class graph_builder {
 public:
  graph_builder(const architecture& c, const std::vector<weight_type>& weights, const model_step& step)
      : c_(c), step_(step), g_(c.family) {
    for (const weight_type& w : weights) weights_.emplace(w.name, w.element);
  }

  ir::graph build() {
    const extent one_sequence = step_.tokens ? extent(step_.tokens) : g_.dynamic("T", step_.most_tokens);
    if (step_.sequences > 1 && !step_.tokens) fail("transformer: several sequences need a fixed number of tokens");
    rows_ = step_.sequences > 1 ? extent(step_.sequences * step_.tokens) : one_sequence;
    tokens_ = one_sequence;
    live_ = g_.dynamic("L", c_.context);
    const value tokens = g_.input("tokens", dtype::i32, {rows_});
    const value start = g_.input("start", dtype::i32, {step_.sequences});
    const value keys = g_.input("keys", dtype::i32, {live_});
    for (int64 s = 0; s < step_.sequences; ++s) add_sequence(s, start, keys);
    value x = dsl::cast<f32>(dsl::gather<0>(weight("token_embd.weight", {c_.vocabulary, c_.width}), tokens));  // (S·T, E)
    if (c_.scaled_embedding) x = x * number_f32(std::sqrt(static_cast<double>(c_.width)));
    for (int64 layer = 0; layer < c_.layers; ++layer) x = decoder_layer(x, layer);
    if (!step_.every_logit) x = dsl::gather<0>(x, g_.input("last", dtype::i32, {step_.sequences}));  // (S, E)
    x = norm(x, "output_norm.weight", c_.width);
    const std::string head = is_weight("output.weight") ? "output.weight" : "token_embd.weight";
    value logits = dsl::matmul_t(x, weight(head, {c_.vocabulary, c_.width}));  // (S or S·T, V)
    if (c_.logit_cap > 0) logits = nn::softcap(logits, number_f32(c_.logit_cap));
    g_.output("logits", logits);
    return std::move(g_);
  }

 private:
  /// What layers of one kind share: which keys are seen, and the rotary tables.
  struct layer_kind {
    value seen;          // (T, L)
    value cosine, sine;  // (T, 1, turned / 2)
  };
  struct sequence {
    value positions, update_at;  // (T), (3)
    layer_kind everywhere, sliding;
  };

  bool is_weight(const std::string& name) const { return weights_.contains(name); }
  value weight(const std::string& name, std::initializer_list<extent> extents) {
    const uint32 known = g_.view_of().find_leaf(name);
    if (known != g_.size()) return {&g_, known};
    const auto at = weights_.find(name);
    if (at == weights_.end()) fail(text{} << "transformer: the model has no tensor \"" << name << "\"");
    return g_.weight(name, at->second, extents);
  }
  static constant_f32 number_f32(double v) { return constant<dtype::f32>(v); }
  bool slides_somewhere() const {
    for (int64 layer = 0; layer < c_.layers; ++layer)
      if (c_.slides(layer)) return true;
    return false;
  }

  /// What a sequence's layers share; `start` (S) is the position of each one's first token.
  void add_sequence(int64 number, value start, value keys) {
    const int64 attrs[3] = {number, 1, 1};
    const uint32 in[1] = {start.id};
    if (step_.sequences > 1) start = {&g_, g_.apply(ir::op::slice, {in, 1}, {attrs, 3})};
    sequence q;
    q.positions = dsl::iota_in(g_, dtype::i32, dsl::shape{tokens_}, 0) + start;  // (T)
    q.update_at = nn::cache_start(start);                                       // (3)
    q.everywhere.seen = nn::causal(keys, q.positions);                          // (T, L)
    make_tables(q.everywhere, q.positions, c_.theta, true);
    if (slides_somewhere()) {
      q.sliding.seen = nn::causal(keys, q.positions, constant<dtype::i32>(c_.window));  // (T, L)
      if (c_.sliding_theta > 0) make_tables(q.sliding, q.positions, c_.sliding_theta, false);
      else q.sliding.cosine = q.everywhere.cosine, q.sliding.sine = q.everywhere.sine;
    }
    sequences_.push_back(q);
  }

  /// cos and sin of every position, once, at load; a step gathers the rows of its positions.
  void make_tables(layer_kind& kind, value positions, float theta, bool scaled) {
    const int64 pairs = c_.turned_width() / 2;
    const value like = dsl::broadcast(value{&g_, g_.literal(dtype::f32, 0)}, dsl::shape{2 * pairs});  // only its type is read
    value frequency = nn::rope_frequencies(like, number_f32(static_cast<double>(theta)));              // (P)
    if (scaled && !c_.frequency_scale.empty()) {
      vec<int64> bits;
      for (float s : c_.frequency_scale) bits.push_back(static_cast<int64>(std::bit_cast<uint32>(s)));
      frequency = frequency * value{&g_, g_.leaf(ir::op::constant, type_of(dtype::f32, pairs), bits)};
    }
    if (scaled && !c_.frequency_divisors.empty()) frequency = frequency / dsl::cast_unless<f32>(weight(c_.frequency_divisors, {pairs}));
    const auto whole = nn::rope_tables_of(dsl::iota_in(g_, dtype::i32, dsl::shape{c_.context}, 0), frequency);  // (C, P)
    const auto table = [&](value all) {
      if (scaled && c_.rotary_magnitude != 1) all = all * number_f32(static_cast<double>(c_.rotary_magnitude));
      return dsl::reshape(dsl::gather<0>(all, positions), dsl::shape{tokens_, 1, pairs});
    };
    kind.cosine = table(get<0>(whole));
    kind.sine = table(get<1>(whole));
  }

  value norm(value x, const std::string& gain, int64 width) {
    return nn::rms_norm(x, weight(gain, {width}), number_f32(static_cast<double>(c_.epsilon)));
  }
  value norm_where_given(value x, const std::string& gain, int64 width) { return is_weight(gain) ? norm(x, gain, width) : x; }

  /// x times the matrix `name`.weight [N, K], and `name`.bias where there is one.
  value projection(value x, const std::string& name, int64 outputs, int64 inputs) {
    const value y = dsl::matmul_t(x, weight(name + ".weight", {outputs, inputs}));
    return is_weight(name + ".bias") ? y + dsl::cast_unless<f32>(weight(name + ".bias", {outputs})) : y;
  }

  /// (T, heads · D) to (heads, T, D), normed and turned.
  value turned_heads(value x, const std::string& gain, int64 heads, const layer_kind& kind) {
    const value apart = norm_where_given(dsl::reshape(x, dsl::shape{tokens_, heads, c_.head_width}), gain, c_.head_width);  // (T, heads, D)
    const value turned = c_.rotate_halves ? nn::rope<nn::rope_pairs::halves>(apart, kind.cosine, kind.sine)
                                          : nn::rope<nn::rope_pairs::adjacent>(apart, kind.cosine, kind.sine);
    return dsl::transpose(turned, {1, 0, 2});
  }

  value decoder_layer(value x, int64 layer) {
    const int64 E = c_.width, H = c_.heads, K = c_.kv_heads, D = c_.head_width, W = c_.values();
    const std::string blk = numbered("blk.", layer, ".");
    const value h = norm(x, blk + "attn_norm.weight", E);
    const value q = projection(h, blk + "attn_q", H * D, E);                // (S·T, H·D)
    const value k = projection(h, blk + "attn_k", K * D, E);                // (S·T, K·D)
    const value v = projection(h, blk + "attn_v", K * W, E);                // (S·T, K·W)
    value mixed = attention(part(q, 0), part(k, 0), part(v, 0), layer, 0);  // (T, H·W)
    for (int64 s = 1; s < step_.sequences; ++s)
      mixed = dsl::concat<0>(mixed, attention(part(q, s), part(k, s), part(v, s), layer, s));
    const value attended = projection(mixed, blk + "attn_output", E, H * W);
    x = x + norm_where_given(attended, blk + "post_attention_norm.weight", E);
    const value fed = feed_forward(norm(x, blk + "ffn_norm.weight", E), blk);
    return x + norm_where_given(fed, blk + "post_ffw_norm.weight", E);
  }

  value feed_forward(value x, const std::string& blk) {
    const int64 E = c_.width, F = c_.hidden;
    if (c_.experts > 0) return c_.shared_hidden > 0 ? routed(x, blk) + shared_expert(x, blk) : routed(x, blk);
    const value gate = weight(blk + "ffn_gate.weight", {F, E}), up = weight(blk + "ffn_up.weight", {F, E}),
                down = weight(blk + "ffn_down.weight", {E, F});
    return c_.tanh_gelu ? nn::gated_mlp<nn::gating::gelu_tanh>(x, gate, up, down) : nn::gated_mlp(x, gate, up, down);
  }

  /// x through the experts that its router finds most probable, weighted by that; (S·T, E).
  value routed(value x, const std::string& blk) {
    const int64 E = c_.width, F = c_.hidden, X = c_.experts;
    const value gate = weight(blk + "ffn_gate_exps.weight", {X, F, E}), up = weight(blk + "ffn_up_exps.weight", {X, F, E}),
                down = weight(blk + "ffn_down_exps.weight", {X, E, F});
    value rest = nn::softmax(dsl::matmul_t(x, weight(blk + "ffn_gate_inp.weight", {X, E})));  // (S·T, X)
    std::vector<value> places, shares;                                                       // (S·T, 1) each
    for (int64 i = 0; i < c_.experts_used; ++i) {
      const auto taken = nn::take_greatest(rest);
      places.push_back(get<0>(taken));
      shares.push_back(get<1>(taken));
      rest = get<2>(taken);
    }
    if (c_.normalised_experts) {
      value total = shares[0];
      for (size_t i = 1; i < shares.size(); ++i) total = total + shares[i];
      for (value& share : shares) share = share / total;
    }
    value mixed = nn::expert_mlp(x, places[0], gate, up, down) * shares[0];
    for (size_t i = 1; i < shares.size(); ++i) mixed = mixed + nn::expert_mlp(x, places[i], gate, up, down) * shares[i];
    return mixed;
  }

  /// The expert of every token, behind a gate of its own; (S·T, E).
  value shared_expert(value x, const std::string& blk) {
    const int64 E = c_.width, S = c_.shared_hidden;
    const value opening = dsl::reshape(weight(blk + "ffn_gate_inp_shexp.weight", {E}), dsl::shape{1, E});
    const value y = nn::gated_mlp(x, weight(blk + "ffn_gate_shexp.weight", {S, E}), weight(blk + "ffn_up_shexp.weight", {S, E}),
                                  weight(blk + "ffn_down_shexp.weight", {E, S}));
    return y * nn::sigmoid(dsl::matmul_t(x, opening));
  }

  /// Rows of sequence `s`.
  value part(value x, int64 s) {
    if (step_.sequences == 1) return x;
    const int64 width = x.type().extents[1].code;
    const int64 attrs[6] = {s * step_.tokens, 0, step_.tokens, width, 1, 1};
    const uint32 in[1] = {x.id};
    return {&g_, g_.apply(ir::op::slice, {in, 1}, {attrs, 6})};
  }

  value attention(value q, value k, value v, int64 layer, int64 number) {
    const int64 H = c_.heads, K = c_.kv_heads, D = c_.head_width, W = c_.values(), group = H / K;
    const std::string of = number ? numbered(".", number) : "";
    const std::string blk = numbered("blk.", layer, ".");
    const sequence& own = sequences_[static_cast<size_t>(number)];
    const layer_kind& kind = c_.slides(layer) ? own.sliding : own.everywhere;
    const value qr = turned_heads(q, blk + "attn_q_norm.weight", H, kind);                          // (H, T, D)
    const value kr = turned_heads(k, blk + "attn_k_norm.weight", K, kind);                          // (K, T, D)
    const value vr = dsl::transpose(dsl::reshape(v, dsl::shape{tokens_, K, W}), {1, 0, 2});         // (K, T, W)
    const value keys = cache(numbered("cache_k.", layer, of), kr, own.update_at, D);                // (K, L, D)
    const value values = cache(numbered("cache_v.", layer, of), vr, own.update_at, W);              // (K, L, W)
    // One token: the heads of a group are the rows of one product. Several: a batch of heads shares the keys.
    const bool one = tokens_ == extent(1);
    const value queries = one ? dsl::reshape(qr, dsl::shape{K, group, D}) : dsl::reshape(qr, dsl::shape{K, group, tokens_, D});
    const value held_k = one ? keys : dsl::reshape(keys, dsl::shape{K, 1, live_, D});
    const value held_v = one ? values : dsl::reshape(values, dsl::shape{K, 1, live_, W});
    const constant_f32 scale = number_f32(c_.attention_scale > 0 ? static_cast<double>(c_.attention_scale) : 1.0 / std::sqrt(static_cast<double>(D)));
    const value mixed = c_.attention_cap > 0 ? nn::attend(queries, held_k, held_v, kind.seen, scale, number_f32(static_cast<double>(c_.attention_cap)))
                                             : nn::attend(queries, held_k, held_v, kind.seen, scale);  // (K, G[, T], W)
    const value by_head = dsl::reshape(mixed, dsl::shape{H, tokens_, W});
    return dsl::reshape(dsl::transpose(by_head, {1, 0, 2}), dsl::shape{tokens_, H * W});
  }

  /// Writes the new rows into the state, in place, and returns its live part, (K, L, width).
  value cache(const std::string& name, value rows, value update_at, int64 width) {
    const int64 K = c_.kv_heads;
    const value held = g_.state(name, f32, {K, c_.context, width});
    const value written = dsl::dynamic_update_slice(held, rows, update_at);
    g_.output(name, written);
    const int64 attrs[9] = {0, 0, 0, K, live_.code, width, 1, 1, 1};
    const uint32 in[1] = {written.id};
    return {&g_, g_.apply(ir::op::slice, {in, 1}, {attrs, 9})};
  }

  const architecture& c_;
  std::unordered_map<std::string_view, dtype> weights_;
  const model_step& step_;
  ir::graph g_;
  extent rows_, tokens_, live_;
  std::vector<sequence> sequences_;
};

}  // namespace

ir::graph transformer_graph(const architecture& c, const std::vector<weight_type>& weights, const model_step& step) {
  return graph_builder(c, weights, step).build();
}

}  // namespace poot::tool
