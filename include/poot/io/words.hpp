#pragma once
/// Numbers and names as they stand in files.

#include <poot/core/error.hpp>

namespace poot::io {

/// An unsigned number of the file, whatever the byte order and alignment of the machine.
template <class Word>
Word load_little_endian(const uint8* bytes) {
  Word word = 0;
  for (size_t i = 0; i < sizeof(Word); ++i) word = static_cast<Word>(word | static_cast<Word>(bytes[i]) << (8 * i));
  return word;
}

/// A name from a file as it may stand in a message: control bytes as \xNN, at most 96 characters.
inline text shown(std::string_view name) {
  text out;
  if (name.empty()) return text("(empty name)");
  for (char c : name) {
    if (out.size() > 96) return out << "...";
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      out << "\\x" << "0123456789abcdef"[byte >> 4] << "0123456789abcdef"[byte & 15];
    else
      out << c;
  }
  return out;
}

}  // namespace poot::io
