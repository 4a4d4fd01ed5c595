#pragma once
/// Reads graph text word by word, and says where it stands when it must refuse.

#include <poot/core/decimal.hpp>
#include <poot/core/error.hpp>

namespace poot::ir::detail {

/// What a character can be; one look-up, because constant expressions count steps.
inline constexpr uint8 letter = 1, digit = 2, point = 4, sign = 8, blank = 16;
struct char_table {
  uint8 classes[256]{};
  constexpr char_table() {
    for (int i = 0; i < 26; ++i) classes['a' + i] = classes['A' + i] = letter;
    for (int i = 0; i < 10; ++i) classes['0' + i] = digit;
    classes['_'] = letter;
    classes['.'] = point;
    classes['-'] = classes['+'] = sign;
    classes[' '] = classes['\n'] = classes['\t'] = classes['\r'] = blank;
  }
};
inline constexpr char_table chars_of{};
constexpr bool is_one_of(uint8 classes, char c) { return chars_of.classes[static_cast<unsigned char>(c)] & classes; }
constexpr bool starts_identifier(char c) { return is_one_of(letter, c); }
constexpr bool continues_identifier(char c) { return is_one_of(letter | digit | point, c); }
constexpr bool is_identifier(std::string_view s) {
  if (s.empty() || !starts_identifier(s[0])) return false;
  for (char c : s)
    if (!continues_identifier(c)) return false;
  return true;
}

/// Appends text from outside to a message: at most 60 characters, and `?` for what cannot be shown.
constexpr text& excerpt(text& out, std::string_view s) {
  for (char c : s.substr(0, 60)) out << (static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c);
  if (s.size() > 60) out << "...";
  return out;
}

struct text_reader {
  std::string_view source;
  size_t at = 0;
  std::string_view subject{};  ///< the value whose equation is being read, with its %
  std::string_view call{};     ///< and its op
  std::string_view form = "graph text";  ///< what the source is to be

  /// Throws: line and column of `where`, the value, the op, and `reason`.
  [[noreturn]] void refuse(size_t where, const text& reason) const {
    size_t line = 1, line_start = 0;
    for (size_t i = 0; i < where && i < source.size(); ++i)
      if (source[i] == '\n') ++line, line_start = i + 1;
    text message;
    message << form << ", line " << line << ", column " << where - line_start + 1 << ": ";
    if (!subject.empty()) excerpt(message, subject) << ": ";
    if (!call.empty()) excerpt(message, call) << ": ";
    fail(message << reason);
  }
  [[noreturn]] void refuse(const text& reason) const { refuse(at, reason); }
  [[noreturn]] void unexpected(std::string_view wanted) const {
    text reason;
    reason << "expected " << wanted << ", found ";
    if (at >= source.size()) reason << "the end of the text";
    else if (static_cast<unsigned char>(source[at]) < 32 || static_cast<unsigned char>(source[at]) > 126)
      (reason << "the byte ").hex(static_cast<unsigned char>(source[at]));
    else reason << '\'' << source[at] << '\'';
    refuse(reason);
  }

  /// Steps over blanks and comments.
  constexpr void skip() {
    for (; at < source.size(); ++at) {
      if (chars_of.classes[static_cast<unsigned char>(source[at])] & blank) continue;
      if (source[at] != '#') return;
      while (at + 1 < source.size() && source[at + 1] != '\n') ++at;
    }
  }
  /// Steps over characters of these classes, and gives them.
  constexpr std::string_view run(uint8 classes) {
    const size_t first = at;
    while (at < source.size() && (chars_of.classes[static_cast<unsigned char>(source[at])] & classes)) ++at;
    return {source.data() + first, at - first};
  }
  constexpr bool at_end() {
    skip();
    return at >= source.size();
  }
  /// The next character that is no blank; 0 at the end.
  constexpr char peek() { return at_end() ? '\0' : source[at]; }
  constexpr bool take(char c) {
    if (at_end() || source[at] != c) return false;
    ++at;
    return true;
  }
  constexpr void expect(char c) {
    if (take(c)) return;
    const char wanted[3] = {'\'', c, '\''};
    unexpected({wanted, 3});
  }

