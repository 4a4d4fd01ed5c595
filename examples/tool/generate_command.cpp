/// `poot generate MODEL.gguf`

#include "commands.hpp"
#include "language_model.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <iostream>

namespace poot::tool {

namespace {

struct generate_arguments {
  std::string model, prompt;
  int64 tokens = 200;
  float temperature = 0;
  uint64 seed = 0;
  int threads = 0;
  int64 context = 0;
  bool unfused = false, check = false;
};

double megabytes(int64 bytes) { return static_cast<double>(bytes) * 1e-6; }

void print_plan(const language_model& model) {
  const plan::program_view& p = model.decode_plan();
  std::fprintf(stderr, "%zu equations, %zu dispatches, %zu distinct kernels, %.3f MB moved, %.3f MB transient (%.3f MB without reuse)\n",
               p.graph.size(), p.dispatch_count(), p.kernels().size(), megabytes(p.bytes_moved()),
               megabytes(p.peak_transient_bytes()), megabytes(p.transient_bytes_without_reuse()));
}

int generate(const generate_arguments& a) {
  model_options options;
  options.threads = a.threads;
  options.fuse = !a.unfused;
  options.context = a.context;
  std::fprintf(stderr, "loading %s\n", a.model.c_str());
  language_model model(a.model, options);
  print_plan(model);
  std::fprintf(stderr, "planned in %.1f ms, weights loaded in %.0f ms, %d threads\n", model.plan_seconds() * 1e3,
               model.load_seconds() * 1e3, model.threads());
  std::unique_ptr<language_model> other;  // one dispatch per equation, to compare with
  if (a.check) {
    options.fuse = a.unfused;
    other = std::make_unique<language_model>(a.model, options);
  }
  const std::vector<int32> prompt = model.tokens().encode(a.prompt, true);
  sampler choose(a.temperature, a.seed);
  const auto start = std::chrono::steady_clock::now();
  auto first = start;
  view<int32> read{prompt.data(), prompt.size()};
  int32 before = prompt.back(), token = 0;
  std::string piece = a.prompt;
  int64 made = 0;
  for (; made < a.tokens && model.position() + static_cast<int64>(read.size()) <= model.config().context; ++made) {
    const view<float> logits = model.read(read);
    if (other) {
      const view<float> again = other->read(read);
      for (size_t i = 0; i < logits.size(); ++i)
        if (std::bit_cast<uint32>(logits[i]) != std::bit_cast<uint32>(again[i]))
          fail(text{} << "check: logit " << i << " at position " << model.position() - 1 << " differs between fused and unfused");
    }
    if (made == 0) first = std::chrono::steady_clock::now();
    before = token ? token : before;
    token = choose(logits);
    if (token == model.tokens().bos() || token == model.tokens().eos()) break;
    model.tokens().append(piece, token, before);
    std::fwrite(piece.data(), 1, piece.size(), stdout);
    std::fflush(stdout);
    piece.clear();
    read = {&token, 1};
  }
  std::fwrite("\n", 1, 1, stdout);
  const auto seconds = [](auto d) { return std::chrono::duration<double>(d).count(); };
  const double rest = seconds(std::chrono::steady_clock::now() - first);
  std::fprintf(stderr, "%zu prompt tokens in %.1f ms, then %.0f tokens/s\n", prompt.size(), seconds(first - start) * 1e3,
               made > 1 ? static_cast<double>(made - 1) / rest : 0.0);
  if (a.check) std::fprintf(stderr, "fused and unfused logits are equal bit for bit at every step\n");
  return 0;
}

}  // namespace

void add_generate_command(CLI::App& app, outcome& result) {
  CLI::App* command = app.add_subcommand("generate", "Generate text with a model in a GGUF file: text on stdout, figures on stderr");
  auto a = std::make_shared<generate_arguments>();
  command->add_option("model", a->model, "The GGUF file")->required()->check(CLI::ExistingFile);
  command->add_option("-p,--prompt", a->prompt, "Text to continue");
  command->add_option("-n,--tokens", a->tokens, "Tokens to generate at most")->capture_default_str()->check(CLI::PositiveNumber);
  command->add_option("--temperature", a->temperature, "0: always the likeliest token")->capture_default_str()->check(CLI::NonNegativeNumber);
  command->add_option("--seed", a->seed, "Of the draws")->capture_default_str();
  command->add_option("--threads", a->threads, "0: one for each processor")->capture_default_str()->check(CLI::NonNegativeNumber);
  command->add_option("--context", a->context, "Positions to keep; 0: the model's own, at most 4096")->capture_default_str()->check(CLI::NonNegativeNumber);
  command->add_flag("--unfused", a->unfused, "One dispatch per equation");
  command->add_flag("--check", a->check, "Run fused and unfused side by side and compare every logit's bits");
  command->callback([a, &result] { result.status = generate(*a); });
}

}  // namespace poot::tool
