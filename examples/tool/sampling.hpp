#pragma once
/// How a step chooses its tokens, as equations behind its logits.

#include <poot/ir/graph.hpp>

namespace poot::tool {

struct sampling {
  float temperature = 0;  ///< 0: always the likeliest token, whatever the rest says
  int64 top_k = 0;        ///< 0: all
  float top_p = 1;        ///< 1: all
  float min_p = 0;        ///< 0: all
  uint32 seed = 0;
};

/// Adds the result `token`, i32[S, 1], of the result `logits`, f32[S, V]. Where there is a temperature the graph reads `draw`,
/// u32[S]: how many tokens each sequence has drawn. A sequence of that seed and count draws the same alone and in a batch.
void add_token(ir::graph& g, const sampling& how);

}  // namespace poot::tool
