#include "families.hpp"

#include <algorithm>
#include <cmath>

namespace poot::tool {

namespace {

/// The keys of one family.
class family_keys {
 public:
  family_keys(const io::gguf& file, std::string_view family) : file_(file), family_(family) {}

  std::string name(std::string_view key) const { return family_ + "." + std::string(key); }
  bool has(std::string_view key) const { return file_.find_key(name(key)) != nullptr; }
  int64 count(std::string_view key, int64 most, int64 least = 1) const { return file_.integer(name(key), least, most); }
  int64 count_or(std::string_view key, int64 otherwise, int64 most, int64 least = 1) const {
    return has(key) ? count(key, most, least) : otherwise;
  }
  /// A finite number above 0.
  double positive(std::string_view key) const {
    const double v = file_.real(name(key));
    if (!(v > 0 && v <= 3.4028234663852886e38)) refuse(key, text{} << "must be a finite number above 0");
    return v;
  }
  double positive_or(std::string_view key, double otherwise) const { return has(key) ? positive(key) : otherwise; }
  [[noreturn]] void refuse(std::string_view key, const text& rule) const {
    fail(text{} << file_.file() << ": key " << io::shown(name(key)) << ' ' << rule);
  }

 private:
  const io::gguf& file_;
  std::string family_;
};

void read_heads(const family_keys& keys, architecture& a) {
  a.heads = keys.count("attention.head_count", 1 << 14);
  a.kv_heads = keys.count_or("attention.head_count_kv", a.heads, 1 << 14);
  if (a.heads % a.kv_heads != 0)
    keys.refuse("attention.head_count_kv", text{} << "is " << a.kv_heads << ", which does not divide attention.head_count, " << a.heads);
  const bool stated = keys.has("attention.key_length");
  if (!stated && a.width % a.heads != 0)
    keys.refuse("attention.head_count", text{} << "is " << a.heads << ", which does not divide embedding_length, " << a.width
                                               << ", and there is no attention.key_length");
  a.head_width = stated ? keys.count("attention.key_length", 1 << 14) : a.width / a.heads;
  a.value_width = keys.count_or("attention.value_length", a.head_width, 1 << 14);
  a.turned = keys.count_or("rope.dimension_count", a.head_width, 1 << 14);
  if (a.turned > a.head_width || a.turned % 2 != 0)
    keys.refuse("rope.dimension_count", text{} << "is " << a.turned << ", and must be an even number, at most the width of a head, "
                                               << a.head_width);
}

const family_row& family_of(const io::gguf& file) {
  const auto name = file.get<std::string_view>("general.architecture");
  text known;
  for (const family_row& f : families) {
    if (f.name == name) return f;
    known << (known.empty() ? "" : ", ") << f.name;
  }
  fail(text{} << file.file() << ": key general.architecture is \"" << io::shown(name) << "\", and poot builds " << known);
}

/// YaRN (Peng et al. 2023): pairs that turn often in the trained context keep their frequency, those that turn less than once
/// are slowed by the factor, and between them is a ramp.
std::vector<float> yarn_scale(const family_keys& keys, const architecture& a, double factor, int64 trained) {
  const int64 original = keys.count_or("rope.scaling.original_context_length", trained, int64{1} << 30);
  const double fast = keys.positive_or("rope.scaling.yarn_beta_fast", 32), slow = keys.positive_or("rope.scaling.yarn_beta_slow", 1);
  const double theta = static_cast<double>(a.theta), width = static_cast<double>(a.turned);
  const auto pair_of = [&](double turns) {  // the pair that turns so often in the original context
    return width * std::log(static_cast<double>(original) / (turns * 2 * M_PI)) / (2 * std::log(theta));
  };
  const double first = std::max(0.0, std::floor(pair_of(fast))), last = std::min(width - 1, std::ceil(pair_of(slow)));
  std::vector<float> scale;
  for (int64 i = 0; i < a.turned / 2; ++i) {
    const double along = (static_cast<double>(i) - first) / std::max(0.001, last - first);
    const double slowed = std::min(1.0, std::max(0.0, along));
    scale.push_back(static_cast<float>(1 - slowed + slowed / factor));
  }
  return scale;
}

void read_rotary(const io::gguf& file, const family_keys& keys, architecture& a, int64 trained) {
  a.theta = static_cast<float>(keys.positive_or("rope.freq_base", 10000));
  a.rotary_magnitude = static_cast<float>(keys.positive_or("rope.scaling.attn_factor", 1));
  const bool older = keys.has("rope.scale_linear");  // the factor's name before there were types
  std::string kind = older || keys.has("rope.scaling.factor") ? "linear" : "none";
  if (keys.has("rope.scaling.type")) kind = file.get<std::string_view>(keys.name("rope.scaling.type"));
  if (kind == "linear") {
    const double factor = keys.positive(older ? "rope.scale_linear" : "rope.scaling.factor");
    a.frequency_scale.assign(static_cast<size_t>(a.turned / 2), static_cast<float>(1 / factor));
  } else if (kind == "yarn") {
    const double factor = keys.positive("rope.scaling.factor");
    if (a.theta == 1) keys.refuse("rope.freq_base", text{} << "is 1, so yarn has no frequencies to tell apart");
    a.frequency_scale = yarn_scale(keys, a, factor, trained);
    a.rotary_magnitude *= static_cast<float>(1 + 0.1 * std::log(factor));
  } else if (kind != "none" && kind != "longrope") {
    keys.refuse("rope.scaling.type", text{} << "is \"" << io::shown(kind) << "\", and poot knows none, linear, yarn and longrope");
  }
  if (file.find("rope_freqs.weight")) a.frequency_divisors = "rope_freqs.weight";
  const bool long_factors = file.find("rope_factors_long.weight"), short_factors = file.find("rope_factors_short.weight");
  if (long_factors || short_factors) {
    const int64 original = keys.count("rope.scaling.original_context_length", int64{1} << 30);
    a.frequency_divisors = a.context > original ? "rope_factors_long.weight" : "rope_factors_short.weight";
  }
}

void read_windows(const family_keys& keys, const family_row& f, architecture& a) {
  a.window = keys.count_or("attention.sliding_window", f.default_window, int64{1} << 30, 0);
  if (f.window_period < 0) {
    if (a.window > 0 && a.window < a.context)
      keys.refuse("attention.sliding_window", text{} << "is " << a.window << ", less than the context of " << a.context << ", and no layer of "
                                                     << f.name << " slides here");
    a.window = 0;
    return;
  }
  if (f.sliding_theta > 0 && a.window == 0) keys.refuse("attention.sliding_window", text{} << "is missing or 0, and layers of " << f.name << " slide");
  a.window_period = f.window_period > 0 ? keys.count_or("attention.sliding_window_pattern", f.window_period, 1 << 12) : 0;
  a.sliding_theta = f.sliding_theta > 0 ? static_cast<float>(keys.positive_or("rope.freq_base_swa", static_cast<double>(f.sliding_theta))) : 0;
}

void read_experts(const io::gguf& file, const family_keys& keys, const family_row& f, architecture& a) {
  if (!f.routed && !keys.has("expert_count")) return;
  a.experts = keys.count("expert_count", 1 << 12, f.routed ? 1 : 0);
  if (a.experts == 0) return;
  a.experts_used = keys.count("expert_used_count", 1 << 12);
  if (a.experts_used > a.experts)
    keys.refuse("expert_used_count", text{} << "is " << a.experts_used << ", more than expert_count, " << a.experts);
  if (f.routed) a.hidden = keys.count("expert_feed_forward_length", 1 << 22);
  if (f.shared) a.shared_hidden = keys.count("expert_shared_feed_forward_length", 1 << 22);
  a.normalised_experts = f.normalised;
  if (keys.has("expert_weights_scale") && file.real(keys.name("expert_weights_scale")) != 1)
    keys.refuse("expert_weights_scale", "is not 1, and poot scales no experts");
  if (keys.has("expert_gating_func") && keys.count("expert_gating_func", 255, 0) != 1)
    keys.refuse("expert_gating_func", "is not 1, softmax, and poot knows no other");
}

}  // namespace

architecture read_architecture(const io::gguf& file, int64 context) {
  const family_row& f = family_of(file);
  const family_keys keys(file, f.name);
  architecture a;
  a.family = f.name;
  a.rotate_halves = f.halves;
  a.tanh_gelu = a.scaled_embedding = f.gemma;
  a.width = keys.count("embedding_length", 1 << 20);
  if (!f.routed) a.hidden = keys.count("feed_forward_length", 1 << 22);
  a.layers = keys.count("block_count", 1 << 12);
  read_heads(keys, a);
  a.epsilon = static_cast<float>(keys.positive("attention.layer_norm_rms_epsilon"));
  const int64 trained = keys.count("context_length", int64{1} << 30);
  a.context = context > 0 ? context : std::min<int64>(trained, 4096);
  if (a.context > trained) keys.refuse("context_length", text{} << "is " << trained << ", less than the context of " << a.context << " that is asked for");
  read_rotary(file, keys, a, trained);
  read_windows(keys, f, a);
  read_experts(file, keys, f, a);
  if (f.gemma) {
    a.attention_cap = static_cast<float>(keys.positive_or("attn_logit_softcapping", 0));
    a.logit_cap = static_cast<float>(keys.positive_or("final_logit_softcapping", 0));
  }
  if (f.largest_layers == a.layers) a.attention_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(a.width / a.heads)));
  a.vocabulary = file.tensor("token_embd.weight").type.extents[0].code;
  if (a.vocabulary < 1) fail(text{} << file.file() << ": tensor \"token_embd.weight\" has no rows, so there is no token");
  check_tensors(file, f, a);
  const io::gguf_entry* pieces = file.find_key("tokenizer.ggml.tokens");
  if (pieces && static_cast<int64>(pieces->count) != a.vocabulary)
    fail(text{} << file.file() << ": key tokenizer.ggml.tokens has " << pieces->count << " pieces, and tensor \"token_embd.weight\" "
                << a.vocabulary << " rows");
  return a;
}

}  // namespace poot::tool
