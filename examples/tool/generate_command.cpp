/// `poot generate MODEL.gguf`

#include "batch.hpp"
#include "chat.hpp"
#include "commands.hpp"
#include "options.hpp"

#include <cstdio>
#include <iostream>

#include <unistd.h>

namespace poot::tool {

namespace {

struct generate_arguments {
  std::string model, prompt, system, batch, device = "host";
  int64 tokens = 200;
  sampling choose;
  int threads = 0;
  int64 context = 0;
  bool chat = false, converse = false, unfused = false, check = false, no_replay = false;
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

void print(const std::string& chars) {
  std::fwrite(chars.data(), 1, chars.size(), stdout);
  std::fflush(stdout);
}

/// Loads the model, and says what it is.
void load(language_model& model, const generate_arguments& a) {
  std::fprintf(stderr, "loading %s\n", a.model.c_str());
  model.load();
  if (!a.unfused) print_plan(model);
  std::fprintf(stderr, "planned in %.1f ms, weights loaded in %.0f ms, %s\n", model.plan_seconds() * 1e3,
               model.load_seconds() * 1e3, model.device_description().c_str());
}

/// What `step` makes of a text; errors name where the text is from.
template <class Step>
std::vector<int32> tokens_from(std::string_view from, Step step) {
  try {
    return step();
  } catch (const error& e) {
    fail(text{} << from << ": " << e.what());
  }
}

/// A message from stdin: a line, and those behind it while they end in a backslash. `line` counts them. Whether there was one.
bool read_message(std::string& message, int64& line) {
  const bool is_terminal = ::isatty(STDIN_FILENO) == 1;
  message.clear();
  bool goes_on = true;
  while (goes_on) {
    if (is_terminal) std::fputs(message.empty() ? "> " : "  ", stderr);
    std::string more;
    if (!std::getline(std::cin, more)) {
      if (is_terminal) std::fputs("\n", stderr);
      return !message.empty();
    }
    ++line;
    goes_on = !more.empty() && more.back() == '\\';
    if (goes_on) more.back() = '\n';
    message += more;
    goes_on = goes_on || message.empty();  // nobody said anything
  }
  return true;
}

/// Answers the messages on stdin, each behind those before it.
void converse(language_model& model, const chat_format& chat, continuation& text_so_far, const generate_arguments& a) {
  std::string message;
  bool is_first = true;
  for (int64 line = 0; read_message(message, line); is_first = false) {
    const std::string from = "standard input: line " + std::to_string(line);
    const std::vector<int32> tokens = tokens_from(from, [&] {
      model.tokens().encode(message, false);  // what is no UTF-8 is named by its place in the message
      return is_first ? chat_prompt(chat, model.file(), model.tokens(), message, a.system) : chat_turn(chat, model.file(), model.tokens(), message);
    });
    text_so_far.check(from, tokens);
    text_so_far.write(tokens, {}, a.tokens);
    print("\n");
  }
}

int generate(const generate_arguments& a) {
  if (a.no_replay && a.device == "host") fail("--no-replay: the host calls its kernels, there is nothing to replay");
  check_sampling(a.choose);
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
    std::vector<int32> prompt;
    tokens_from("--system-prompt", [&] { return model.tokens().encode(a.system, false); });
    if (!a.converse) {
      prompt = tokens_from("--prompt", [&] { return prompt_ids(model.tokens(), a.prompt); });
      if (a.chat) prompt = chat_prompt(chat, model.file(), model.tokens(), a.prompt, a.system);
      model.check_prompt("--prompt", {prompt.data(), prompt.size()});
    }
    load(model, a);
    std::unique_ptr<language_model> other;  // one dispatch per equation, to compare with
    if (a.check) {
      options.fuse = a.unfused;
      other = std::make_unique<language_model>(a.model, options);
      other->load();
    }
    continuation text_so_far(model, other.get(), {model.tokens().bos(), model.tokens().eos(), turn_end(chat, model.tokens())}, print);
    if (a.converse) converse(model, chat, text_so_far, a);
    else {
      text_so_far.write(prompt, a.chat ? std::string() : a.prompt, a.tokens);
      print("\n");
    }
    std::fprintf(stderr, "%s %s\n", text_so_far.figures().c_str(), a.unfused ? "unfused" : "fused");
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
  CLI::Option* const chat = command->add_flag("--chat", a->chat, "The prompt is a user's message, and the answer is written, as tokenizer.chat_template of the file says. Without a prompt the lines of standard input are messages, each answered behind those before it; a line that ends in a backslash goes on in the next")->excludes(batch);
  command->add_option("--system-prompt", a->system, "Instructions that stand before the first message")->needs(chat);
  add_sampling_options(*command, a->choose);
  add_device_option(*command, a->device);
  add_threads_option(*command, a->threads);
  command->add_option("--context", a->context, "Positions to keep; 0: the model's own, at most 4096")->capture_default_str()->check(whole_number(0, 1 << 30));
  command->add_flag("--unfused", a->unfused, "One dispatch per equation");
  command->add_flag("--no-replay", a->no_replay, "Submit launches one by one, where the device would replay those of a token together");
  command->add_flag("--check", a->check, "Run every region fused and unfused and name the first value that differs; compare every logit's bits")->excludes(batch);
  command->callback([a, prompt, &result] {
    a->converse = a->chat && prompt->count() == 0;
    result.status = generate(*a);
  });
}

}  // namespace poot::tool
