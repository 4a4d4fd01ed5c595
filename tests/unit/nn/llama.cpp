#include <poot/io/gguf.hpp>
#include <poot/ir/interpret.hpp>
#include <poot/nn/decoder.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

using poot::f32, poot::i32;

namespace {

/// A tensor of the file, as the interpreter takes it.
poot::ir::tensor read(const poot::io::file_tensor& t) {
  poot::ir::tensor r(t.type);
  const size_t width = poot::row(t.type.element).block_bytes;
  for (size_t i = 0; i < r.bits.size(); ++i) {
    r.bits[i] = 0;
    std::memcpy(&r.bits[i], t.data + i * width, width);
  }
  return r;
}

}  // namespace

TEST_CASE("the decoder gives the logits of a model that was trained elsewhere") {
  const auto file = poot::io::gguf::open("examples/models/meadow/meadow.gguf");
  // BOS and the first 50 tokens of the greedy text (greedy_f16_ids.txt), in one call.
  const int ids[51] = {1,   359, 302, 306, 261, 274, 259, 287, 477, 471, 467, 274, 301, 436, 263, 266, 347,
                       434, 432, 325, 261, 428, 466, 481, 366, 337, 415, 468, 459, 469, 269, 474, 264, 262,
                       335, 321, 470, 339, 338, 312, 465, 424, 475, 269, 467, 459, 343, 274, 467, 298, 464};
  poot::graph g("meadow");
  poot::vec<poot::ir::named_tensor> given;
  const auto weight = [&](std::string_view name) {
    const poot::io::file_tensor& t = file.tensor(name);
    const poot::value v{&g, g.leaf(poot::ir::op::weight, t.type, {}, name)};
    given.push_back({t.name, read(t)});
    return v;
  };
  const auto tokens = g.input("ids", i32, {51});
  const auto position = g.input("position", i32, {1});
  const auto table = weight("token_embd.weight");
  auto x = poot::cast(poot::gather(table, tokens), f32);
  std::string names[10];
  for (int i = 0; i < 5; ++i) {
    const std::string layer = "blk." + std::to_string(i) + ".";
    const auto of = [&](const char* name) { return weight(layer + name + ".weight"); };
    const auto keys = g.state("keys." + std::to_string(i), f32, {4, 64, 8}), values = g.state("values." + std::to_string(i), f32, {4, 64, 8});
    x = poot::nn::decoder_layer(x, position, poot::nn::decoder_weights{of("attn_norm"), of("attn_q"), of("attn_k"), of("attn_v"), of("attn_output"),
                                             of("ffn_norm"), of("ffn_gate"), of("ffn_up"), of("ffn_down")}, keys, values);
  }
  poot::output<"logits">(poot::matmul_t(poot::nn::rms_norm(x, weight("output_norm.weight")), table));

  poot::ir::tensor first(poot::type_of(i32, 51)), where(poot::type_of(i32, 1)), empty(poot::type_of(f32, 4, 64, 8));
  for (size_t i = 0; i < 51; ++i) first.bits[i] = static_cast<poot::uint64>(ids[i]);
  given.push_back({"ids", first});
  given.push_back({"position", where});
  for (int i = 0; i < 5; ++i)
    for (const char* kind : {"keys.", "values."}) {
      std::string& name = names[2 * i + (kind[0] == 'v')];
      name = kind + std::to_string(i);
      given.push_back({name, empty});
    }
  const auto out = poot::ir::interpret(g, given);
  const poot::ir::tensor* logits = poot::ir::find(out.outputs, "logits");
  REQUIRE(logits);
  const auto logit = [&](size_t row, size_t id) {
    return static_cast<double>(std::bit_cast<float>(static_cast<poot::uint32>(logits->bits[row * 512 + id])));
  };
  // examples/models/meadow/logits.json, computed in f64 from the same file.
  const struct {
    size_t row, id;
    double value;
  } wanted[] = {{0, 359, 9.425944},  {0, 347, 9.368034},  {0, 409, 8.782908},  {0, 357, 8.692641},   {0, 354, 8.46037},
                {50, 466, 19.65294}, {50, 333, 9.856466}, {50, 465, 9.404588}, {50, 392, 8.806144}, {50, 284, 7.996329}};
  for (const auto& w : wanted) CHECK(std::fabs(logit(w.row, w.id) - w.value) < 1e-3);
  for (size_t row = 0; row + 1 < 51; ++row) {
    size_t best = 0;
    for (size_t id = 1; id < 512; ++id)
      if (logit(row, id) > logit(row, best)) best = id;
    CHECK(best == static_cast<size_t>(ids[row + 1]));
  }
}