  /// An identifier.
  constexpr std::string_view word(std::string_view what) {
    if (!starts_identifier(peek())) unexpected(what);
    return run(letter | digit | point);
  }
  /// A value's name, with its %.
  constexpr std::string_view value_name() {
    if (peek() != '%') unexpected("a value's name");
    const size_t first = at++;
    if (run(letter | digit | point).empty()) unexpected("a name after %");
    return source.substr(first, at - first);
  }
  /// The characters of a number, whatever they mean.
  constexpr std::string_view number() {
    skip();
    const std::string_view chars = run(letter | digit | point | sign);
    if (chars.empty()) unexpected("a number");
    return chars;
  }
  constexpr int64 integer(int64 least, int64 most) {
    skip();
    const size_t where = at;
    const std::string_view chars = number();
    int64 value = 0;
    if (!parse_integer(chars, least, most, value)) {
      text reason("'");
      refuse(where, excerpt(reason, chars) << "' is not an integer from " << least << " to " << most);
    }
    return value;
  }
  /// The characters of a string in quotes; `\"`, `\\` and `\xNN` stand for characters that cannot stand there.
  constexpr vec<char> quoted(std::string_view what) {
    if (peek() != '"') unexpected(what);
    vec<char> chars;
    for (++at;; ++at) {
      if (at >= source.size() || static_cast<unsigned char>(source[at]) < 32) unexpected("the closing quote");
      if (source[at] == '"') break;
      if (source[at] != '\\') {
        chars.push_back(source[at]);
        continue;
      }
      const char next = at + 1 < source.size() ? source[at + 1] : '\0';
      const int high = at + 3 < source.size() ? digit_value(source[at + 2]) : 99;
      const int low = at + 3 < source.size() ? digit_value(source[at + 3]) : 99;
      if (next == '"' || next == '\\') {
        chars.push_back(next);
        at += 1;
      } else if (next == 'x' && high < 16 && low < 16) {
        chars.push_back(static_cast<char>(high * 16 + low));
        at += 3;
      } else {
        refuse("a \\ in a name must be followed by \", \\ or xNN");
      }
    }
    ++at;
    return chars;
  }

 private:
  static constexpr int digit_value(char c) { return poot::detail::digit_value(c); }
};

/// Reads the bits of one number of type `t`: decimal, C hex float, inf, nan, or `bits 0x7fc00001`.
constexpr uint64 read_number(text_reader& in, dtype t) {
  in.skip();
  const size_t where = in.at;
  if (is_packed(t)) in.refuse(text{} << "a number cannot be " << name(t) << "; packed types are only read from files");
  std::string_view chars = in.number();
  const int width = t == dtype::boolean ? 1 : 8 * row(t).block_bytes;
  const uint64 mask = ~uint64{0} >> (64 - width);
  uint64 bits = 0;
  bool read = false;
  if (chars == "bits") {
    in.skip();
    chars = in.number();
    read = parse_natural(chars, mask, bits);
  } else if (is_float(t)) {
    const float_format f = format_of(t);
    read = parse_float(chars, f, bits);
    if (read && (bits & ~f.sign_bit()) == f.infinity() && chars != "inf" && chars != "-inf") {
      text reason("'");
      in.refuse(where, excerpt(reason, chars) << "' is too large for " << name(t));
    }
  } else {
    int64 value = 0;
    const int64 most = static_cast<int64>(is_signed(t) ? mask >> 1 : mask);
    read = parse_integer(chars, is_signed(t) ? -most - 1 : 0, most, value);
    bits = static_cast<uint64>(value) & mask;
  }
  if (!read) {
    text reason("'");
    in.refuse(where, excerpt(reason, chars) << "' is not a number of type " << name(t) << " or does not fit it");
  }
  return bits;
}

}  // namespace poot::ir::detail
