#pragma once
/// The HTTP of `poot serve`: cpp-httplib, with a bound for everything that a client sends, one request a connection, a thread for
/// each, and a sentence for each status.

#include "http_connection.hpp"

#include <functional>
#include <map>
#include <string>

namespace poot::tool {

/// Answers {"error": sentence}.
void refuse(httplib::Response& to, int status, const std::string& sentence);

class http_server : private httplib::Server {
 public:
  /// A client has `seconds` to say what it wants.
  explicit http_server(int seconds);

  void get(const std::string& path, std::function<void(httplib::Response&)> answer);
  /// `answer` gets the body.
  void post(const std::string& path, std::function<void(const std::string&, httplib::Response&)> answer);
  /// What `failed` makes of what a handler threw is the sentence of a status 500.
  void name_failures(std::function<std::string(const char*)> failed);

  /// Listens until the process is told to end (SIGINT, SIGTERM); requests that were made are answered. Port 0: any that is
  /// free. Throws `error` where it cannot.
  void run(const std::string& address, int port);

 private:
  bool process_and_close_socket(socket_t socket) override;
  HandlerResponse check_route(const httplib::Request& from, httplib::Response& to) const;
  std::string routes() const;
  std::string sentence_of(int status) const;

  http_bounds bounds_;
  std::atomic<bool> ending_ = false;
  std::map<std::string, std::string> methods_;  ///< of each path
};

}  // namespace poot::tool
