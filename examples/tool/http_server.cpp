#if __has_include(<httplib.h>)
#include "http_server.hpp"

#include <poot/core/error.hpp>

#include <nlohmann/json.hpp>

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <strings.h>

namespace poot::tool {

namespace {

using nlohmann::json;

/// What a signal stops.
std::atomic<httplib::Server*> listening = nullptr;
void stop_listening(int) {
  if (httplib::Server* const server = listening) server->stop();  // closes a socket, and that is all
}

/// A thread for each connection that is open, so that none waits for what another one waits for.
class connection_threads final : public httplib::TaskQueue {
  using enqueued = decltype(std::declval<httplib::TaskQueue&>().enqueue(nullptr));  // bool from version 0.15 on

 public:
  explicit connection_threads(std::atomic<bool>& ending) : ending_(ending) {}

  enqueued enqueue(std::function<void()> connection) override {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(connection));
    if (waiting_.size() > idle_ && threads_.size() < most) {
      try {
        threads_.emplace_back([this] { work(); });
      } catch (const std::system_error&) {  // then it waits for one that there is
      }
    }
    come_.notify_one();
    return enqueued(true);
  }
  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      come_.notify_all();
    }
    for (std::thread& t : threads_) t.join();
  }

 private:
  static constexpr size_t most = 1024;

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++idle_;
      come_.wait(lock, [&] { return !waiting_.empty() || ending_; });
      --idle_;
      if (waiting_.empty()) return;
      const std::function<void()> connection = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      connection();
      lock.lock();
    }
  }

  std::atomic<bool>& ending_;
  std::mutex mutex_;
  std::condition_variable come_;
  std::list<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
};

