#pragma once
/// One connection of `poot serve`: what cpp-httplib reads a request from, within bounds.

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <string>

namespace poot::tool {

/// What a client may send, and how long it may take.
struct http_bounds {
  size_t head_bytes = 1 << 14, body_bytes = 1 << 20;
  int seconds = 10;
};

class http_connection final : public httplib::Stream {
 public:
  /// Takes the socket. Where nothing was said yet, `ending` ends it.
  http_connection(socket_t socket, const http_bounds& bounds, const std::atomic<bool>& ending);
  /// Lets the client read what was written, and closes.
  ~http_connection();

  enum class head { whole, none, slow, too_long };
  /// Reads up to the end of the request's head, which `read` then begins with.
  head read_head();

  // What a stream of the library has to have, in one version or another: which of these override depends on it.
  /// As sockets do; -1 where the client is too slow, says too much, or is gone.
  ssize_t read(char* to, size_t size);
  ssize_t write(const char* from, size_t size);
  using httplib::Stream::write;
  bool is_readable() const;
  bool is_writable() const;
  bool wait_readable() const { return is_readable(); }
  bool wait_writable() const { return is_writable(); }
  void get_remote_ip_and_port(std::string&, int&) const {}  // nobody asks
  void get_local_ip_and_port(std::string&, int&) const {}
  socket_t socket() const { return socket_; }
  time_t duration() const { return 0; }

 private:
  using clock = std::chrono::steady_clock;

  bool waits(short events, clock::time_point until, bool may_end) const;
  /// Reads more into `said_`; false where there is no more.
  bool receive(bool may_end);

  socket_t socket_;
  const http_bounds& bounds_;
  const std::atomic<bool>& ending_;
  clock::time_point until_;  ///< a request has come by then
  std::string said_;         ///< received, and read up to `at_`
  size_t at_ = 0, left_;     ///< left: bytes that may still be received
};

}  // namespace poot::tool
