#pragma once
/// Text that can be written in constant expressions.

#include <poot/core/vec.hpp>

#include <string_view>

namespace poot {

/// Text of fixed length, usable as a template argument: `input<"x", f32, 8>`.
template <size_t N>
struct fixed_text {
  char chars[N]{};
  constexpr fixed_text(const char (&source)[N]) {
    for (size_t i = 0; i < N; ++i) chars[i] = source[i];
  }
  constexpr std::string_view view() const { return {chars, N - 1}; }
  constexpr bool operator==(const fixed_text&) const = default;
};

/// Growing text. `<<` appends; nothing is formatted until it is called.
class text {
 public:
  constexpr text() = default;
  constexpr text(std::string_view s) { *this << s; }
  constexpr text(const char* s) { *this << s; }

  constexpr text& operator<<(std::string_view s) {
    chars_.append({s.data(), s.size()});
    return *this;
  }
  /// (The length by the compiler: std::string_view counts in a loop, which constant evaluations pay for.)
  constexpr text& operator<<(const char* s) { return *this << std::string_view(s, __builtin_strlen(s)); }
  constexpr text& operator<<(const text& t) { return *this << t.str(); }
  constexpr text& operator<<(char c) {
    chars_.push_back(c);
    return *this;
  }
  /// Any integer, in decimal.
  template <class Int>
    requires(std::is_integral_v<Int> && !std::is_same_v<Int, char>)
  constexpr text& operator<<(Int value) {
    if (value < Int{}) {
      chars_.push_back('-');
      return unsigned_digits(uint64{0} - static_cast<uint64>(value), 10);
    }
    return unsigned_digits(static_cast<uint64>(value), 10);
  }
  /// Lower-case hexadecimal with `0x`.
  constexpr text& hex(uint64 value) {
    *this << "0x";
    return unsigned_digits(value, 16);
  }

  constexpr std::string_view str() const { return {chars_.data(), chars_.size()}; }
  constexpr size_t size() const { return chars_.size(); }
  constexpr bool empty() const { return chars_.empty(); }
  friend constexpr bool operator==(const text& a, const text& b) { return a.str() == b.str(); }

 private:
  constexpr text& unsigned_digits(uint64 value, uint64 base) {
    char digits[20];
    int count = 0;
    do digits[count++] = "0123456789abcdef"[value % base];
    while (value /= base);
    while (count) chars_.push_back(digits[--count]);
    return *this;
  }

  vec<char> chars_;
};

}  // namespace poot
