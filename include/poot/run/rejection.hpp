#pragma once
/// The sentence about a kernel that a compiler does not take: the compiler's log, and the lines that it is about.

#include <poot/core/error.hpp>

namespace poot::run {

/// `log` names a line as "NAME:12:" or "NAME(12):"; the first one is shown with two on either side.
inline text describe_rejection(std::string_view compiler, std::string_view name, std::string_view log, std::string_view source) {
  while (!log.empty() && (log.back() == '\n' || log.back() == '\0')) log.remove_suffix(1);
  text out;
  out << compiler << " rejects kernel \"" << name << "\": " << (log.empty() ? "without a word" : log);
  uint32 wanted = 0;
  for (size_t at = 0; at < log.size() && !wanted; ++at) {
    if (log[at] != ':' && log[at] != '(') continue;
    uint32 number = 0;
    size_t end = at + 1;
    while (end < log.size() && log[end] >= '0' && log[end] <= '9' && number < 100000000) number = 10 * number + static_cast<uint32>(log[end++] - '0');
    if (end < log.size() && log[end] == (log[at] == ':' ? ':' : ')')) wanted = number;
  }
  for (uint32 line = 1; wanted && !source.empty() && line <= wanted + 2; ++line) {
    const size_t end = source.find('\n');
    if (line + 2 >= wanted) out << "\n  " << line << "  " << source.substr(0, end);
    source.remove_prefix(end == source.npos ? source.size() : end + 1);
  }
  return out;
}

}  // namespace poot::run
