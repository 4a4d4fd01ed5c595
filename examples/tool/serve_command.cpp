/// `poot serve MODEL.gguf`

#include "batch.hpp"
#include "chat.hpp"
#include "commands.hpp"
#include "continuation.hpp"
#include "options.hpp"
#include "text_request.hpp"

#include <poot/core/error.hpp>

#if __has_include(<httplib.h>)
#include "http_server.hpp"
#include "text_queue.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <optional>

namespace poot::tool {

namespace {

using nlohmann::json;

struct serve_arguments {
  std::string model, address = "127.0.0.1", device = "host";
  int port = 8080, threads = 0, seconds = 10;
  size_t waiting = 16;
  int64 tokens = 1024, context = 0;
  sampling choose;
};

/// Who reads the answer is gone.
struct reader_gone {};

class model_server {
 public:
  model_server(language_model& model, const serve_arguments& a)
      : model_(model), chat_(chat_of(model.file(), why_no_chat_)), most_(std::min(a.tokens, model.config().context)), dispatches_(model.plan_step({}, true).dispatch_count()),
        server_(a.seconds), queue_(a.waiting), counted_(model.counted()) {
    server_.get("/health", [](httplib::Response& to) { to.set_content("{\"status\":\"ok\"}", "application/json"); });
    server_.get("/metrics", [this](httplib::Response& to) { to.set_content(metrics(), "text/plain; version=0.0.4"); });
    server_.post("/completions", [this](const std::string& body, httplib::Response& to) { complete(body, to); });
    server_.name_failures([this](const char* what) { return without_folders(what); });
  }

  void run(const std::string& address, int port) { server_.run(address, port); }

 private:
  /// The form of a conversation with the model; where there is none, `why` gets the sentence.
  static std::optional<chat_format> chat_of(const io::gguf& file, std::string& why) {
    try {
      return chat_format_of(file);
    } catch (const error& e) {
      why = e.what();
      return std::nullopt;
    }
  }

  std::vector<int32> tokens_of(const text_request& w) const {
    if (!w.chat) return prompt_ids(model_.tokens(), w.prompt);
    if (!chat_) fail(text("key \"chat\": ") << why_no_chat_);
    return chat_prompt(*chat_, model_.file(), model_.tokens(), w.prompt, w.system);
  }

  void check_length(const text_request& w, const std::vector<int32>& tokens) const {
    model_.check_prompt("key \"prompt\"", {tokens.data(), tokens.size()});
    const int64 context = model_.config().context, read = static_cast<int64>(tokens.size());
    if (w.counted && w.tokens > context - read + 1)  // what is chosen last is not read
      fail(text("key \"tokens\": ") << w.tokens << " behind " << read << " of the prompt do not fit the context of " << context);
  }

  /// A sentence with the model's name where the path of its file stood.
  std::string without_folders(std::string sentence) const {
    const std::string path(model_.file().file()), name = std::filesystem::path(path).filename().string();
    for (size_t at = 0; path != name && (at = sentence.find(path, at)) != sentence.npos; at += name.size()) sentence.replace(at, path.size(), name);
    return sentence;
  }

  void complete(const std::string& body, httplib::Response& to) {
    text_request w;
    std::vector<int32> tokens;
    try {
      w = read_text_request(body, most_);
      tokens = tokens_of(w);
      check_length(w, tokens);
    } catch (const error& e) {
      ++refused_;
      return refuse(to, 400, without_folders(e.what()));
    }
    const std::shared_ptr<const text_queue::place> place = queue_.join();
    if (!place) {
      ++turned_away_;
      to.set_header("Retry-After", "1");
      return refuse(to, 503, "the model: " + std::to_string(queue_.most_waiting()) + " texts wait for it, and no more may");
    }
    if (!w.stream) {
      place->wait();
      std::string all;
      const size_t drawn = write(w, tokens, [&](const std::string& more) { all += more; });
      return to.set_content(json{{"text", all}, {"prompt_tokens", tokens.size()}, {"tokens", drawn}}.dump(-1, ' ', false, json::error_handler_t::replace),
                            "application/json");
    }
    to.set_chunked_content_provider("text/plain; charset=utf-8", [this, w, tokens, place](size_t, httplib::DataSink& sink) {
      place->wait();
      try {
        write(w, tokens, [&](const std::string& more) {
          if (!more.empty() && !sink.write(more.data(), more.size())) throw reader_gone{};
        });
      } catch (const std::exception&) {  // the status is said: what is left is to end before the end
        return false;
      } catch (const reader_gone&) {
        return false;
      }
      sink.done();
      return true;
    });
  }

  /// Writes the text of a request to `sink`, with the model; returns the number of tokens.
  size_t write(const text_request& w, const std::vector<int32>& tokens, const text_sink& sink) {
    model_.restart();
    const io::tokenizer& t = model_.tokens();
    continuation one(model_, nullptr, {t.bos(), t.eos(), w.chat ? turn_end(*chat_, t) : -1}, sink);
    try {
      one.write(tokens, w.chat ? std::string() : w.prompt, w.tokens);
    } catch (const reader_gone&) {
      count(abandoned_, tokens, one);
      throw;
    }
    count(texts_, tokens, one);
    return one.drawn();
  }
  /// Counts what was done for a text, and the text as one of `kind`.
  void count(uint64& kind, const std::vector<int32>& tokens, const continuation& one) {
    const std::lock_guard lock(counts_);
    ++kind;
    if (one.drawn() > 0) given_ += tokens.size();
    drawn_ += one.drawn();
    counted_ = model_.counted();
  }

