#include "language_model.hpp"

#include <poot/core/elementary.hpp>
#include <poot/core/philox.hpp>

#include <chrono>

namespace poot::tool {

namespace {

using clock = std::chrono::steady_clock;
double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

std::vector<weight_type> types_of(const std::vector<io::file_tensor>& weights) {
  std::vector<weight_type> types;
  for (const io::file_tensor& t : weights) types.push_back({t.name, t.type.element});
  return types;
}

}  // namespace

ir::graph decoder_in(const io::gguf& file, const architecture& a, const model_step& step) {
  return transformer_graph(a, types_of(model_weights(file, a)), step);
}

language_model::language_model(const std::string& path, const model_options& o)
    : file_(io::gguf::open(path)), config_(read_architecture(file_, o.context)), tokenizer_(io::tokenizer::from_gguf(file_)),
      device_(open_device(o.device, o.threads, o.replay)), chunk_(o.prefill_chunk < config_.context ? o.prefill_chunk : config_.context) {
  const auto planning = clock::now();
  model_step several;
  several.tokens = 0;
  several.most_tokens = chunk_;
  const ir::graph decode = decoder_in(file_, config_, {}), prefill = decoder_in(file_, config_, several);
  const plan::entry_graph entries[] = {{"decode", decode}, {"prefill", prefill}};
  plan::options wanted;
  wanted.fuse = o.fuse;
  plan::staged model = plan::compile_staged({entries, 2}, device_->target(), wanted);
  plan_seconds_ = seconds_since(planning);
  const auto loading = clock::now();
  device_->load(std::move(model), o.check);
  for (const io::file_tensor& t : model_weights(file_, config_)) {
    if (!device_->has_weight(t.name)) continue;
    device_->load_weight(t.name, {const_cast<uint8*>(t.data), t.type});
    file_.drop(t);  // where rows are read as they are, as those of an embedding, single pages come back
  }
  load_seconds_ = seconds_since(loading);
  for (int64 i = 0; i < config_.context; ++i) keys_.push_back(static_cast<int32>(i));
}

plan::program language_model::plan_step(const model_step& step, bool fuse) const {
  plan::options wanted;
  wanted.fuse = fuse;
  return plan::compile(decoder_in(file_, config_, step), device_->target(), wanted);
}

view<float> language_model::read(view<int32> tokens) {
  if (tokens.empty()) fail("read: there is no token to read");
  for (int32 t : tokens)
    if (t < 0 || t >= config_.vocabulary)
      fail(text{} << "read: token " << t << " is outside 0 to " << config_.vocabulary - 1);
  if (position_ + static_cast<int64>(tokens.size()) > config_.context)
    fail(text{} << "read: " << position_ + static_cast<int64>(tokens.size()) << " tokens do not fit the context of "
                << config_.context);
  view<float> logits;
  for (size_t first = 0; first < tokens.size();) {
    const size_t left = tokens.size() - first, count = left < static_cast<size_t>(chunk_) ? left : static_cast<size_t>(chunk_);
    logits = step(count == 1 ? "decode" : "prefill", tokens.subview(first, count));
    first += count;
  }
  return logits;
}

view<float> language_model::step(const std::string& entry, view<int32> tokens) {
  const auto count = static_cast<int64>(tokens.size());
  start_ = static_cast<int32>(position_);
  last_ = static_cast<int32>(count - 1);
  device_->bind(entry, "tokens", run::read_only(tokens.data(), dtype::i32, count));
  device_->bind(entry, "start", run::read_only(&start_, dtype::i32, 1));
  device_->bind(entry, "keys", run::read_only(keys_.data(), dtype::i32, position_ + count));
  device_->bind(entry, "last", run::read_only(&last_, dtype::i32, 1));
  device_->run(entry);
  position_ += count;
  return {static_cast<const float*>(device_->result(entry, "logits").data), static_cast<size_t>(config_.vocabulary)};
}

int32 sampler::operator()(view<float> logits) {
  const auto best = [&](auto score) {
    int32 at = 0;
    float most = score(0);
    for (int32 i = 1; i < static_cast<int32>(logits.size()); ++i)
      if (const float s = score(i); s > most) most = s, at = i;
    return at;
  };
  if (temperature_ <= 0) return best([&](int32 i) { return logits[static_cast<size_t>(i)]; });
  // Gumbel-max: the largest of logit / temperature + noise is a draw with the softmax's odds.
  const uint64 draw = drawn_++;
  return best([&](int32 i) {
    const float u = 0x1p-25f + uniform_element(static_cast<uint32>(seed_), static_cast<uint32>(draw), static_cast<uint64>(i));
    return logits[static_cast<size_t>(i)] / temperature_ - elementary::log(-elementary::log(u));
  });
}

}  // namespace poot::tool
