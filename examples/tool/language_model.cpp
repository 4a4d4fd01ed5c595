#include "language_model.hpp"

#include <poot/core/elementary.hpp>
#include <poot/core/philox.hpp>

#include <chrono>

namespace poot::tool {

namespace {

using clock = std::chrono::steady_clock;
double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

/// Refuses a tensor that is missing or whose extents contradict the keys.
void check_tensor(const io::gguf& file, const std::string& name, std::initializer_list<int64> extents) {
  const io::file_tensor& t = file.tensor(name);
  tensor_type wanted;
  wanted.element = t.type.element;
  for (int64 e : extents) wanted.extents[wanted.rank++] = extent(e);
  if (wanted == t.type) return;
  text message = text{} << file.file() << ": tensor \"" << name << "\" is ";
  ir::write_type(message, t.type);
  message << ", and the keys of the file make it ";
  ir::write_type(message, wanted);
  fail(message);
}

void check_tensors(const io::gguf& file, const llama_config& c) {
  const int64 E = c.width, D = c.head_width;
  check_tensor(file, "token_embd.weight", {c.vocabulary, E});
  check_tensor(file, "output_norm.weight", {E});
  if (file.find("output.weight")) check_tensor(file, "output.weight", {c.vocabulary, E});
  for (int64 layer = 0; layer < c.layers; ++layer) {
    const std::string blk = "blk." + std::to_string(layer) + ".";
    check_tensor(file, blk + "attn_norm.weight", {E});
    check_tensor(file, blk + "attn_q.weight", {c.heads * D, E});
    check_tensor(file, blk + "attn_k.weight", {c.kv_heads * D, E});
    check_tensor(file, blk + "attn_v.weight", {c.kv_heads * D, E});
    check_tensor(file, blk + "attn_output.weight", {E, c.heads * D});
    check_tensor(file, blk + "ffn_norm.weight", {E});
    check_tensor(file, blk + "ffn_gate.weight", {c.hidden, E});
    check_tensor(file, blk + "ffn_up.weight", {c.hidden, E});
    check_tensor(file, blk + "ffn_down.weight", {E, c.hidden});
  }
}

}  // namespace

llama_config config_of(const io::gguf& file, int64 context) {
  const auto architecture = file.get<std::string_view>("general.architecture");
  if (architecture != "llama")
    fail(text{} << file.file() << ": key general.architecture is \"" << architecture << "\", and poot generate knows llama");
  const auto count = [&](std::string_view key, int64 most) {
    return file.integer((text("llama.") << key).str(), 1, most);
  };
  llama_config c;
  c.width = count("embedding_length", 1 << 20);
  c.hidden = count("feed_forward_length", 1 << 22);
  c.layers = count("block_count", 1 << 12);
  c.heads = count("attention.head_count", 1 << 14);
  c.kv_heads = file.find_key("llama.attention.head_count_kv") ? count("attention.head_count_kv", 1 << 14) : c.heads;
  if (c.width % c.heads != 0 || c.heads % c.kv_heads != 0)
    fail(text{} << file.file() << ": keys llama.embedding_length " << c.width << ", llama.attention.head_count " << c.heads
                << " and llama.attention.head_count_kv " << c.kv_heads << " do not divide each other");
  c.head_width = file.find_key("llama.attention.key_length") ? count("attention.key_length", 1 << 14) : c.width / c.heads;
  const int64 turned = file.find_key("llama.rope.dimension_count") ? count("rope.dimension_count", 1 << 14) : c.head_width;
  if (turned != c.head_width || c.head_width % 2 != 0)
    fail(text{} << file.file() << ": key llama.rope.dimension_count is " << turned
                << "; it must be the even width of a head, here " << c.head_width);
  if (file.find_key("llama.rope.scaling.type") && file.get<std::string_view>("llama.rope.scaling.type") != "none")
    fail(text{} << file.file() << ": key llama.rope.scaling.type: scaled rotary frequencies are not available yet");
  c.epsilon = static_cast<float>(file.real("llama.attention.layer_norm_rms_epsilon"));
  c.theta = file.find_key("llama.rope.freq_base") ? static_cast<float>(file.real("llama.rope.freq_base")) : 10000.0f;
  const int64 trained = count("context_length", int64{1} << 30);
  c.context = context > 0 ? context : trained < 4096 ? trained : 4096;
  if (c.context > trained)
    fail(text{} << file.file() << ": a context of " << c.context << " is longer than llama.context_length, " << trained);
  c.vocabulary = file.tensor("token_embd.weight").type.extents[0].code;
  check_tensors(file, c);
  return c;
}

std::vector<weight_type> weight_types_of(const io::gguf& file) {
  std::vector<weight_type> types;
  for (const io::file_tensor& t : file.tensors()) types.push_back({t.name, t.type.element});
  return types;
}

language_model::language_model(const std::string& path, const model_options& o)
    : file_(io::gguf::open(path)), config_(config_of(file_, o.context)), tokenizer_(io::tokenizer::from_gguf(file_)),
      device_(open_device(o.device, o.threads, o.replay)), chunk_(o.prefill_chunk < config_.context ? o.prefill_chunk : config_.context) {
  const auto planning = clock::now();
  llama_step several;
  several.tokens = 0;
  several.most_tokens = chunk_;
  const ir::graph decode = llama_graph(config_, weight_types_of(file_), {}), prefill = llama_graph(config_, weight_types_of(file_), several);
  const plan::entry_graph entries[] = {{"decode", decode}, {"prefill", prefill}};
  plan::options wanted;
  wanted.fuse = o.fuse;
  plan::staged model = plan::compile_staged({entries, 2}, device_->target(), wanted);
  plan_seconds_ = seconds_since(planning);
  const auto loading = clock::now();
  device_->load(std::move(model), o.check);
  for (const io::file_tensor& t : file_.tensors()) {
    if (!device_->has_weight(t.name)) continue;
    device_->load_weight(t.name, {const_cast<uint8*>(t.data), t.type});
    file_.drop(t);  // where rows are read as they are, as those of an embedding, single pages come back
  }
  load_seconds_ = seconds_since(loading);
  for (int64 i = 0; i < config_.context; ++i) keys_.push_back(static_cast<int32>(i));
}

plan::program language_model::plan_step(const llama_step& step, bool fuse) const {
  plan::options wanted;
  wanted.fuse = fuse;
  return plan::compile(llama_graph(config_, weight_types_of(file_), step), device_->target(), wanted);
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
