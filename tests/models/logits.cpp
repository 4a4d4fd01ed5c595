/// Logits of a model in a GGUF file, for a reference to compare with: `model_logits host|vulkan MODEL.gguf OUT TOKEN…`.
/// OUT holds f32[3, tokens, vocabulary]: of one step that reads all tokens, of steps that read one each, and of one step unfused.

#include "../../examples/tool/transformer.hpp"

#include <poot/plan/compile.hpp>
#include <poot/run/host/executor.hpp>
#ifdef POOT_TEST_VULKAN
#include <poot/run/vulkan/device.hpp>
#endif

#include <cstdio>
#include <cstdlib>

namespace {

using namespace poot;

class loaded_file {
 public:
  explicit loaded_file(const char* path) : file_(io::gguf::open(path)), config_(tool::read_architecture(file_, 0)), weights_(tool::model_weights(file_, config_)) {
    for (const io::file_tensor& t : weights_) types_.push_back({t.name, t.type.element});
    for (int64 i = 0; i < config_.context; ++i) keys_.push_back(static_cast<int32>(i));
  }

  /// Logits of every token, read `chunk` at a time.
  template <class Executor>
  std::vector<float> logits(Executor on, const target& where, const std::vector<int32>& tokens, int64 chunk, bool fuse) const {
    tool::model_step step;
    step.tokens = chunk;
    step.every_logit = true;
    plan::options wanted;
    wanted.fuse = fuse;
    auto& e = on.add_entry("step", plan::compile(tool::transformer_graph(config_, types_, step), where, wanted));
    for (const io::file_tensor& t : weights_)
      if (on.has_weight(t.name)) on.load_weight(t.name, {const_cast<uint8*>(t.data), t.type});
    std::vector<float> all;
    for (int64 at = 0; at < static_cast<int64>(tokens.size()); at += chunk) {
      const int32 start = static_cast<int32>(at);
      e.bind("tokens", run::read_only(tokens.data() + at, dtype::i32, chunk))
          .bind("start", run::read_only(&start, dtype::i32, 1))
          .bind("keys", run::read_only(keys_.data(), dtype::i32, at + chunk));
      e.run();
      const run::buffer b = e.result("logits");
      const float* first = static_cast<const float*>(b.data);
      all.insert(all.end(), first, first + b.type.element_count());
    }
    return all;
  }

 private:
  io::gguf file_;
  tool::architecture config_;
  std::vector<io::file_tensor> weights_;
  std::vector<tool::weight_type> types_;
  std::vector<int32> keys_;
};

template <class MakeExecutor>
void write_logits(const char* path, const char* out_path, const std::vector<int32>& tokens, const target& where, MakeExecutor make) {
  const loaded_file model(path);
  const auto together = static_cast<int64>(tokens.size());
  const std::vector<float> parts[] = {model.logits(make(), where, tokens, together, true), model.logits(make(), where, tokens, 1, true),
                                      model.logits(make(), where, tokens, together, false)};
  std::FILE* out = std::fopen(out_path, "wb");
  if (!out) fail(text{} << out_path << ": cannot be written");
  for (const std::vector<float>& part : parts) std::fwrite(part.data(), sizeof(float), part.size(), out);
  if (std::fclose(out) != 0) fail(text{} << out_path << ": cannot be written");
}

void write_logits(int count, char** arguments) {
  if (count < 5) fail("host|vulkan MODEL.gguf OUT TOKEN… are needed");
  const std::string device = arguments[1];
  std::vector<int32> tokens;
  for (int i = 4; i < count; ++i) tokens.push_back(std::atoi(arguments[i]));
  if (device == "host") return write_logits(arguments[2], arguments[3], tokens, targets::host, [] { return run::host::executor(1); });
#ifdef POOT_TEST_VULKAN
  if (device == "vulkan") {
    const run::vulkan::device d(0);
    return write_logits(arguments[2], arguments[3], tokens, d.target(), [&] { return d.make_executor(); });
  }
#endif
  fail(text{} << "there is no device " << device << " here");
}

}  // namespace

int main(int count, char** arguments) {
  try {
    write_logits(count, arguments);
    return 0;
  } catch (const poot::error& e) {
    std::fprintf(stderr, "model_logits: %s\n", e.what());
    return 1;
  }
}
