#pragma once
/// GGUF files of small decoders of each family, as they are and as they should not be: keys and tensors by name.

#include "../../../examples/tool/architecture.hpp"

#include <support/file_bytes.hpp>

#include <map>
#include <variant>

namespace poot_tests {

/// `gguf_type`: its number in the format. Extents are outermost first. Elements of f32 lie in [−1/4, 1/4).
struct file_part {
  std::vector<poot::uint64> extents;
  poot::uint32 gguf_type = 0;
};

class family_file {
 public:
  using key_value = std::variant<poot::uint32, float, std::string, std::vector<std::string>>;

  std::map<std::string, key_value> keys;
  std::map<std::string, file_part> tensors;

  /// The key of the family itself.
  key_value& own(const std::string& name) { return keys[std::get<std::string>(keys.at("general.architecture")) + "." + name]; }

  std::vector<poot::uint8> bytes() const {
    file_bytes f;
    f.gguf_header(tensors.size(), keys.size());
    for (const auto& [name, value] : keys) {
      if (const auto* n = std::get_if<poot::uint32>(&value)) f.key(name, 4).u32(*n);
      else if (const auto* v = std::get_if<float>(&value)) f.key(name, 6).f32(*v);
      else if (const auto* s = std::get_if<std::string>(&value)) f.key(name, 8).string(*s);
      else {
        const auto& list = std::get<std::vector<std::string>>(value);
        f.key(name, 9).u32(8).u64(list.size());
        for (const std::string& item : list) f.string(item);
      }
    }
    poot::uint64 offset = 0;
    for (const auto& [name, t] : tensors) {
      f.tensor(name, {t.extents.rbegin(), t.extents.rend()}, t.gguf_type, offset);
      offset += padded(t);
    }
    f.pad(32);
    f.bytes.reserve(f.bytes.size() + offset);
    for (poot::uint64 i = 0; i < offset / 4; ++i) f.f32(static_cast<float>((i * 2654435761u >> 7) % 1024) / 2048 - 0.25f);
    return f.bytes;
  }

 private:
  static poot::uint64 padded(const file_part& t) {
    poot::uint64 elements = 1;
    for (poot::uint64 e : t.extents) elements *= e;
    const poot::uint64 size = t.gguf_type == 8 ? elements / 32 * 34 : elements * (t.gguf_type == 28 ? 8 : 4);
    return (size + 31) / 32 * 32;
  }
};

/// Width 64, 4 heads of 16, 2 of them for keys and values; `layers` layers, or else as many as show each kind. "mixtral" is a
/// llama with experts.
inline family_file small_family(const std::string& family, poot::uint32 layers = 0) {
  constexpr poot::uint64 E = 64, F = 96, V = 40, Q = 64, K = 32, D = 16, X = 8, S = 48;
  const bool gemma = family.starts_with("gemma"), fused = family == "phi3", routed = family == "mixtral" || family.ends_with("moe");
  if (layers == 0) layers = family == "gemma3" ? 6 : 2;
  family_file f;
  f.keys["general.architecture"] = family == "mixtral" ? "llama" : family;
  f.own("embedding_length") = poot::uint32{E};
  f.own("feed_forward_length") = poot::uint32{F};
  f.own("block_count") = layers;
  f.own("context_length") = 128u;
  f.own("attention.head_count") = 4u;
  f.own("attention.head_count_kv") = 2u;
  f.own("attention.layer_norm_rms_epsilon") = 1e-5f;
  if (gemma) f.own("attention.sliding_window") = 16u;
  if (family == "gemma2") f.own("attn_logit_softcapping") = 50.0f, f.own("final_logit_softcapping") = 30.0f;
  if (routed) f.own("expert_count") = poot::uint32{X}, f.own("expert_used_count") = 2u;
  if (family.ends_with("moe")) f.own("expert_feed_forward_length") = poot::uint32{F};
  if (family == "qwen2moe") f.own("expert_shared_feed_forward_length") = poot::uint32{S};
  f.tensors["token_embd.weight"] = {{V, E}};
  f.tensors["output_norm.weight"] = {{E}};
  for (poot::uint32 layer = 0; layer < layers; ++layer) {
    const auto add = [&](const char* name, std::vector<poot::uint64> extents) {
      f.tensors["blk." + std::to_string(layer) + "." + name] = {std::move(extents)};
    };
    add("attn_norm.weight", {E});
    add("ffn_norm.weight", {E});
    if (fused) {
      add("attn_qkv.weight", {Q + K + K, E});
      add("ffn_up.weight", {2 * F, E});
    } else {
      add("attn_q.weight", {Q, E});
      add("attn_k.weight", {K, E});
      add("attn_v.weight", {K, E});
    }
    add("attn_output.weight", {E, Q});
    if (routed) {
      add("ffn_gate_inp.weight", {X, E});
      add("ffn_gate_exps.weight", {X, F, E});
      add("ffn_up_exps.weight", {X, F, E});
      add("ffn_down_exps.weight", {X, E, F});
    } else {
      if (!fused) add("ffn_gate.weight", {F, E}), add("ffn_up.weight", {F, E});
      add("ffn_down.weight", {E, F});
    }
    if (family == "qwen2moe") {
      add("ffn_gate_inp_shexp.weight", {E});
      add("ffn_gate_shexp.weight", {S, E});
      add("ffn_up_shexp.weight", {S, E});
      add("ffn_down_shexp.weight", {E, S});
    }
    if (family.starts_with("qwen2")) add("attn_q.bias", {Q}), add("attn_k.bias", {K}), add("attn_v.bias", {K});
    if (family.starts_with("qwen3") || family == "gemma3") add("attn_q_norm.weight", {D}), add("attn_k_norm.weight", {D});
    if (gemma) add("post_attention_norm.weight", {E}), add("post_ffw_norm.weight", {E});
  }
  return f;
}

/// The sentence of the `poot::error` with which the file is refused; empty if it is not.
inline std::string refusal_of(const family_file& f, poot::int64 context = 0) {
  const std::vector<poot::uint8> bytes = f.bytes();
  try {
    poot::tool::read_architecture(poot::io::gguf::parse({bytes.data(), bytes.size()}, "m.gguf"), context);
  } catch (const poot::error& e) {
    return e.what();
  }
  return "";
}

}  // namespace poot_tests