  /// In the text format of Prometheus.
  std::string metrics() {
    const std::lock_guard lock(counts_);
    std::string out;
    const auto say = [&](const char* name, const char* kind, const char* help, uint64 value) {
      out += std::string("# HELP poot_") + name + ' ' + help + "\n# TYPE poot_" + name + ' ' + kind + "\npoot_" + name + ' ' + std::to_string(value) + '\n';
    };
    say("compiles_total", "counter", "Kernels that went through the compiler of the device.", counted_.compiled);
    say("kernels_found_total", "counter", "Kernels whose code was on disk.", counted_.found);
    say("kernels_loaded", "gauge", "Distinct kernels that are loaded.", counted_.loaded);
    say("device_bytes", "gauge", "Memory of the device that is held.", static_cast<uint64>(counted_.bytes));
    say("dispatches_per_token", "gauge", "Dispatches of a step of one token.", dispatches_);
    say("texts_total", "counter", "Texts that were written.", texts_);
    say("texts_waiting", "gauge", "Texts that wait for the model.", queue_.waiting());
    say("abandoned_total", "counter", "Texts whose reader was gone before their end.", abandoned_);
    say("turned_away_total", "counter", "Requests that came while as many texts waited as may.", turned_away_);
    say("refused_total", "counter", "Requests that asked for what cannot be.", refused_);
    say("prompt_tokens_total", "counter", "Tokens that were read.", given_);
    say("tokens_total", "counter", "Tokens that were chosen.", drawn_);
    return out;
  }

  language_model& model_;
  std::string why_no_chat_;
  const std::optional<chat_format> chat_;
  const int64 most_;
  const size_t dispatches_;
  http_server server_;
  text_queue queue_;
  std::mutex counts_;  ///< of the device, and of texts
  device_counters counted_;
  std::atomic<uint64> refused_ = 0, turned_away_ = 0;
  uint64 texts_ = 0, abandoned_ = 0, given_ = 0, drawn_ = 0;
};

int serve(const serve_arguments& a) {
  check_sampling(a.choose);
  model_options options;
  options.device = a.device;
  options.threads = a.threads;
  options.context = a.context;
  options.choose = a.choose;
  language_model model(a.model, options);
  std::fprintf(stderr, "loading %s\n", a.model.c_str());
  model.load();
  model_server(model, a).run(a.address, a.port);
  return 0;
}

}  // namespace

void add_serve_command(CLI::App& app, outcome& result) {
  CLI::App* command = app.add_subcommand("serve", "Answer HTTP requests with a model in a GGUF file, one text at a time");
  command->footer(
      "POST /completions takes {\"prompt\": text, \"tokens\": at most so many, \"chat\": true, \"system\": text, \"stream\": true}, all but\n"
      "the prompt optional: 200 tokens if nothing is said. The answer is {\"text\", \"prompt_tokens\", \"tokens\"}, or with stream the text\n"
      "as it comes. GET /metrics counts, in the format of Prometheus; GET /health says that the server is there. What is refused gets\n"
      "{\"error\": one sentence}. A connection serves one request; its head may have 16384 bytes, its body 1048576.");
  auto a = std::make_shared<serve_arguments>();
  command->add_option("model", a->model, "The GGUF file")->required()->check(file_name());
  command->add_option("--address", a->address, "Where to listen")->capture_default_str();
  command->add_option("--port", a->port, "Port to listen on; 0: any that is free, as standard error says")->capture_default_str()->check(whole_number(0, 65535));
  command->add_option("-n,--tokens", a->tokens, "Tokens that a request may ask for at most")->capture_default_str()->check(whole_number(1, 1 << 30));
  command->add_option("--waiting", a->waiting, "Texts that may wait for the model; others are refused with status 503")->capture_default_str()->check(whole_number(0, 512));
  command->add_option("--timeout", a->seconds, "Seconds within which a client has to say what it wants")->capture_default_str()->check(whole_number(1, 3600));
  add_sampling_options(*command, a->choose);
  add_device_option(*command, a->device);
  add_threads_option(*command, a->threads);
  command->add_option("--context", a->context, "Positions to keep; 0: the model's own, at most 4096")->capture_default_str()->check(whole_number(0, 1 << 30));
  command->callback([a, &result] { result.status = serve(*a); });
}

}  // namespace poot::tool

#else

namespace poot::tool {

void add_serve_command(CLI::App& app, outcome&) {
  CLI::App* command = app.add_subcommand("serve", "Answer HTTP requests with a model in a GGUF file (this tool was built without cpp-httplib)");
  command->allow_extras();
  command->callback([] { fail("serve: this tool was built without cpp-httplib (Debian: libcpp-httplib-dev)"); });
}

}  // namespace poot::tool
#endif
