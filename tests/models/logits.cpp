/// Logits of a model in a GGUF file, for a reference to compare with: `model_logits MODEL.gguf OUT TOKEN…`.
/// OUT holds f32[3, tokens, vocabulary]: of one step that reads all tokens, of steps that read one each, and of one step unfused.

#include "../../examples/tool/transformer.hpp"

#include <poot/plan/compile.hpp>
#include <poot/run/host/executor.hpp>

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
  std::vector<float> logits(const std::vector<int32>& tokens, int64 chunk, bool fuse) const {
    tool::model_step step;
    step.tokens = chunk;
    step.every_logit = true;
    plan::options wanted;
    wanted.fuse = fuse;
    run::host::executor host(1);
    run::host::entry& e = host.add_entry("step", plan::compile(tool::transformer_graph(config_, types_, step), targets::host, wanted));
    for (const io::file_tensor& t : weights_)
      if (host.has_weight(t.name)) host.load_weight(t.name, {const_cast<uint8*>(t.data), t.type});
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

int write_logits(int count, char** arguments) {
  if (count < 4) fail("model_logits: MODEL.gguf OUT TOKEN… are needed");
  std::vector<int32> tokens;
  for (int i = 3; i < count; ++i) tokens.push_back(std::atoi(arguments[i]));
  const auto together = static_cast<int64>(tokens.size());
  const loaded_file model(arguments[1]);
  std::FILE* out = std::fopen(arguments[2], "wb");
  if (!out) fail(text{} << arguments[2] << ": cannot be written");
  for (const std::vector<float>& part : {model.logits(tokens, together, true), model.logits(tokens, 1, true), model.logits(tokens, together, false)})
    std::fwrite(part.data(), sizeof(float), part.size(), out);
  return std::fclose(out) == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return write_logits(count, arguments);
  } catch (const poot::error& e) {
    std::fprintf(stderr, "model_logits: %s\n", e.what());
    return 1;
  }
}
