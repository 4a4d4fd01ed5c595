#pragma once
/// A language model in a GGUF file, loaded onto a device: prefill and decode share its weights and caches.

#include "device.hpp"
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
};

/// The graph of one step of the decoder in a file, whose architecture was read.
ir::graph decoder_in(const io::gguf& file, const architecture& a, const model_step& step);

class language_model {
 public:
  language_model(const std::string& path, const model_options& o);

  const architecture& config() const { return config_; }
  const io::tokenizer& tokens() const { return tokenizer_; }
  /// The plan of a step, by default of one token.
  plan::program plan_step(const model_step& step, bool fuse) const;
  double load_seconds() const { return load_seconds_; }
  double plan_seconds() const { return plan_seconds_; }
  std::string device_description() const { return device_->description(); }

  int64 position() const { return position_; }
  /// Reads tokens after the text so far; returns the logits after the last of them, f32[vocabulary].
  view<float> read(view<int32> tokens);

 private:
  view<float> step(const std::string& entry, view<int32> tokens);

  io::gguf file_;
  architecture config_;
  io::tokenizer tokenizer_;
  std::unique_ptr<device> device_;
  vec<int32> keys_;
  int64 position_ = 0, chunk_ = 1;
  int32 start_ = 0, last_ = 0;
  double load_seconds_ = 0, plan_seconds_ = 0;
};

/// Chooses the next token: the first of the largest logits, or one drawn with these odds.
class sampler {
 public:
  /// temperature 0: greedy.
  sampler(float temperature, uint64 seed) : temperature_(temperature), seed_(seed) {}
  int32 operator()(view<float> logits);

 private:
  float temperature_;
  uint64 seed_, drawn_ = 0;
};

}  // namespace poot::tool
