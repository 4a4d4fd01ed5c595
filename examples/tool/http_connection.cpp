#if __has_include(<httplib.h>)
#include "http_connection.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace poot::tool {

// Of a body, what frames its chunks counts too: a byte in a chunk of its own takes six.
http_connection::http_connection(socket_t socket, const http_bounds& bounds, const std::atomic<bool>& ending)
    : socket_(socket), bounds_(bounds), ending_(ending), until_(clock::now() + std::chrono::seconds(bounds.seconds)),
      left_(bounds.head_bytes + 16 * bounds.body_bytes) {}

http_connection::~http_connection() {
  // Closed with something unread, a socket throws away what it has not sent yet.
  shutdown(socket_, SHUT_WR);
  until_ = clock::now() + std::chrono::seconds(2);
  for (said_.clear(); receive(true); said_.clear()) {
  }
  close(socket_);
}

http_connection::head http_connection::read_head() {
  for (size_t end = said_.npos; end == said_.npos; end = said_.find("\r\n\r\n")) {
    if (said_.size() >= bounds_.head_bytes) return head::too_long;
    if (!receive(said_.empty())) return said_.empty() ? head::none : head::slow;
  }
  return head::whole;
}

ssize_t http_connection::read(char* to, size_t size) {
  if (at_ == said_.size()) {
    said_.clear();
    at_ = 0;
    if (!receive(false)) return -1;
  }
  const size_t count = std::min(size, said_.size() - at_);
  std::memcpy(to, said_.data() + at_, count);
  at_ += count;
  return static_cast<ssize_t>(count);
}

ssize_t http_connection::write(const char* from, size_t size) {
  if (!waits(POLLOUT, clock::now() + std::chrono::seconds(bounds_.seconds), false)) return -1;
  return send(socket_, from, size, MSG_NOSIGNAL);
}

bool http_connection::is_readable() const { return at_ < said_.size() || waits(POLLIN, clock::now(), false); }
bool http_connection::is_writable() const { return waits(POLLOUT, clock::now(), false); }

bool http_connection::waits(short events, clock::time_point until, bool may_end) const {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now()).count();
    pollfd p{socket_, events, 0};
    const int found = poll(&p, 1, static_cast<int>(std::clamp<long long>(left, 0, 100)));
    if (found > 0) return true;
    if (found < 0 && errno != EINTR) return false;
    if (left <= 0 || (may_end && ending_)) return false;
  }
}

bool http_connection::receive(bool may_end) {
  char more[4096];
  if (left_ == 0 || !waits(POLLIN, until_, may_end)) return false;
  const ssize_t count = recv(socket_, more, std::min(sizeof more, left_), 0);
  if (count <= 0) return false;
  said_.append(more, static_cast<size_t>(count));
  left_ -= static_cast<size_t>(count);
  return true;
}

}  // namespace poot::tool
#endif
