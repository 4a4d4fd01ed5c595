#pragma once
/// A language model in a GGUF file, loaded onto a device: prefill and decode share its weights and caches.

#include "device.hpp"
#include "sampling.hpp"
#include "transformer.hpp"

#include <poot/io/gguf.hpp>
#include <poot/io/tokenizer.hpp>

#include <memory>

namespace poot::tool {

struct model_options {
  std::string device = "host";
  int threads = 0;         ///< of the host; 0: as many as there are processors
  bool fuse = true;
  bool replay = true;      ///< as `open_device` takes it
  bool check = false;      ///< every region also runs unfused; the first value that differs is an error
  int64 context = 0;       ///< positions of the caches; 0: what the file says, at most 4096
  int64 prefill_chunk = 64;
  int64 sequences = 1;     ///< texts that are continued at once, each with caches of its own
  sampling choose{};
};

/// The graph of one step of the decoder in a file, whose architecture was read.
ir::graph decoder_in(const io::gguf& file, const architecture& a, const model_step& step);

class language_model {
 public:
  /// Reads what the file says; nothing is allocated for the model yet.
  language_model(const std::string& path, const model_options& o);
  /// Plans its steps and loads its weights.
  void load();

  const architecture& config() const { return config_; }
  const io::gguf& file() const { return file_; }
  const io::tokenizer& tokens() const { return tokenizer_; }
  /// Throws `error`, which begins with `from`, where a prompt has no token, one outside the vocabulary, or more than the
  /// caches hold behind so many tokens.
  void check_prompt(std::string_view from, view<int32> tokens, int64 behind = 0) const;
  /// The plan of a step, by default of one token.
  plan::program plan_step(const model_step& step, bool fuse) const;
  double load_seconds() const { return load_seconds_; }
  double plan_seconds() const { return plan_seconds_; }
  std::string device_description() const { return device_->description(); }

  device_counters counted() const { return device_->counted(); }

  /// Of one sequence.
  int64 position() const { return position_; }
  /// The next text begins: nothing of the last one is seen.
  void restart() { position_ = 0; }
  /// Reads tokens after the text so far; returns the logits after the last of them, f32[vocabulary]. `drawn`: how many
  /// tokens were drawn before.
  view<float> read(view<int32> tokens, uint32 drawn);
  /// The token that the last `read` chose.
  int32 token() const { return token_; }

  /// Of several sequences: reads a token of each at its position, and returns the tokens that they choose.
  view<int32> read_each(view<int32> tokens, view<int32> positions, view<uint32> drawn);

 private:
  ir::graph graph_of(const model_step& step) const;
  void step(const std::string& entry, view<int32> tokens, view<int32> starts, view<int32> last, view<uint32> drawn);

  model_options options_;
  io::gguf file_;
  architecture config_;
  io::tokenizer tokenizer_;
  std::unique_ptr<device> device_;
  vec<int32> keys_, rows_;
  int64 position_ = 0, chunk_ = 1;
  int32 token_ = 0;
  double load_seconds_ = 0, plan_seconds_ = 0;
};

}  // namespace poot::tool
