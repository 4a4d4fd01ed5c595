#pragma once
/// Small language models as decoder weights under the names of GGUF, whatever file they come from.

#include "../../../examples/tool/transformer.hpp"

#include <poot/io/gguf.hpp>
#include <poot/io/safetensors.hpp>
#include <poot/run/host/executor.hpp>

#include <support/llama2c.hpp>

#include <algorithm>
#include <cstring>

namespace poot_tests {

struct decoder_model {
  poot::tool::architecture config;
  std::vector<poot::tool::weight_type> types;
  std::vector<std::pair<std::string, poot::run::buffer>> weights;

  void add(std::string name, const void* data, const poot::tensor_type& t) {
    types.push_back({name, t.element});
    weights.push_back({std::move(name), {const_cast<void*>(data), t}});
  }
};

inline std::string layer_name(poot::int64 layer, std::string_view kind) {
  return "blk." + std::to_string(layer) + "." + std::string(kind) + ".weight";
}

inline decoder_model from_llama2c(const llama2c_model& m) {
  decoder_model d;
  d.config = {m.dim, m.hidden, m.layers, m.heads, m.kv_heads, m.dim / m.heads, m.vocab, m.context};
  for (const char* whole : {"token_embd", "output_norm"})
    d.add(std::string(whole) + ".weight", m.data(whole), m.tensors.find(whole)->type);
  for (const char* kind : {"attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_down", "ffn_up"}) {
    const poot::tensor_type all = m.tensors.find(kind)->type;
    poot::tensor_type one = all;  // without the axis of layers
    one.rank = static_cast<poot::uint8>(all.rank - 1);
    for (int i = 0; i < one.rank; ++i) one.extents[i] = all.extents[i + 1];
    for (poot::int64 layer = 0; layer < m.layers; ++layer)
      d.add(layer_name(layer, kind), m.data(kind) + layer * one.element_count(), one);
  }
  return d;
}

inline decoder_model from_gguf(const poot::io::gguf& file) {
  decoder_model d;
  const auto count = [&](const char* key) { return file.integer(std::string("llama.") + key, 1, 1 << 20); };
  d.config.width = count("embedding_length");
  d.config.hidden = count("feed_forward_length");
  d.config.layers = count("block_count");
  d.config.heads = count("attention.head_count");
  d.config.kv_heads = count("attention.head_count_kv");
  d.config.head_width = d.config.width / d.config.heads;
  d.config.context = count("context_length");
  d.config.vocabulary = file.tensor("token_embd.weight").type.extents[0].code;
  for (const poot::io::file_tensor& t : file.tensors()) d.add(t.name, t.data, t.type);
  return d;
}

/// The Hugging Face names and rotary order of Meadow's safetensors file; its config.json says the rest.
inline decoder_model from_meadow_safetensors(const poot::io::safetensors& file) {
  decoder_model d;
  d.config = {64, 172, 5, 8, 4, 8, 512, 512};
  d.config.rotate_halves = true;
  const std::pair<const char*, const char*> kinds[] = {
      {"input_layernorm", "attn_norm"},       {"self_attn.q_proj", "attn_q"},      {"self_attn.k_proj", "attn_k"},
      {"self_attn.v_proj", "attn_v"},         {"self_attn.o_proj", "attn_output"}, {"post_attention_layernorm", "ffn_norm"},
      {"mlp.gate_proj", "ffn_gate"},          {"mlp.up_proj", "ffn_up"},           {"mlp.down_proj", "ffn_down"}};
  const auto take = [&](const std::string& from, std::string to) {
    const poot::io::file_tensor& t = file.tensor(from);
    d.add(std::move(to), t.data, t.type);
  };
  take("model.embed_tokens.weight", "token_embd.weight");
  take("model.norm.weight", "output_norm.weight");
  for (poot::int64 layer = 0; layer < d.config.layers; ++layer)
    for (const auto& [from, to] : kinds)
      take("model.layers." + std::to_string(layer) + "." + from + ".weight", layer_name(layer, to));
  return d;
}

/// A model on the host, fused or one dispatch per equation, with entries of its own.
class loaded_model {
 public:
  loaded_model(const decoder_model& m, bool fuse, std::initializer_list<std::pair<const char*, poot::tool::model_step>> entries,
               int threads = 1)
      : config_(m.config), host_(threads) {
    poot::plan::options wanted;
    wanted.fuse = fuse;
    for (const auto& [name, step] : entries)
      host_.add_entry(name, poot::plan::compile(poot::tool::transformer_graph(m.config, m.types, step), poot::targets::host, wanted));
    for (const auto& [name, b] : m.weights) host_.load_weight(name, b);
    for (poot::int64 i = 0; i < config_.context; ++i) keys_.push_back(static_cast<poot::int32>(i));
  }

  /// One step of entry `name` that begins at position `start`; `tokens` of all sequences, one after another. Returns the
  /// logits it gives.
  std::vector<float> step(const char* name, poot::int32 start, const std::vector<poot::int32>& tokens, poot::int64 sequences = 1) {
    return step(name, std::vector<poot::int32>(static_cast<size_t>(sequences), start), tokens);
  }
  /// The same where each sequence begins at a position of its own.
  std::vector<float> step(const char* name, const std::vector<poot::int32>& starts, const std::vector<poot::int32>& tokens) {
    poot::run::host::entry& e = host_[name];
    const auto sequences = static_cast<poot::int64>(starts.size()), count = static_cast<poot::int64>(tokens.size()), each = count / sequences;
    const poot::int32 latest = *std::max_element(starts.begin(), starts.end());
    std::vector<poot::int32> last;
    for (poot::int64 s = 1; s <= sequences; ++s) last.push_back(static_cast<poot::int32>(s * each - 1));
    e.bind("tokens", poot::run::read_only(tokens.data(), poot::dtype::i32, count))
        .bind("start", poot::run::read_only(starts.data(), poot::dtype::i32, sequences))
        .bind("keys", poot::run::read_only(keys_.data(), poot::dtype::i32, latest + each));
    if (e.program().graph.find_leaf("last") < e.program().graph.size())
      e.bind("last", poot::run::read_only(last.data(), poot::dtype::i32, sequences));
    e.run();
    const poot::run::buffer b = e.result("logits");
    const float* first = static_cast<const float*>(b.data);
    return {first, first + b.type.element_count()};
  }
  poot::int64 vocabulary() const { return config_.vocabulary; }

 private:
  poot::tool::architecture config_;
  poot::run::host::executor host_;
  poot::vec<poot::int32> keys_;
};

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

inline poot::int32 greedy(const std::vector<float>& logits) {
  size_t best = 0;
  for (size_t i = 1; i < logits.size(); ++i)
    if (logits[i] > logits[best]) best = i;
  return static_cast<poot::int32>(best);
}

}  // namespace poot_tests
