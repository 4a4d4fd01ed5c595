/// `poot serve MODEL.gguf`

#include "batch.hpp"
#include "chat.hpp"
#include "commands.hpp"
#include "continuation.hpp"
#include "options.hpp"
#include "text_request.hpp"

#include <poot/core/error.hpp>

#if __has_include(<httplib.h>)
#include <httplib.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

namespace poot::tool {

namespace {

using nlohmann::json;

struct serve_arguments {
  std::string model, address = "127.0.0.1", device = "host";
  int port = 8080, threads = 0;
  int64 tokens = 1024, context = 0;
  sampling choose;
};

/// Who reads the answer is gone.
struct reader_gone {};

/// What a signal stops.
std::atomic<httplib::Server*> listening = nullptr;
void stop_listening(int) {
  if (httplib::Server* const server = listening) server->stop();  // closes a socket, and that is all
}

class model_server {
 public:
  model_server(language_model& model, const serve_arguments& a)
      : model_(model), chat_(chat_of(model.file(), why_no_chat_)), most_(std::min(a.tokens, model.config().context)), dispatches_(model.plan_step({}, true).dispatch_count()), counted_(model.counted()) {
    server_.set_payload_max_length(1 << 20);
    server_.set_socket_options([](socket_t s) {  // the library's own would share a port with another server
      const int yes = 1;
      setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server_.Get("/health", [](const httplib::Request&, httplib::Response& to) { to.set_content("{\"status\":\"ok\"}", "application/json"); });
    server_.Get("/metrics", [this](const httplib::Request&, httplib::Response& to) { to.set_content(metrics(), "text/plain; version=0.0.4"); });
    server_.Post("/completions", [this](const httplib::Request& from, httplib::Response& to) { complete(from.body, to); });
    server_.set_exception_handler([this](const httplib::Request&, httplib::Response& to, std::exception_ptr thrown) {
      try {
        std::rethrow_exception(thrown);
      } catch (const std::exception& e) {
        refuse(to, 500, without_folders(e.what()));
      } catch (...) {
        refuse(to, 500, "an unknown failure");
      }
    });
    server_.set_error_handler([](const httplib::Request& from, httplib::Response& to) {
      if (!to.body.empty()) return;
      if (to.status == 413) refuse(to, 413, "the body: is longer than 1048576 bytes, or than 8192 where its Content-Type is that of a form");
      else refuse(to, to.status, from.method + " " + from.path + ": there is GET /health, GET /metrics and POST /completions");
    });
  }

  /// Serves until the process is told to end; texts that are being written are finished.
  void run(const std::string& address, int port) {
    if (address.empty()) fail("--address: must not be empty");
    const int bound = port == 0 ? server_.bind_to_any_port(address.c_str()) : server_.bind_to_port(address.c_str(), port) ? port : -1;
    if (bound < 0) fail(text{} << "--port " << port << ": cannot listen on " << address);
    const bool brackets = address.find(':') != address.npos;
    std::atomic<bool> ended = false;
    std::thread announcing([&] {  // what is told to end before has nothing to finish
      while (!server_.is_running() && !ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (ended) return;
      listening = &server_;
      std::signal(SIGINT, stop_listening);
      std::signal(SIGTERM, stop_listening);
      std::fprintf(stderr, "listening on http://%s%s%s:%d\n", brackets ? "[" : "", address.c_str(), brackets ? "]" : "", bound);
    });
    const bool served = server_.listen_after_bind();
    ended = true;
    announcing.join();
    listening = nullptr;
    if (!served) fail(text{} << "--port " << bound << ": listening on " << address << " failed");
  }

 private:
  static void refuse(httplib::Response& to, int status, const std::string& sentence) {
    to.status = status;
    to.set_content(json{{"error", sentence}}.dump(-1, ' ', false, json::error_handler_t::replace), "application/json");
  }

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
    if (!w.stream) {
      const std::unique_lock lock(one_text_);
      model_.restart();
      std::string all;
      const size_t drawn = write(w, tokens, [&](const std::string& more) { all += more; });
      return to.set_content(json{{"text", all}, {"prompt_tokens", tokens.size()}, {"tokens", drawn}}.dump(-1, ' ', false, json::error_handler_t::replace),
                            "application/json");
    }
    to.set_chunked_content_provider("text/plain; charset=utf-8", [this, w, tokens](size_t, httplib::DataSink& sink) {
      const std::unique_lock again(one_text_);
      model_.restart();
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

  /// Writes the text of a request to `sink`; returns the number of tokens.
  size_t write(const text_request& w, const std::vector<int32>& tokens, const text_sink& sink) {
    const io::tokenizer& t = model_.tokens();
    continuation one(model_, nullptr, {t.bos(), t.eos(), w.chat ? turn_end(*chat_, t) : -1}, sink);
    one.write(tokens, w.chat ? std::string() : w.prompt, w.tokens);
    const std::unique_lock lock(counts_);
    ++texts_;
    given_ += one.given();
    drawn_ += one.drawn();
    counted_ = model_.counted();
    return one.drawn();
  }

  /// In the text format of Prometheus.
  std::string metrics() {
    const std::unique_lock lock(counts_);
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
  httplib::Server server_;
  std::mutex one_text_, counts_;
  device_counters counted_;
  std::atomic<uint64> refused_ = 0;
  uint64 texts_ = 0, given_ = 0, drawn_ = 0;
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
  CLI::App* command = app.add_subcommand("serve", "Answer HTTP requests with a model in a GGUF file, one text at a time: POST /completions takes {\"prompt\", \"tokens\", \"chat\", \"system\", \"stream\"}, GET /metrics counts");
  auto a = std::make_shared<serve_arguments>();
  command->add_option("model", a->model, "The GGUF file")->required()->check(file_name());
  command->add_option("--address", a->address, "Where to listen")->capture_default_str();
  command->add_option("--port", a->port, "Port to listen on; 0: any that is free, as standard error says")->capture_default_str()->check(whole_number(0, 65535));
  command->add_option("-n,--tokens", a->tokens, "Tokens that a request may ask for at most")->capture_default_str()->check(whole_number(1, 1 << 30));
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
