// In every family a row's bits depend on nothing beside it: sequences of different lengths in one batch, and each alone.
#include "decoder_model.hpp"
#include "family_file.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace poot_tests;
using poot::int32, poot::tool::model_step;

namespace {

decoder_model from_family(const poot::io::gguf& file) {
  decoder_model d;
  d.config = poot::tool::read_architecture(file, 0);
  for (const poot::io::file_tensor& t : poot::tool::model_weights(file, d.config)) d.add(t.name, t.data, t.type);
  return d;
}

}  // namespace

TEST_CASE("in each family sequences of a batch give the logits that each gives alone") {
  for (const std::string family : {"llama", "qwen2", "qwen3", "gemma2", "gemma3", "phi3", "mixtral", "qwen2moe", "qwen3moe"}) {
    CAPTURE(family);
    const std::vector<poot::uint8> bytes = small_family(family).bytes();
    const auto file = poot::io::gguf::parse({bytes.data(), bytes.size()}, "m.gguf");
    const decoder_model m = from_family(file);
    model_step batch;
    batch.sequences = 3;
    loaded_model together(m, true, {{"batch", batch}});
    std::vector<std::unique_ptr<loaded_model>> alone;
    for (int s = 0; s < 3; ++s) alone.push_back(std::make_unique<loaded_model>(m, true, std::initializer_list<std::pair<const char*, model_step>>{{"alone", {}}}));
    // Sequence s takes its place in step 4 s; steps go past a window of 16.
    int different = 0;
    float greatest = 0;
    for (int32 n = 0; n < 28; ++n) {
      std::vector<int32> starts, tokens;
      for (int32 s = 0; s < 3; ++s) {
        starts.push_back(n < 4 * s ? 0 : n - 4 * s);
        tokens.push_back((7 * n + 11 * s) % 40);
      }
      const std::vector<float> all = together.step("batch", starts, tokens);
      for (int32 s = 0; s < 3; ++s) {
        if (n < 4 * s) continue;
        const std::vector<float> own = alone[static_cast<size_t>(s)]->step("alone", n - 4 * s, {tokens[static_cast<size_t>(s)]});
        different += !same_bits(own, {all.begin() + s * 40, all.begin() + (s + 1) * 40});
        greatest = std::max(greatest, std::abs(own[5]));
      }
    }
    CHECK(different == 0);
    CHECK(greatest > 0);
  }
}