std::string error_text(const std::string& sentence) {
  return json{{"error", sentence}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Answers what is no request that the library could read.
void refuse(http_connection& to, const char* status, const std::string& sentence) {
  const std::string body = error_text(sentence);
  to.write(std::string("HTTP/1.1 ") + status + "\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body);
}

}  // namespace

void refuse(httplib::Response& to, int status, const std::string& sentence) {
  to.status = status;
  to.set_content(error_text(sentence), "application/json");
}

http_server::http_server(int seconds) {
  bounds_.seconds = seconds;
  new_task_queue = [this] { return new connection_threads(ending_); };
  set_payload_max_length(bounds_.body_bytes);
  set_socket_options([](socket_t s) {  // the library's own would share a port with another server
    const int yes = 1;
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  set_pre_routing_handler([this](const httplib::Request& from, httplib::Response& to) { return check_route(from, to); });
  set_error_handler([this](const httplib::Request&, httplib::Response& to) {
    if (to.body.empty()) refuse(to, to.status, sentence_of(to.status));
  });
}

void http_server::get(const std::string& path, std::function<void(httplib::Response&)> answer) {
  methods_[path] = "GET";
  Get(path, [answer = std::move(answer)](const httplib::Request&, httplib::Response& to) { answer(to); });
}

void http_server::post(const std::string& path, std::function<void(const std::string&, httplib::Response&)> answer) {
  methods_[path] = "POST";
  Post(path, [this, answer = std::move(answer)](const httplib::Request&, httplib::Response& to, const httplib::ContentReader& read) {
    std::string body;
    bool fits = true;
    const bool whole = read([&](const char* more, size_t size) {
      fits = body.size() + size <= bounds_.body_bytes;
      if (fits) body.append(more, size);
      return fits;
    });
    if (!fits) refuse(to, 413, sentence_of(413));
    else if (!whole) refuse(to, 400, "the body: its chunks are none, or it does not end within " + std::to_string(bounds_.seconds) + " s");
    else answer(body, to);
  });
}

void http_server::name_failures(std::function<std::string(const char*)> failed) {
  set_exception_handler([failed = std::move(failed)](const httplib::Request&, httplib::Response& to, std::exception_ptr thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& e) {
      refuse(to, 500, failed(e.what()));
    } catch (...) {
      refuse(to, 500, "an unknown failure");
    }
  });
}

void http_server::run(const std::string& address, int port) {
  if (address.empty()) fail("--address: must not be empty");
  const int bound = port == 0 ? bind_to_any_port(address) : bind_to_port(address, port) ? port : -1;
  if (bound < 0) fail(text{} << "--port " << port << ": cannot listen on " << address);
  ::listen(svr_sock_, SOMAXCONN);  // the library lets five wait, and who comes then tries again a second later
  const bool brackets = address.find(':') != address.npos;
  std::atomic<bool> ended = false;
  std::thread announcing([&] {  // what is told to end before has nothing to finish
    while (!is_running() && !ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (ended) return;
    listening = this;
    std::signal(SIGINT, stop_listening);
    std::signal(SIGTERM, stop_listening);
    std::fprintf(stderr, "listening on http://%s%s%s:%d\n", brackets ? "[" : "", address.c_str(), brackets ? "]" : "", bound);
  });
  const bool served = listen_after_bind();
  ended = true;
  announcing.join();
  listening = nullptr;
  if (!served) fail(text{} << "--port " << bound << ": listening on " << address << " failed");
}

bool http_server::process_and_close_socket(socket_t socket) {
  http_connection c(socket, bounds_, ending_);
  bool closed = false;
  switch (c.read_head()) {
    case http_connection::head::none: return false;
    case http_connection::head::slow:
      refuse(c, "408 Request Timeout", "the request: its head does not end within " + std::to_string(bounds_.seconds) + " s");
      return false;
    case http_connection::head::too_long:
      refuse(c, "431 Request Header Fields Too Large", "the request: its head is longer than " + std::to_string(bounds_.head_bytes) + " bytes");
      return false;
    case http_connection::head::whole: break;
  }
  const auto answer = [&](auto& library) {
    if constexpr (requires { library.process_request(c, true, closed, nullptr); }) return library.process_request(c, true, closed, nullptr);
    else return library.process_request(c, "", 0, "", 0, true, closed, nullptr);  // from version 0.16 on
  };
  return answer(*this);
}

http_server::HandlerResponse http_server::check_route(const httplib::Request& from, httplib::Response& to) const {
  const auto refused = [&](int status, const std::string& sentence) {
    refuse(to, status, sentence);
    return HandlerResponse::Handled;
  };
  const auto path = methods_.find(from.path);
  if (path == methods_.end()) return refused(404, from.method + " " + from.path + ": there is " + routes());
  const bool posts = path->second == "POST";
  if (from.method != path->second && (posts || from.method != "HEAD")) {
    to.set_header("Allow", posts ? "POST" : "GET, HEAD");
    return refused(405, from.method + " " + from.path + ": is asked for with " + path->second);
  }
  if (!posts) return HandlerResponse::Unhandled;
  if (from.is_multipart_form_data()) return refused(415, "Content-Type: the body is a JSON object, and no form of several parts");
  if (from.has_header("Content-Encoding")) return refused(415, "Content-Encoding: the body must be JSON as it is");
  if (from.has_header("Transfer-Encoding")) {
    if (strcasecmp(from.get_header_value("Transfer-Encoding").c_str(), "chunked") == 0) return HandlerResponse::Unhandled;
    return refused(501, "Transfer-Encoding: must be chunked");
  }
  if (!from.has_header("Content-Length")) return refused(411, "Content-Length: is missing");
  const std::string length = from.get_header_value("Content-Length");
  size_t bytes = 0;
  const std::from_chars_result read = std::from_chars(length.data(), length.data() + length.size(), bytes);
  if (read.ptr != length.data() + length.size()) return refused(400, "Content-Length: must be a number of bytes");
  if (read.ec != std::errc() || bytes > bounds_.body_bytes) return refused(413, sentence_of(413));
  return HandlerResponse::Unhandled;
}

std::string http_server::routes() const {
  std::string all;
  size_t left = methods_.size();
  for (const auto& [path, method] : methods_) all += method + " " + path + (--left == 0 ? "" : left == 1 ? " and " : ", ");
  return all;
}

std::string http_server::sentence_of(int status) const {
  switch (status) {
    case 400: return "the request: is no HTTP/1.1";
    case 413: return "the body: is longer than " + std::to_string(bounds_.body_bytes) + " bytes";
    case 414: return "the path: is longer than 8192 bytes";
    case 416: return "Range: there are no parts of this";
    case 500: return "the server: more connections are open than it can serve";
    default: return "the request: cannot be answered";
  }
}

}  // namespace poot::tool
#endif
