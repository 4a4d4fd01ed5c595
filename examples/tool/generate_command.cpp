/// `poot generate MODEL.gguf`

#include "commands.hpp"
#include "language_model.hpp"

#include <poot/run/host/check.hpp>

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <iostream>

namespace poot::tool {

namespace {

struct generate_arguments {
  std::string model, prompt, device = "host";
  int64 tokens = 200;
  float temperature = 0;
  uint64 seed = 0;
  int threads = 0;
  int64 context = 0;
  bool unfused = false, check = false, no_replay = false;
};

double megabytes(int64 bytes) { return static_cast<double>(bytes) * 1e-6; }

/// What fusion does to a step of one token.
void print_plan(const language_model& model) {
  const plan::program apart = model.plan_step({}, false), fused = model.plan_step({}, true);
  std::fprintf(stderr, "%zu equations, %zu distinct kernels, %s\n", fused.graph.size(), fused.kernels().size(),
               fused.comparison_class() == plan::comparison::exact ? "values are exact" : "values are not exact");
  std::fprintf(stderr, "%-32s %12s %12s\n", "one token", "unfused", "fused");
  std::fprintf(stderr, "%-32s %12zu %12zu\n", "dispatches", apart.dispatch_count(), fused.dispatch_count());
  std::fprintf(stderr, "%-32s %9.3f MB %9.3f MB\n", "bytes moved", megabytes(apart.bytes_moved()), megabytes(fused.bytes_moved()));
  std::fprintf(stderr, "%-32s %9.3f MB %9.3f MB\n", "peak transient, storage reused", megabytes(apart.peak_transient_bytes()),
               megabytes(fused.peak_transient_bytes()));
  std::fprintf(stderr, "%-32s %9.3f MB %9.3f MB\n", "peak transient, without reuse", megabytes(apart.transient_bytes_without_reuse()),
               megabytes(fused.transient_bytes_without_reuse()));
}

int generate(const generate_arguments& a) {
  if (!(a.temperature >= 0)) fail("--temperature: must be a number");
  model_options options;
  options.device = a.device;
  options.threads = a.threads;
  options.fuse = !a.unfused;
  options.replay = !a.no_replay;
  options.context = a.context;
  options.check = a.check;
  std::fprintf(stderr, "loading %s\n", a.model.c_str());
  language_model model(a.model, options);
  if (!a.unfused) print_plan(model);
  std::fprintf(stderr, "planned in %.1f ms, weights loaded in %.0f ms, %s\n", model.plan_seconds() * 1e3,
               model.load_seconds() * 1e3, model.device_description().c_str());
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
    const int64 position = model.position();
    view<float> logits;
    try {
      logits = model.read(read);
    } catch (const run::host::difference_found& d) {
      fail(text{} << d.what() << ", in the step that reads " << read.size() << " tokens from position " << position);
    }
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
  std::fprintf(stderr, "%zu prompt tokens in %.1f ms, then %.1f tokens/s %s\n", prompt.size(), seconds(first - start) * 1e3,
               made > 1 ? static_cast<double>(made - 1) / rest : 0.0, a.unfused ? "unfused" : "fused");
  if (a.check) std::fprintf(stderr, "every value of every region, and the logits, are equal bit for bit fused and unfused at every step\n");
  return 0;
}

}  // namespace

void add_generate_command(CLI::App& app, outcome& result) {
  CLI::App* command = app.add_subcommand("generate", "Generate text with a model in a GGUF file: text on stdout, figures on stderr");
  auto a = std::make_shared<generate_arguments>();
  command->add_option("model", a->model, "The GGUF file")->required()->check(CLI::ExistingFile);
  command->add_option("-p,--prompt", a->prompt, "Text to continue");
  command->add_option("-n,--tokens", a->tokens, "Tokens to generate at most")->capture_default_str()->check(CLI::Range(1, 1 << 30));
  command->add_option("--temperature", a->temperature, "0: always the likeliest token")->capture_default_str()->check(CLI::Range(0.0, 1e6));
  command->add_option("--seed", a->seed, "Of the draws")->capture_default_str();
  add_device_option(*command, a->device);
  command->add_option("--threads", a->threads, "0: one for each processor")->capture_default_str()->check(CLI::Range(0, 1024));
  command->add_option("--context", a->context, "Positions to keep; 0: the model's own, at most 4096")->capture_default_str()->check(CLI::Range(0, 1 << 30));
  command->add_flag("--unfused", a->unfused, "One dispatch per equation");
  command->add_flag("--no-replay", a->no_replay, "Submit launches one by one, where the device would replay those of a token together");
  command->add_flag("--check", a->check, "Run every region fused and unfused and name the first value that differs; compare every logit's bits");
  command->callback([a, &result] { result.status = generate(*a); });
}

}  // namespace poot::tool
