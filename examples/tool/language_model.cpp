#include "language_model.hpp"

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
    : options_(o), file_(io::gguf::open(path)), config_(read_architecture(file_, o.context)), tokenizer_(io::tokenizer::from_gguf(file_)),
      chunk_(o.prefill_chunk < config_.context ? o.prefill_chunk : config_.context) {}

void language_model::load() {
  device_ = open_device(options_.device, options_.threads, options_.replay);
  const auto planning = clock::now();
  model_step one, several;
  one.sequences = options_.sequences;
  several.tokens = 0;
  several.most_tokens = chunk_;
  const ir::graph decode = graph_of(one), prefill = options_.sequences == 1 ? graph_of(several) : ir::graph();
  const plan::entry_graph entries[] = {{"decode", decode}, {"prefill", prefill}};
  plan::options wanted;
  wanted.fuse = options_.fuse;
  plan::staged model = plan::compile_staged({entries, options_.sequences == 1 ? size_t{2} : size_t{1}}, device_->target(), wanted);
  plan_seconds_ = seconds_since(planning);
  const auto loading = clock::now();
  device_->load(std::move(model), options_.check);
  for (const io::file_tensor& t : model_weights(file_, config_)) {
    if (!device_->has_weight(t.name)) continue;
    device_->load_weight(t.name, {const_cast<uint8*>(t.data), t.type});
    file_.drop(t);  // where rows are read as they are, as those of an embedding, single pages come back
  }
  load_seconds_ = seconds_since(loading);
  for (int64 i = 0; i < config_.context; ++i) keys_.push_back(static_cast<int32>(i));
  for (int64 i = 0; i < options_.sequences; ++i) rows_.push_back(static_cast<int32>(i));
}

ir::graph language_model::graph_of(const model_step& step) const {
  ir::graph g = decoder_in(file_, config_, step);
  add_token(g, options_.choose);
  return g;
}

void language_model::check_prompt(std::string_view from, view<int32> tokens, int64 behind) const {
  if (tokens.empty()) fail(text{} << from << ": there is no token to begin with, and the vocabulary has no BOS");
  for (int32 t : tokens)
    if (t < 0 || t >= config_.vocabulary)
      fail(text{} << from << ": token " << t << " is outside 0 to " << config_.vocabulary - 1 << ", the rows of token_embd.weight");
  if (behind + static_cast<int64>(tokens.size()) <= config_.context) return;
  text message = text{} << from << ": " << tokens.size() << " tokens";
  if (behind > 0) message << " behind " << behind;
  fail(message << " do not fit the context of " << config_.context);
}

plan::program language_model::plan_step(const model_step& step, bool fuse) const {
  plan::options wanted;
  wanted.fuse = fuse;
  return plan::compile(graph_of(step), device_->target(), wanted);
}

view<float> language_model::read(view<int32> tokens, uint32 drawn) {
  check_prompt("read", tokens, position_);
  std::string entry;
  for (size_t first = 0; first < tokens.size();) {
    const size_t left = tokens.size() - first, count = left < static_cast<size_t>(chunk_) ? left : static_cast<size_t>(chunk_);
    const auto start = static_cast<int32>(position_), last = static_cast<int32>(count - 1);
    entry = count == 1 ? "decode" : "prefill";
    step(entry, tokens.subview(first, count), {&start, 1}, {&last, 1}, {&drawn, 1});
    position_ += static_cast<int64>(count);
    first += count;
  }
  token_ = *static_cast<const int32*>(device_->result(entry, "token").data);
  return {static_cast<const float*>(device_->result(entry, "logits").data), static_cast<size_t>(config_.vocabulary)};
}

view<int32> language_model::read_each(view<int32> tokens, view<int32> positions, view<uint32> drawn) {
  step("decode", tokens, positions, rows_, drawn);
  return {static_cast<const int32*>(device_->result("decode", "token").data), tokens.size()};
}

void language_model::step(const std::string& entry, view<int32> tokens, view<int32> starts, view<int32> last, view<uint32> drawn) {
  const auto count = static_cast<int64>(tokens.size()), sequences = static_cast<int64>(starts.size());
  int32 latest = 0;
  for (int32 s : starts) latest = s > latest ? s : latest;
  device_->bind(entry, "tokens", run::read_only(tokens.data(), dtype::i32, count));
  device_->bind(entry, "start", run::read_only(starts.data(), dtype::i32, sequences));
  device_->bind(entry, "keys", run::read_only(keys_.data(), dtype::i32, latest + count / sequences));
  device_->bind(entry, "last", run::read_only(last.data(), dtype::i32, sequences));
  if (options_.choose.temperature > 0) device_->bind(entry, "draw", run::read_only(drawn.data(), dtype::u32, sequences));
  device_->run(entry);
}

}  // namespace poot::tool
