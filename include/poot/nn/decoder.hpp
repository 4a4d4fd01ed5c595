#pragma once
/// A llama decoder layer with its key and value caches.

#include <poot/dsl/output.hpp>
#include <poot/nn/attention.hpp>
#include <poot/nn/mlp.hpp>
#include <poot/nn/norm.hpp>

namespace poot::nn {

/// The weights of one layer, under the names they have in GGUF files.
template <class AttnNorm, class AttnQ, class AttnK, class AttnV, class AttnOutput, class FfnNorm, class FfnGate, class FfnUp, class FfnDown>
struct decoder_weights {
  AttnNorm attn_norm;
  AttnQ attn_q;
  AttnK attn_k;
  AttnV attn_v;
  AttnOutput attn_output;
  FfnNorm ffn_norm;
  FfnGate ffn_gate;
  FfnUp ffn_up;
  FfnDown ffn_down;
};
template <class... W>
decoder_weights(W...) -> decoder_weights<W...>;

namespace detail {
struct one_index {  // i32[1], the number 0
  constexpr tensor_type operator()(const tensor_type&) const { return type_of(dtype::i32, 1); }
};
struct rows_of {  // i32[T] for x[T,E]
  constexpr tensor_type operator()(const tensor_type& t) const { return type_of(dtype::i32, t.extents[0]); }
};
}  // namespace detail

/// The positions of x's rows, i32[T], when the first one stands at `position`, an i32[1].
template <dsl::handle X, dsl::handle Position>
constexpr auto positions_of(X x, Position position) {
  return position + dsl::iota_from<detail::rows_of>(x);
}

/// Where rows that start at `position` stand in a cache[KV,L,D]: i32[3].
template <dsl::handle Position>
constexpr auto cache_start(Position position) {
  const auto zero = dsl::iota_from<detail::one_index>(position);
  return dsl::concat<0>(zero, position, zero);
}
/// A cache[KV,L,D] with rows[KV,T,D] written at `start`.
template <dsl::handle Cache, dsl::handle Rows, dsl::handle Start>
constexpr auto write_cache(Cache cache, Rows rows, Start start) {
  return dsl::dynamic_update_slice(cache, dsl::cast_like(rows, cache), start);
}

/// x[T,E] after one layer; `position` (i32[1]) is that of its first row. The caches, states of [KV,L,D], are updated.
/// Heads are as wide as the caches' last axis.
template <rope_pairs Pairs = rope_pairs::adjacent, dsl::handle X, dsl::handle Position, class Weights, dsl::handle Keys, dsl::handle Values,
          dsl::operand Eps = dsl::number_<1e-5>, dsl::operand Base = dsl::number_<10000>>
constexpr auto decoder_layer(X x, Position position, Weights w, Keys key_cache, Values value_cache, Eps eps = {}, Base base = {}) {
  const auto width = dsl::extent_of<-1>(key_cache);
  const auto positions = positions_of(x, position);                          // [T]
  const auto h = rms_norm(x, w.attn_norm, eps);                              // [T,E]
  const auto q = heads_of(dsl::matmul_t(h, w.attn_q), width);                // [T,H,D]
  const auto k = heads_of(dsl::matmul_t(h, w.attn_k), width);                // [T,KV,D]
  const auto v = split_heads(dsl::matmul_t(h, w.attn_v), width);             // [KV,T,D]
  const auto tables = rope_tables(positions, q, base);
  const auto cos = dsl::apply<ir::op::reshape>(detail::over_heads{}, get<0>(tables));
  const auto sin = dsl::apply<ir::op::reshape>(detail::over_heads{}, get<1>(tables));
  const auto turned_q = dsl::transpose<1, 0, 2>(rope<Pairs>(q, cos, sin));
  const auto turned_k = dsl::transpose<1, 0, 2>(rope<Pairs>(k, cos, sin));
  const auto start = cache_start(position);
  const auto keys = dsl::update(key_cache, write_cache(key_cache, turned_k, start));
  const auto values = dsl::update(value_cache, write_cache(value_cache, v, start));
  const auto mixed = join_heads(attention(turned_q, keys, values, positions));  // [T,H·D]
  const auto y = x + dsl::matmul_t(mixed, w.attn_output);
  return y + gated_mlp(rms_norm(y, w.ffn_norm, eps), w.ffn_gate, w.ffn_up, w.ffn_down);
}

}  // namespace poot::nn
