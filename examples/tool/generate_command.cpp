/// `poot generate MODEL.gguf`

#include "batch.hpp"
#include "chat.hpp"
#include "commands.hpp"
#include "options.hpp"

#include <poot/run/host/check.hpp>

#include <chrono>
#include <cstdio>
#include <iostream>

namespace poot::tool {

namespace {

struct generate_arguments {
  std::string model, prompt, batch, device = "host";
  int64 tokens = 200;
  sampling choose;
  int threads = 0;
  int64 context = 0;
  bool chat = false, unfused = false, check = false, no_replay = false;
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

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// Loads the model, and says what it is.
void load(language_model& model, const generate_arguments& a) {
  std::fprintf(stderr, "loading %s\n", a.model.c_str());
  model.load();
  if (!a.unfused) print_plan(model);
  std::fprintf(stderr, "planned in %.1f ms, weights loaded in %.0f ms, %s\n", model.plan_seconds() * 1e3,
               model.load_seconds() * 1e3, model.device_description().c_str());
}

/// Reads tokens, on `other` as well where there is one, and compares.
void read_and_compare(language_model& model, language_model* other, view<int32> tokens, uint32 drawn) {
  const int64 position = model.position();
  view<float> logits;
  try {
    logits = model.read(tokens, drawn);
  } catch (const run::host::difference_found& d) {
    fail(text{} << d.what() << ", in the step that reads " << tokens.size() << " tokens from position " << position);
  }
  if (!other) return;
  const view<float> again = other->read(tokens, drawn);
  for (size_t i = 0; i < logits.size(); ++i)
    if (std::bit_cast<uint32>(logits[i]) != std::bit_cast<uint32>(again[i]))
      fail(text{} << "check: logit " << i << " at position " << model.position() - 1 << " differs between fused and unfused");
  if (model.token() != other->token()) fail(text{} << "check: the token at position " << model.position() << " differs between fused and unfused");
}

/// The tokens of the prompt, of a chat where that is asked for.
std::vector<int32> prompt_tokens(const language_model& model, const generate_arguments& a, const chat_format* chat) {
  std::vector<int32> tokens;
  try {
    tokens = prompt_ids(model.tokens(), a.prompt);
  } catch (const error& e) {
    fail(text{} << "--prompt: " << e.what());
  }
  return chat ? chat_prompt(*chat, model.file(), model.tokens(), a.prompt) : tokens;
}

void generate_one(language_model& model, language_model* other, const generate_arguments& a, const std::vector<int32>& prompt, text_end ends) {
  const auto start = std::chrono::steady_clock::now();
  auto first = start;
  view<int32> read{prompt.data(), prompt.size()};
  int32 before = prompt.back(), token = 0;
  io::character_stream characters;
  const auto write = [](const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  };
  if (!a.chat) write(characters.put(a.prompt));
  uint32 made = 0;
  while (made < a.tokens && model.position() + static_cast<int64>(read.size()) <= model.config().context) {
    read_and_compare(model, other, read, made);
    if (made++ == 0) first = std::chrono::steady_clock::now();
    else before = token;
    token = model.token();
    if (ends(token)) break;
    std::string piece;
    model.tokens().append(piece, token, before);
    write(characters.put(piece));
    read = {&token, 1};
  }
  write(characters.finish() + '\n');
  const double rest = seconds_between(first, std::chrono::steady_clock::now());
  std::fprintf(stderr, "%zu prompt tokens in %.1f ms, then %.1f tokens/s %s\n", prompt.size(), seconds_between(start, first) * 1e3,
               made > 1 ? static_cast<double>(made - 1) / rest : 0.0, a.unfused ? "unfused" : "fused");
}

int generate(const generate_arguments& a) {
  if (a.no_replay && a.device == "host") fail("--no-replay: the host calls its kernels, there is nothing to replay");
  if (a.choose.temperature == 0 && (a.choose.top_k > 0 || a.choose.top_p < 1 || a.choose.min_p > 0))
    fail("--top-k, --top-p and --min-p: they say what is drawn from, and without --temperature nothing is drawn");
  if (a.choose.top_p == 0) fail("--top-p: must be above 0 and at most 1");
  if (a.choose.min_p != 0 && a.choose.min_p < 0x1p-64f) fail("--min-p: must be 0, or from 2^-64 to 1");
  model_options options;
  options.device = a.device;
  options.threads = a.threads;
  options.fuse = !a.unfused;
  options.replay = !a.no_replay;
  options.context = a.context;
  options.check = a.check;
  options.choose = a.choose;
  if (a.batch.empty()) {
    language_model model(a.model, options);
    chat_format chat{};
    if (a.chat) chat = chat_format_of(model.file());
    const std::vector<int32> prompt = prompt_tokens(model, a, a.chat ? &chat : nullptr);
    model.check_prompt("--prompt", {prompt.data(), prompt.size()});
    load(model, a);
    std::unique_ptr<language_model> other;  // one dispatch per equation, to compare with
    if (a.check) {
      options.fuse = a.unfused;
      other = std::make_unique<language_model>(a.model, options);
      other->load();
    }
    const int32 turn = chat.end.empty() ? -1 : model.tokens().find_special(chat.end);
    generate_one(model, other.get(), a, prompt, {model.tokens().bos(), model.tokens().eos(), turn});
    if (a.check) std::fprintf(stderr, "every value of every region, and the logits, are equal bit for bit fused and unfused at every step\n");
    return 0;
  }
  const io::gguf file = io::gguf::open(a.model);
  const io::tokenizer tokens = io::tokenizer::from_gguf(file);
  const std::vector<batch_prompt> prompts = read_prompts(a.batch, tokens);
  options.sequences = prompts.size() < most_sequences ? static_cast<int64>(prompts.size()) : most_sequences;
  language_model model(a.model, options);
  for (const batch_prompt& p : prompts) model.check_prompt(p.from, {p.tokens.data(), p.tokens.size()});
  load(model, a);
  run_batch(model, prompts, options.sequences, a.tokens, {tokens.bos(), tokens.eos(), -1});
  return 0;
}

}  // namespace

void add_generate_command(CLI::App& app, outcome& result) {
  CLI::App* command = app.add_subcommand("generate", "Generate text with a model in a GGUF file: text on stdout, figures on stderr");
  auto a = std::make_shared<generate_arguments>();
  command->add_option("model", a->model, "The GGUF file")->required()->check(file_name());
  CLI::Option* const prompt = command->add_option("-p,--prompt", a->prompt, "Text to continue");
  command->add_option("-n,--tokens", a->tokens, "Tokens to generate at most")->capture_default_str()->check(whole_number(1, 1 << 30));
  CLI::Option* const batch = command->add_option("--batch", a->batch, "A file of texts to continue, one a line: many at once, written in their order, each as it is alone")->excludes(prompt)->check(file_name());
  command->add_flag("--chat", a->chat, "The prompt is a user's message, and the answer is written; as tokenizer.chat_template of the file says")->excludes(batch);
  command->add_option("--temperature", a->choose.temperature, "0: always the likeliest token")->capture_default_str()->check(number(0, 1e6));
  command->add_option("--top-k", a->choose.top_k, "Draw from so many of the likeliest tokens; 0: from all")->capture_default_str()->check(whole_number(0, 1 << 24));
  command->add_option("--top-p", a->choose.top_p, "Draw from the likeliest that have this probability together; 1: from all")->capture_default_str()->check(number(0, 1));
  command->add_option("--min-p", a->choose.min_p, "Draw from those that have this part of the greatest probability; 0: from all")->capture_default_str()->check(number(0, 1));
  command->add_option("--seed", a->choose.seed, "Of the draws: a number below 2^32. The same tokens on every device")->capture_default_str()->check(whole_number(0, 0xffffffff));
  add_device_option(*command, a->device);
  add_threads_option(*command, a->threads);
  command->add_option("--context", a->context, "Positions to keep; 0: the model's own, at most 4096")->capture_default_str()->check(whole_number(0, 1 << 30));
  command->add_flag("--unfused", a->unfused, "One dispatch per equation");
  command->add_flag("--no-replay", a->no_replay, "Submit launches one by one, where the device would replay those of a token together");
  command->add_flag("--check", a->check, "Run every region fused and unfused and name the first value that differs; compare every logit's bits")->excludes(batch);
  command->callback([a, &result] { result.status = generate(*a); });
}

}  // namespace poot::tool
