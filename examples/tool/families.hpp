#pragma once
/// The families of decoders that poot builds from GGUF files, and their tensors.

#include "architecture.hpp"

namespace poot::tool {

/// What the name of a family stands for and no key says. Tensors and the order of their work as in the public sources of
/// llama.cpp, which defines these names; see docs/models.md.
struct family_row {
  std::string_view name;
  bool halves = false;       ///< rotary pairs are i and i + D/2: weights were not permuted when the file was made
  bool biases = false;       ///< of queries, keys and values
  bool head_norms = false;   ///< of queries and keys
  bool gemma = false;        ///< norms behind branches, gelu, a scaled embedding
  bool fused = false;        ///< q, k and v in one tensor, gate and up in one
  int64 window_period = -1;  ///< -1: no layer slides
  int64 default_window = 0;
  float sliding_theta = 0;
  int64 largest_layers = 0;  ///< the depth of the one size whose scores are scaled by 1/sqrt(width / heads)
  bool routed = false;       ///< always has experts; a llama has them where expert_count says so (Mixtral)
  bool shared = false;       ///< one more expert serves every token
  bool normalised = true;    ///< weights of the experts of a token sum to 1
};
constexpr family_row families[] = {
    {.name = "llama"},
    {.name = "qwen2", .halves = true, .biases = true},
    {.name = "qwen3", .halves = true, .head_norms = true},
    {.name = "gemma2", .halves = true, .gemma = true, .window_period = 2, .default_window = 4096, .largest_layers = 46},
    {.name = "gemma3", .halves = true, .head_norms = true, .gemma = true, .window_period = 6, .sliding_theta = 10000, .largest_layers = 62},
    {.name = "phi3", .halves = true, .fused = true, .window_period = 0},
    {.name = "qwen2moe", .halves = true, .biases = true, .routed = true, .shared = true, .normalised = false},
    {.name = "qwen3moe", .halves = true, .head_norms = true, .routed = true},
};

/// Compares the tensors of a file with what the family and its hyper-parameters ask for; throws `error`.
void check_tensors(const io::gguf& file, const family_row& f, const architecture& a);

}  // namespace poot::tool
