#pragma once
/// A small decoder over paged caches, a batch of sequences of different lengths, beside the same decoder with a cache for each.

#include <poot/ir/interpret.hpp>
#include <poot/nn/paged_cache.hpp>
#include <poot/plan/compile.hpp>

#include <device/executor.hpp>
#include <support/draws.hpp>

#include <string>
#include <vector>

namespace paged_decoder {

using namespace poot;
using poot_tests::machine;

inline constexpr int64 width = 32, heads = 4, shared = 2, head = 8, hidden = 48, page = 4, longest = 4, pages = 11, sequences = 3, layers = 2;

/// Weights of a layer, of which the graph knows the names.
struct weights {
  value attn_norm, attn_q, attn_k, attn_v, attn_output, ffn_norm, ffn_gate, ffn_up, ffn_down;
};
inline weights weights_of(graph& g, int64 layer) {
  const auto w = [&](const char* kind, std::initializer_list<extent> extents) { return g.weight(std::string(kind) + std::to_string(layer), extents.size() == 1 ? f32 : bf16, extents); };
  return {w("attn_norm", {width}), w("attn_q", {heads * head, width}), w("attn_k", {shared * head, width}), w("attn_v", {shared * head, width}),
          w("attn_output", {width, heads * head}), w("ffn_norm", {width}), w("ffn_gate", {hidden, width}), w("ffn_up", {hidden, width}), w("ffn_down", {width, hidden})};
}

/// x[B,E] after the layers, a row of each sequence at its position.
inline graph paged() {
  graph g("paged");
  value x = g.input("x", f32, {sequences, width});
  const value positions = g.input("positions", i32, {sequences}), table = g.input("table", i32, {sequences, longest});
  for (int64 layer = 0; layer < layers; ++layer) {
    const weights w = weights_of(g, layer);
    const std::string n = std::to_string(layer);
    const value key_pages = g.state("keys" + n, bf16, {shared, pages, page, head}), value_pages = g.state("values" + n, bf16, {shared, pages, page, head});
    const value h = nn::rms_norm(x, w.attn_norm, number<1e-5>);
    const value q = nn::split_heads(dsl::matmul_t(h, w.attn_q), head), k = nn::split_heads(dsl::matmul_t(h, w.attn_k), head), v = nn::split_heads(dsl::matmul_t(h, w.attn_v), head);
    const auto tables = nn::rope_tables(positions, q, number<10000>);
    const value keys = dsl::update(key_pages, nn::write_pages(key_pages, nn::rope<nn::rope_pairs::adjacent>(k, get<0>(tables), get<1>(tables)), table, positions));
    const value values = dsl::update(value_pages, nn::write_pages(value_pages, v, table, positions));
    const value mixed = nn::join_heads(nn::paged_attention(nn::rope<nn::rope_pairs::adjacent>(q, get<0>(tables), get<1>(tables)), keys, values, table, positions));
    const value y = x + dsl::matmul_t(mixed, w.attn_output);
    x = y + nn::gated_mlp(nn::rms_norm(y, w.ffn_norm, number<1e-5>), w.ffn_gate, w.ffn_up, w.ffn_down);
  }
  g.output("y", x);
  return g;
}

/// The same of one sequence, whose cache lies in one piece.
inline graph contiguous() {
  graph g("contiguous");
  value x = g.input("x", f32, {1, width});
  const value position = g.input("position", i32, {1});
  for (int64 layer = 0; layer < layers; ++layer) {
    const std::string n = std::to_string(layer);
    const value keys = g.state("keys" + n, bf16, {shared, page * longest, head}), values = g.state("values" + n, bf16, {shared, page * longest, head});
    const weights w = weights_of(g, layer);
    x = nn::decoder_layer(x, position, nn::decoder_weights{w.attn_norm, w.attn_q, w.attn_k, w.attn_v, w.attn_output, w.ffn_norm, w.ffn_gate, w.ffn_up, w.ffn_down}, keys, values);
  }
  g.output("y", x);
  return g;
}

/// Values of all leaves but those that change: weights at random, caches of 0.
inline std::vector<ir::named_tensor> standing(const ir::graph_view& g) {
  std::vector<ir::named_tensor> all;
  for (uint32 id = 0; id < g.size(); ++id) {
    if (g[id].kind != ir::op::weight && g[id].kind != ir::op::state) continue;
    ir::tensor t(g.type(id));
    poot_tests::draws d(hash_text(g.name_of(id)));
    if (g[id].kind == ir::op::weight)
      for (uint64& bits : t.bits) bits = ir::detail::store_float(t.type.element, static_cast<float>(d.between(-0.5, 0.5)));
    all.push_back({g.name_of(id), std::move(t)});
  }
  return all;
}

/// Row `n` of what sequence `s` reads; the first two have eight rows in common.
inline std::vector<uint64> token(int64 s, int64 n) {
  poot_tests::draws d(static_cast<uint64>((s == 1 && n < 2 * page ? 0 : s) * 100 + n));
  std::vector<uint64> bits;
  for (int64 i = 0; i < width; ++i) bits.push_back(ir::detail::store_float(f32, static_cast<float>(d.between(-1, 1))));
  return bits;
}

template <class Values>
ir::tensor tensor_of(const tensor_type& t, const Values& values) {
  ir::tensor made(t);
  for (size_t i = 0; i < made.bits.size(); ++i) made.bits[i] = static_cast<uint32>(values[i]);
  return made;
}

/// Rows of the paged decoder that differ in a bit from those of a decoder for each sequence, of all that were compared.
/// `load(program)` makes a machine of a program of `where`.
template <class Load>
int different_rows(const target& where, Load load, int& compared, bool fuse = true) {
  plan::options wanted;
  wanted.fuse = fuse;
  const plan::program together = plan::compile(paged(), where, wanted), alone = plan::compile(contiguous(), where, wanted);
  const auto batch = load(together);
  // Page 10 is read and written by those that wait. The second sequence begins with the pages of the first.
  const std::vector<std::vector<int32>> tables{{7, 2, 9, 0}, {7, 2, 1, 5}, {4, 8, 3, 6}};
  const int64 begins[sequences] = {0, 2 * page, 1}, first[sequences] = {0, 2 * page, 0};  // step and position
  std::vector<std::vector<std::vector<uint64>>> want(sequences);
  for (int64 s = 0; s < sequences; ++s) {
    const auto single = load(alone);
    for (int64 n = 0; n < 12; ++n) {
      std::vector<ir::named_tensor> given = standing(alone.graph);
      given.push_back({"x", tensor_of(type_of(f32, 1, width), token(s, n))});
      given.push_back({"position", tensor_of(type_of(i32, 1), std::vector<int64>{n})});
      const ir::tensor y = single->run(given).outputs[0].value;
      want[static_cast<size_t>(s)].push_back({y.bits.begin(), y.bits.end()});
    }
  }
  int different = 0;
  for (int64 step = 0; step < 12; ++step) {
    std::vector<uint64> x;
    std::vector<int32> positions, table;
    for (int64 s = 0; s < sequences; ++s) {
      const bool waits = step < begins[s];
      const int64 n = waits ? 0 : step - begins[s] + first[s];
      for (uint64 bits : token(s, n)) x.push_back(bits);
      positions.push_back(static_cast<int32>(n));
      for (int32 p : tables[static_cast<size_t>(s)]) table.push_back(waits ? 10 : p);
    }
    std::vector<ir::named_tensor> given = standing(together.graph);
    given.push_back({"x", tensor_of(type_of(f32, sequences, width), x)});
    given.push_back({"positions", tensor_of(type_of(i32, sequences), positions)});
    given.push_back({"table", tensor_of(type_of(i32, sequences, longest), table)});
    const ir::tensor y = batch->run(given).outputs[0].value;
    for (int64 s = 0; s < sequences; ++s) {
      if (step < begins[s]) continue;
      const std::vector<uint64>& row = want[static_cast<size_t>(s)][static_cast<size_t>(positions[static_cast<size_t>(s)])];
      for (size_t i = 0; i < row.size(); ++i)
        if (row[i] != y.bits[static_cast<size_t>(s * width) + i]) {
          ++different;
          break;
        }
      ++compared;
    }
  }
  return different;
}

}  // namespace paged_decoder
