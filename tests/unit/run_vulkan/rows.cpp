// A row's bits depend on nothing beside it on a device either: a sequence alone, and beside others in a batch.
#include "each_device.hpp"

#include <unit/models/decoder_model.hpp>

#include "../../../examples/tool/transformer.cpp"

using namespace poot;
using namespace poot_tests;

namespace {

/// A decoder on a device, of `sequences` at once that read one token a step.
class decoder_on_device {
 public:
  decoder_on_device(const run::vulkan::device& d, const decoder_model& m, int64 sequences) : executor_(d.make_executor()), sequences_(sequences) {
    tool::model_step step;
    step.every_logit = true;
    step.sequences = sequences;
    entry_ = &executor_.add_entry("step", plan::compile(tool::transformer_graph(m.config, m.types, step), d.target()));
    for (const auto& [name, b] : m.weights) executor_.load_weight(name, b);
  }

  /// Logits after one token of each sequence, at its position.
  std::vector<float> step(const std::vector<int32>& positions, const std::vector<int32>& tokens) {
    int32 keys[16];
    for (int32 i = 0; i < 16; ++i) keys[i] = i;
    entry_->bind("tokens", read_only(tokens.data(), i32, sequences_)).bind("start", read_only(positions.data(), i32, sequences_));
    entry_->bind("keys", read_only(keys, i32, *std::max_element(positions.begin(), positions.end()) + 1));
    entry_->run();
    const buffer b = entry_->result("logits");
    const auto* first = static_cast<const float*>(b.data);
    return {first, first + b.type.element_count()};
  }

 private:
  run::vulkan::executor executor_;
  run::vulkan::entry* entry_;
  int64 sequences_;
};

}  // namespace

TEST_CASE("a sequence gives the same logits alone and beside others in a batch, on each device") {
  if (!why_no_vulkan().empty()) {
    std::printf("[SKIP] %s\n", why_no_vulkan().c_str());
    return;
  }
  const auto opened = io::gguf::open("examples/models/meadow/meadow.gguf");
  const decoder_model m = from_gguf(opened);
  for (int i = 0; i < vulkan_count(); ++i) {
    const run::vulkan::device d(i);
    const std::string name(d.name());
    CAPTURE(name);
    decoder_on_device together(d, m, 3);
    std::vector<std::unique_ptr<decoder_on_device>> apart;
    for (int s = 0; s < 3; ++s) apart.push_back(std::make_unique<decoder_on_device>(d, m, 1));
    for (int32 n = 0; n < 6; ++n) {  // sequence s begins in step s: their lengths differ
      std::vector<int32> positions, tokens;
      std::vector<std::vector<float>> expected(3);
      for (int32 s = 0; s < 3; ++s) {
        positions.push_back(n < s ? 0 : n - s);
        tokens.push_back(1 + 37 * s + 91 * positions.back());
        if (n >= s) expected[static_cast<size_t>(s)] = apart[static_cast<size_t>(s)]->step({positions.back()}, {tokens.back()});
      }
      const std::vector<float> logits = together.step(positions, tokens);
      for (size_t s = 0; s < 3; ++s) {
        const auto first = logits.begin() + static_cast<std::ptrdiff_t>(s * logits.size() / 3);
        if (!expected[s].empty()) CHECK(same_bits({first, first + static_cast<std::ptrdiff_t>(logits.size() / 3)}, expected[s]));
      }
    }
    CHECK(validation_messages() == "");
  }
}
