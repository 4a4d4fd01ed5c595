#include "families.hpp"

#include <poot/ir/graph.hpp>

#include <algorithm>

namespace poot::tool {

namespace {

enum class need : uint8 { always, where_given };

/// Goes through a file's tensors by name. Extents are outermost first.
class tensor_checks {
 public:
  explicit tensor_checks(const io::gguf& file) : file_(file) {}

  /// Numbers beside which values are computed: f32, f16 or bf16.
  void vector(const std::string& name, int64 size, need n = need::always) {
    const io::file_tensor* t = take(name, {size}, n);
    if (t && is_packed(t->type.element)) refuse(*t, "and only matrices may be packed");
  }
  /// What contractions read: floats up to 32 bits, or a packed format.
  void matrix(const std::string& name, std::initializer_list<int64> extents, need n = need::always) { take(name, extents, n); }

  /// Nothing may be left that would change the values.
  void finish() {
    std::sort(taken_.begin(), taken_.end());
    for (const io::file_tensor& t : file_.tensors())
      if (!std::binary_search(taken_.begin(), taken_.end(), &t))
        fail(text{} << file_.file() << ": tensor \"" << io::shown(t.name) << "\" is one that this family does not read");
  }

 private:
  const io::file_tensor* take(const std::string& name, std::initializer_list<int64> extents, need n) {
    const io::file_tensor* found = n == need::always ? &file_.tensor(name) : file_.find(name);
    if (!found) return nullptr;
    const io::file_tensor& t = *found;
    taken_.push_back(found);
    tensor_type wanted;
    wanted.element = t.type.element;
    for (int64 e : extents) wanted.extents[wanted.rank++] = extent(e);
    if (!(wanted == t.type)) {
      text rule = "and the keys of the file make it ";
      ir::write_type(rule, wanted);
      refuse(t, rule);
    }
    if (!is_packed(t.type.element) && (!is_float(t.type.element) || t.type.element == dtype::f64))
      refuse(t, "and weights are f32, f16, bf16 or packed");
    return found;
  }
  [[noreturn]] void refuse(const io::file_tensor& t, const text& rule) const {
    text message = text{} << file_.file() << ": tensor \"" << io::shown(t.name) << "\" is ";
    ir::write_type(message, t.type);
    fail(message << ", " << rule);
  }

  const io::gguf& file_;
  std::vector<const io::file_tensor*> taken_;
};

std::string layer_prefix(int64 layer) { return "blk." + std::to_string(layer) + "."; }

/// `rows` rows of `whole` from `first` on, as a tensor of their own.
io::file_tensor rows_of(const io::file_tensor& whole, std::string name, int64 first, int64 rows) {
  io::file_tensor part = whole;
  const size_t row = whole.size / static_cast<size_t>(whole.type.extents[0].code);
  part.name = std::move(name);
  part.type.extents[0] = extent(rows);
  part.offset += static_cast<size_t>(first) * row;
  part.data += static_cast<size_t>(first) * row;
  part.size = static_cast<size_t>(rows) * row;
  return part;
}

}  // namespace

void check_tensors(const io::gguf& file, const family_row& f, const architecture& a) {
  const int64 E = a.width, F = a.hidden, Q = a.heads * a.head_width, K = a.kv_heads * a.head_width, V = a.kv_heads * a.values();
  tensor_checks check(file);
  check.matrix("token_embd.weight", {a.vocabulary, E});
  check.vector("output_norm.weight", E);
  check.matrix("output.weight", {a.vocabulary, E}, need::where_given);
  for (const char* name : {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"})
    check.vector(name, a.turned / 2, a.frequency_divisors == name ? need::always : need::where_given);
  const need biases = f.biases ? need::always : need::where_given;
  for (int64 layer = 0; layer < a.layers; ++layer) {
    const std::string blk = layer_prefix(layer);
    check.vector(blk + "attn_norm.weight", E);
    if (f.fused) {
      check.matrix(blk + "attn_qkv.weight", {Q + K + V, E});
    } else {
      check.matrix(blk + "attn_q.weight", {Q, E});
      check.matrix(blk + "attn_k.weight", {K, E});
      check.matrix(blk + "attn_v.weight", {V, E});
      check.vector(blk + "attn_q.bias", Q, biases);
      check.vector(blk + "attn_k.bias", K, biases);
      check.vector(blk + "attn_v.bias", V, biases);
    }
    if (f.head_norms) {
      check.vector(blk + "attn_q_norm.weight", a.head_width);
      check.vector(blk + "attn_k_norm.weight", a.head_width);
    }
    check.matrix(blk + "attn_output.weight", {E, a.heads * a.values()});
    check.vector(blk + "attn_output.bias", E, need::where_given);
    if (f.gemma) {
      check.vector(blk + "post_attention_norm.weight", E);
      check.vector(blk + "post_ffw_norm.weight", E);
    }
    check.vector(blk + "ffn_norm.weight", E);
    if (a.experts > 0) {
      check.matrix(blk + "ffn_gate_inp.weight", {a.experts, E});
      check.matrix(blk + "ffn_gate_exps.weight", {a.experts, F, E});
      check.matrix(blk + "ffn_up_exps.weight", {a.experts, F, E});
      check.matrix(blk + "ffn_down_exps.weight", {a.experts, E, F});
    } else if (f.fused) {
      check.matrix(blk + "ffn_up.weight", {2 * F, E});
      check.matrix(blk + "ffn_down.weight", {E, F});
    } else {
      check.matrix(blk + "ffn_gate.weight", {F, E});
      check.matrix(blk + "ffn_up.weight", {F, E});
      check.matrix(blk + "ffn_down.weight", {E, F});
    }
    if (const int64 S = a.shared_hidden) {
      check.vector(blk + "ffn_gate_inp_shexp.weight", E);
      check.matrix(blk + "ffn_gate_shexp.weight", {S, E});
      check.matrix(blk + "ffn_up_shexp.weight", {S, E});
      check.matrix(blk + "ffn_down_shexp.weight", {E, S});
    }
  }
  check.finish();
}

std::vector<io::file_tensor> model_weights(const io::gguf& file, const architecture& a) {
  const int64 F = a.hidden, Q = a.heads * a.head_width, K = a.kv_heads * a.head_width, V = a.kv_heads * a.values();
  const bool fused = file.find("blk.0.attn_qkv.weight") != nullptr;
  std::vector<io::file_tensor> weights;
  const auto cut = [&](const io::file_tensor& whole, std::string_view end, std::initializer_list<std::pair<const char*, int64>> parts) {
    if (!fused || !whole.name.ends_with(end)) return false;
    const std::string blk = whole.name.substr(0, whole.name.size() - end.size());
    int64 first = 0;
    for (const auto& [name, rows] : parts) {
      weights.push_back(rows_of(whole, blk + name, first, rows));
      first += rows;
    }
    return true;
  };
  for (const io::file_tensor& t : file.tensors())
    if (!cut(t, "attn_qkv.weight", {{"attn_q.weight", Q}, {"attn_k.weight", K}, {"attn_v.weight", V}}) &&
        !cut(t, "ffn_up.weight", {{"ffn_gate.weight", F}, {"ffn_up.weight", F}}))
      weights.push_back(t);
  return weights;
}

}  // namespace poot::tool
