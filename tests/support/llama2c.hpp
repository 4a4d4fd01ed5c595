#pragma once
/// The llama2.c checkpoint and vocabulary that some tests compare with, where the machine has them.

#include <poot/io/mapping.hpp>
#include <poot/io/tensor_table.hpp>
#include <poot/io/tokenizer.hpp>

#include <cstdio>
#include <cstdlib>

namespace poot_tests {

/// A file under the folder that the environment's POOT_SHARED names, else ../shared beside the source tree.
inline std::string shared_path(std::string_view name) {
  const char* folder = std::getenv("POOT_SHARED");
  const std::string root = folder && *folder ? folder : std::string(POOT_SOURCE_DIR) + "/../shared";
  return root + "/" + std::string(name);
}

/// True if the file can be read; else says on the output that `what` was skipped, and why.
inline bool have_shared(std::string_view name, std::string_view what) {
  const std::string path = shared_path(name);
  if (::access(path.c_str(), R_OK) == 0) return true;
  std::printf("[SKIP] %.*s: there is no %s\n", static_cast<int>(what.size()), what.data(), path.c_str());
  return false;
}

/// stories260K.bin: f32 weights by name. The names are those of GGUF's llama, all layers of a kind in one tensor:
/// "attn_q" is [layers, dim, dim].
struct llama2c_model {
  poot::int64 dim = 0, hidden = 0, layers = 0, heads = 0, kv_heads = 0, vocab = 0, context = 0;
  poot::io::mapping map;
  poot::io::tensor_table tensors;

  poot::int64 kv_dim() const { return dim * kv_heads / heads; }
  const float* data(std::string_view name) const {
    const poot::io::file_tensor* t = tensors.find(name);
    if (!t) poot::fail(poot::text{} << map.path() << ": there is no tensor " << name);
    return reinterpret_cast<const float*>(t->data);  // the header is 28 bytes of a mapped page: aligned to 4
  }
};

inline llama2c_model open_llama2c(const std::string& path) {
  llama2c_model m;
  m.map = poot::io::mapping(path);
  const auto bytes = m.map.bytes();
  if (bytes.size() < 28) poot::fail(poot::text{} << path << ": has no header");
  poot::int64* const sizes[] = {&m.dim, &m.hidden, &m.layers, &m.heads, &m.kv_heads, &m.vocab, &m.context};
  for (size_t i = 0; i < 7; ++i) {
    *sizes[i] = static_cast<poot::int32>(poot::io::load_little_endian<poot::uint32>(&bytes[4 * i]));
    if (*sizes[i] < 1 || *sizes[i] > 1 << 20)
      poot::fail(poot::text{} << path << ": size " << i << " of the header is " << *sizes[i]);
  }
  std::vector<poot::io::file_tensor> found;
  size_t at = 28;
  const auto add = [&](const char* name, poot::tensor_type type) {
    poot::int64 elements, size;
    if (!poot::io::count_bytes(type, elements, size) || static_cast<size_t>(size) > bytes.size() - at)
      poot::fail(poot::text{} << path << ": tensor " << name << " passes the end of the file");
    found.push_back({name, type, at, static_cast<size_t>(size), bytes.data() + at});
    at += static_cast<size_t>(size);
  };
  const auto type = [](auto... extents) { return poot::type_of(poot::f32, extents...); };
  add("token_embd", type(m.vocab, m.dim));
  add("attn_norm", type(m.layers, m.dim));
  add("attn_q", type(m.layers, m.dim, m.dim));
  add("attn_k", type(m.layers, m.kv_dim(), m.dim));
  add("attn_v", type(m.layers, m.kv_dim(), m.dim));
  add("attn_output", type(m.layers, m.dim, m.dim));
  add("ffn_norm", type(m.layers, m.dim));
  add("ffn_gate", type(m.layers, m.hidden, m.dim));
  add("ffn_down", type(m.layers, m.dim, m.hidden));
  add("ffn_up", type(m.layers, m.hidden, m.dim));
  add("output_norm", type(m.dim));
  add("rope_tables", type(2, m.context, m.dim / m.heads / 2));
  if (at != bytes.size()) poot::fail(poot::text{} << path << ": has " << bytes.size() - at << " bytes too many");
  m.tensors = poot::io::tensor_table(std::move(found), path);
  return m;
}

/// tok512.bin: the longest piece's length, then per piece its score, length and bytes, with plain spaces.
inline poot::io::vocabulary open_llama2c_vocabulary(const std::string& path) {
  const poot::io::mapping map(path);
  const auto bytes = map.bytes();
  poot::io::vocabulary v;
  v.space = " ";
  for (size_t at = 4; at < bytes.size();) {
    if (bytes.size() - at < 8) poot::fail(poot::text{} << path << ": ends inside a piece at byte " << at);
    v.scores.push_back(std::bit_cast<float>(poot::io::load_little_endian<poot::uint32>(&bytes[at])));
    const size_t length = poot::io::load_little_endian<poot::uint32>(&bytes[at + 4]);
    at += 8;
    if (length > bytes.size() - at) poot::fail(poot::text{} << path << ": ends inside a piece at byte " << at);
    v.pieces.emplace_back(reinterpret_cast<const char*>(bytes.data()) + at, length);
    at += length;
  }
  return v;
}

/// Token ids of a text file, separated by spaces.
inline std::vector<poot::int32> read_ids(const std::string& path) {
  std::vector<poot::int32> ids;
  const poot::io::mapping map(path);
  const std::string chars(map.bytes().begin(), map.bytes().end());
  const char* at = chars.c_str();
  for (char* end; ; at = end) {
    const long id = std::strtol(at, &end, 10);
    if (end == at) return ids;
    ids.push_back(static_cast<poot::int32>(id));
  }
}

}  // namespace poot_tests
