#pragma once
/// UTF-8: characters and their codes, and text that arrives in pieces.

#include <poot/core/vec.hpp>

#include <string>
#include <string_view>

namespace poot::io {

/// Bytes of the UTF-8 character at the front of `s`; 0 where none begins. Surrogates, characters beyond U+10FFFF and
/// spellings longer than need be are none.
constexpr size_t utf8_length(std::string_view s) {
  const auto byte = [&](size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  const unsigned lead = byte(0), second = byte(1);
  const size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length > s.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool wrong = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
                     (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
  return wrong ? 0 : length;
}

/// The code point that the UTF-8 character `c` spells.
constexpr uint32 utf8_code(std::string_view c) {
  const auto byte = [&](size_t i) { return static_cast<uint32>(static_cast<unsigned char>(c[i])); };
  if (c.size() == 1) return byte(0);
  uint32 code = byte(0) & (0x7fu >> c.size());
  for (size_t i = 1; i < c.size(); ++i) code = code << 6 | (byte(i) & 0x3f);
  return code;
}

/// Appends the UTF-8 character of a code point.
inline void append_utf8(std::string& out, uint32 code) {
  const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes behind the first
  out += static_cast<char>(more == 0 ? code : (0xff80u >> more & 0xff) | code >> (6 * more));
  for (int i = more; i-- > 0;) out += static_cast<char>(0x80 | (code >> (6 * i) & 0x3f));
}

/// Text that arrives in pieces of any bytes, and leaves in whole characters: what can still become a character waits,
/// and what cannot leaves as U+FFFD.
class character_stream {
 public:
  /// Takes bytes; returns the text that is complete now.
  std::string put(std::string_view bytes) {
    waiting_ += bytes;
    std::string out;
    size_t at = 0;
    while (at < waiting_.size()) {
      const std::string_view rest = std::string_view(waiting_).substr(at);
      const size_t length = utf8_length(rest);
      if (length == 0 && begins(rest)) break;
      out += length ? rest.substr(0, length) : std::string_view(replacement);
      at += length ? length : 1;
    }
    waiting_.erase(0, at);
    return out;
  }
  /// The end: what still waits will not become a character.
  std::string finish() {
    const bool cut = !waiting_.empty();
    waiting_.clear();
    return cut ? replacement : "";
  }

 private:
  static constexpr const char* replacement = "\xef\xbf\xbd";
  /// Whether more bytes could make a character of all of `s`.
  static bool begins(std::string_view s) {
    if (s.size() > 3) return false;
    for (const char* more : {"\x80\x80\x80", "\xbf\xbf\xbf"})  // the second byte's bounds are at one end or the other
      if (utf8_length((std::string(s) + more)) > s.size()) return true;
    return false;
  }

  std::string waiting_;
};

}  // namespace poot::io
