#pragma once
/// What a GGUF file says of its decoder: the family, its hyper-parameters, and which of its tensors they make weights.

#include <poot/core/dtype.hpp>
#include <poot/io/gguf.hpp>

#include <string>
#include <vector>

namespace poot::tool {

/// Hyper-parameters of a decoder; counts of elements. What a family always has (norms of heads, biases, norms behind a
/// branch) is not said here: the graph has it where there is a weight for it.
struct architecture {
  int64 width = 0;        ///< of the residual stream
  int64 hidden = 0;       ///< of the feed-forward layer, or of one expert
  int64 layers = 0;
  int64 heads = 0;
  int64 kv_heads = 0;     ///< divides heads
  int64 head_width = 0;   ///< of queries and keys
  int64 vocabulary = 0;
  int64 context = 0;      ///< positions that the caches hold
  float epsilon = 1e-5f;
  float theta = 10000.0f; ///< base of the rotary frequencies
  bool rotate_halves = false;  ///< partner of element i is i + turned / 2, not its neighbour

  std::string family = "llama";
  int64 value_width = 0;       ///< of a head's values; 0: as head_width
  int64 turned = 0;            ///< elements of a head that positions turn, an even number; 0: all
  float attention_scale = 0;   ///< of scores; 0: 1/sqrt(head_width)
  float attention_cap = 0;     ///< scores become cap · tanh(score / cap); 0: they stay
  float logit_cap = 0;         ///< the same of logits
  bool tanh_gelu = false;      ///< gates go through gelu in its tanh form, not through silu
  bool scaled_embedding = false;  ///< rows of the embedding times sqrt(width)

  int64 window = 0;            ///< keys that a sliding layer sees, its own among them; 0: no layer slides
  int64 window_period = 0;     ///< of so many layers the last does not slide; 0: each one slides
  float sliding_theta = 0;     ///< base of the rotary frequencies of sliding layers, unscaled; 0: they are as all others
  std::vector<float> frequency_scale{};  ///< of each pair's rotary frequency; empty: all 1
  std::string frequency_divisors{};      ///< the weight that divides them, f32[turned / 2]; empty: none
  float rotary_magnitude = 1;  ///< of the turned elements

  int64 experts = 0;           ///< 0: one feed-forward layer
  int64 experts_used = 0;      ///< for each token
  bool normalised_experts = false;  ///< weights of the experts used sum to 1
  int64 shared_hidden = 0;     ///< of the expert that every token uses; 0: there is none

  int64 values() const { return value_width ? value_width : head_width; }
  int64 turned_width() const { return turned ? turned : head_width; }
  bool slides(int64 layer) const {
    return window > 0 && window < context && (window_period == 0 || layer % window_period != window_period - 1);
  }
};

/// Reads the keys `general.architecture` and those of that family, and compares them with the tensors. Throws `error`, in
/// one sentence that names the file, the key or tensor, and the rule: for a family that is not known, a key that is missing or
/// contradicts another or a tensor, a tensor that is missing, that nothing reads, or of a type that may not stand there.
/// `context`: positions of the caches; 0: what the file says, at most 4096.
architecture read_architecture(const io::gguf& file, int64 context);

/// The weights of a decoder under the names that the graph gives them, each a tensor of the file or some rows of one: where a
/// family keeps several matrices in one tensor, that is cut, without a copy. `file` must outlive them.
std::vector<io::file_tensor> model_weights(const io::gguf& file, const architecture& a);

}  // namespace poot::tool
