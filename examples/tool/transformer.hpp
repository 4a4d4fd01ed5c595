#pragma once
/// A decoder of any family as a graph, with shapes from a checkpoint.

#include "architecture.hpp"

#include <poot/dsl/contraction.hpp>
#include <poot/dsl/movement.hpp>
#include <poot/dsl/pointwise.hpp>
#include <poot/dsl/reduction.hpp>
#include <poot/ir/graph.hpp>

namespace poot::tool {

/// Element types of the weights, by the names that the graph gives them (those of GGUF).
struct weight_type {
  std::string name;
  dtype element;
};

/// What one step reads. `tokens` is 0 for a dynamic number of tokens, at most `most_tokens`.
struct model_step {
  int64 tokens = 1;
  int64 most_tokens = 1;
  bool every_logit = false;  ///< logits of each token, not of the last only
  int64 sequences = 1;       ///< independent sequences of `tokens` tokens each, with positions and caches of their own
};

/// The graph of one step. Where there is a weight for it, a projection has a bias, a head a norm, a branch a norm behind it:
///   inputs   tokens i32[S·T], start i32[S] (position of each sequence's first token), keys i32[L] (0 … L−1, L = the greatest
///            start + T),
///            last i32[S] (row of each sequence's last token; only without every_logit)
///   states   cache_k.LAYER and cache_v.LAYER, f32[kv_heads, context, head_width or value_width];
///            ".sequence" is appended from the second on
///   result   logits f32[S or S·T, vocabulary]
ir::graph transformer_graph(const architecture& c, const std::vector<weight_type>& weights, const model_step& step);

}  // namespace poot::tool
