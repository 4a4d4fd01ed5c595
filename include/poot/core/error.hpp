#pragma once
/// The one exception type of the library.

#include <poot/core/text.hpp>

#include <exception>
#include <new>

namespace poot {

/// Thrown when a graph, a call or a file breaks a rule. `what()` is one sentence that names the call,
/// the operand (or file and field) and the rule.
class error : public std::exception {
 public:
  explicit error(std::string_view message) : chars_(copy(message)) {}
  explicit error(const text& message) : error(message.str()) {}
  error(const error& other) noexcept : std::exception(other), chars_(copy(other.what())) {}
  error& operator=(const error& other) noexcept {
    if (this != &other) {
      delete[] chars_;
      chars_ = copy(other.what());
    }
    return *this;
  }
  ~error() override { delete[] chars_; }
  const char* what() const noexcept override { return chars_ ? chars_ : "poot: out of memory"; }

 private:
  static char* copy(std::string_view message) noexcept {
    char* chars = new (std::nothrow) char[message.size() + 1];
    if (!chars) return nullptr;
    for (size_t i = 0; i < message.size(); ++i) chars[i] = message[i];
    chars[message.size()] = 0;
    return chars;
  }
  char* chars_;
};

/// Throws `error`; not constexpr on purpose, so that reaching it in a constant expression stops the compiler.
[[noreturn]] inline void fail(const text& message) { throw error(message); }

}  // namespace poot
