#pragma once
/// A llama decoder as a graph, with shapes from a checkpoint.

#include <poot/dsl/contraction.hpp>
#include <poot/dsl/movement.hpp>
#include <poot/dsl/pointwise.hpp>
#include <poot/dsl/reduction.hpp>
#include <poot/ir/graph.hpp>

#include <string>
#include <vector>

namespace poot::tool {

/// Hyper-parameters; counts of elements.
struct llama_config {
  int64 width = 0;        ///< of the residual stream
  int64 hidden = 0;       ///< of the feed-forward layer
  int64 layers = 0;
  int64 heads = 0;
  int64 kv_heads = 0;     ///< divides heads
  int64 head_width = 0;   ///< even
  int64 vocabulary = 0;
  int64 context = 0;      ///< positions that the caches hold
  float epsilon = 1e-5f;
  float theta = 10000.0f; ///< base of the rotary frequencies
  bool rotate_halves = false;  ///< partner of element i is i + head_width / 2, not its neighbour
};

/// Element types of the weights, by the names that the graph gives them (those of GGUF).
struct weight_type {
  std::string name;
  dtype element;
};

/// What one step reads. `tokens` is 0 for a dynamic number of tokens, at most `most_tokens`.
struct llama_step {
  int64 tokens = 1;
  int64 most_tokens = 1;
  bool every_logit = false;  ///< logits of each token, not of the last only
  int64 sequences = 1;       ///< independent sequences of `tokens` tokens each, with caches of their own
};

/// The graph of one step:
///   inputs   tokens i32[S·T], start i32[1] (position of the first token), keys i32[L] (0 … L−1, L = start + T),
///            last i32[S] (row of each sequence's last token; only without every_logit)
///   states   cache_k.LAYER and cache_v.LAYER, f32[kv_heads, context, head_width]; ".sequence" is appended from the second on
///   result   logits f32[S or S·T, vocabulary]
ir::graph llama_graph(const llama_config& c, const std::vector<weight_type>& weights, const llama_step& step);

}  // namespace poot::tool
