// How many dispatches a layer of each family takes, as docs/models.md says: what one more layer adds to a step.
#include "family_file.hpp"

#include "../../../examples/tool/sampling.cpp"
#include "../../../examples/tool/transformer.hpp"

#include <poot/plan/compile.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>

using namespace poot_tests;

namespace {

struct counts {
  size_t decode, prefill;    ///< of one layer: one token; several
  size_t documents, unfused; ///< one token by `options::document_rules`; a dispatch for each equation
  size_t around;             ///< of a step of one token, besides its layers
  bool operator==(const counts&) const = default;
};

/// The rows of the table in docs/models.md, which is the only one.
std::vector<std::pair<std::string, counts>> rows_of_page() {
  std::ifstream page(std::string(POOT_SOURCE_DIR) + "/docs/models.md");
  std::vector<std::pair<std::string, counts>> rows;
  for (std::string line; std::getline(page, line);) {
    char family[16];
    counts c{};
    if (std::sscanf(line.c_str(), "| %15s | %zu | %zu | %zu | %zu | %zu |", family, &c.decode, &c.prefill, &c.documents, &c.unfused, &c.around) == 6) rows.emplace_back(family, c);
  }
  return rows;
}

size_t dispatches(const std::string& family, poot::uint32 layers, poot::int64 tokens, const poot::plan::options& wanted,
                  const poot::target& where = poot::targets::host, const poot::tool::sampling* choice = nullptr, poot::dtype matrices = poot::f32,
                  poot::int64 vocabulary = 0) {
  const std::vector<poot::uint8> bytes = small_family(family, layers).bytes();
  const auto file = poot::io::gguf::parse({bytes.data(), bytes.size()}, "m.gguf");
  poot::tool::architecture a = poot::tool::read_architecture(file, 0);
  std::vector<poot::tool::weight_type> types;
  for (const auto& w : poot::tool::model_weights(file, a)) types.push_back({w.name, w.type.rank > 1 ? matrices : w.type.element});
  if (vocabulary) a.vocabulary = vocabulary;
  poot::tool::model_step step;
  step.tokens = tokens;
  step.most_tokens = 64;
  poot::ir::graph g = poot::tool::transformer_graph(a, types, step);
  if (choice) poot::tool::add_token(g, *choice);
  return poot::plan::compile(g, where, wanted).dispatch_count();
}

/// Where kinds of layers alternate, a layer is the mean of a period; that must be whole.
counts of_a_layer(const std::string& family) {
  const poot::uint32 period = family == "gemma2" ? 2 : family == "gemma3" ? 6 : 1;
  poot::plan::options usual, documents, unfused;
  documents.document_rules = true;
  unfused.fuse = false;
  const auto added = [&](poot::int64 tokens, const poot::plan::options& wanted) {
    const size_t more = dispatches(family, 3 * period, tokens, wanted) - dispatches(family, 2 * period, tokens, wanted);
    CHECK(more % period == 0);
    return more / period;
  };
  const size_t decode = added(1, usual);
  return {decode, added(0, usual), added(1, documents), added(1, unfused), dispatches(family, 2 * period, 1, usual) - 2 * period * decode};
}

}  // namespace

TEST_CASE("a layer of each family takes the dispatches that docs/models.md says") {
  const auto rows = rows_of_page();
  CHECK(rows.size() == 9);
  for (const auto& [family, expected] : rows) {
    CAPTURE(family);
    const counts now = of_a_layer(family);
    if (!(now == expected)) std::printf("| %s | %zu | %zu | %zu | %zu | %zu |\n", family.c_str(), now.decode, now.prefill, now.documents, now.unfused, now.around);
    CHECK(now == expected);
  }
}

TEST_CASE("a token of a llama takes six dispatches a layer, and three for what is around the layers and the choice of the next") {
  for (const poot::target& where : {poot::targets::host, poot::targets::vulkan_lavapipe, poot::targets::vulkan_swiftshader, poot::targets::cuda_sm80, poot::targets::hip_gfx90a})
    for (poot::uint32 layers : {1u, 2u, 5u})
      for (float temperature : {0.0f, 0.8f}) {  // the likeliest; drawn, with its random numbers beside what the step begins with
        poot::tool::sampling choice;
        choice.temperature = temperature;
        for (poot::dtype matrices : {poot::f32, poot::bf16, poot::q8_0}) CHECK(dispatches("llama", layers, 1, {}, where, &choice, matrices) == 6 * layers + 3);
      }
}

TEST_CASE("a large vocabulary takes no dispatch more: the head reduces its columns, however many tokens are drawn from") {
  for (const auto& named : poot::targets::named) {
    if (named.is.kind == poot::backend::aie) continue;
    CAPTURE(named.name);
    for (poot::int64 vocabulary : {32000, 151936})
      for (float temperature : {0.0f, 0.8f, 1.5f}) {
        poot::tool::sampling choice;
        choice.temperature = temperature;
        if (temperature > 1) choice.min_p = 0.1f;  // the whole row is reduced anyway, and its argmax there
        CHECK(dispatches("llama", 1, 1, {}, named.is, &choice, poot::q8_0, vocabulary) == 6 + 3);
        CHECK(dispatches("gemma2", 1, 1, {}, named.is, &choice, poot::bf16, vocabulary) == 6 + 3);  // whose logits are capped
      }
  }
}

TEST_CASE("searches of top-k and top-p, and all samplers one behind the other, take no dispatch more where a region has place for them") {
  for (const auto& named : poot::targets::named) {
    if (named.is.kind == poot::backend::aie) continue;
    CAPTURE(named.name);
    for (int which : {0, 1, 2}) {
      poot::tool::sampling choice;
      choice.temperature = 0.8f;
      if (which != 1) choice.top_k = 40;
      if (which != 0) choice.top_p = 0.95f;
      if (which == 2) choice.min_p = 0.05f;
      const size_t taken = dispatches("llama", 1, 1, {}, named.is, &choice, poot::q8_0, 32000);
      if (named.is == poot::targets::vulkan_swiftshader) CHECK(taken <= 6 + 3 + 2);
      else CHECK(taken == 6 + 3);
    }
  }
}
