#pragma once
/// Builds weight files byte by byte, as they are and as they should not be.

#include <poot/core/error.hpp>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace poot_tests {

/// Little-endian bytes, appended.
struct file_bytes {
  std::vector<poot::uint8> bytes;

  file_bytes& word(poot::uint64 value, int size) {
    for (int i = 0; i < size; ++i) bytes.push_back(static_cast<poot::uint8>(value >> (8 * i)));
    return *this;
  }
  file_bytes& u8(poot::uint64 v) { return word(v, 1); }
  file_bytes& u16(poot::uint64 v) { return word(v, 2); }
  file_bytes& u32(poot::uint64 v) { return word(v, 4); }
  file_bytes& u64(poot::uint64 v) { return word(v, 8); }
  file_bytes& f32(float v) { return word(std::bit_cast<poot::uint32>(v), 4); }
  file_bytes& f64(double v) { return word(std::bit_cast<poot::uint64>(v), 8); }
  file_bytes& chars(std::string_view s) {
    bytes.insert(bytes.end(), s.begin(), s.end());
    return *this;
  }
  /// A GGUF string.
  file_bytes& string(std::string_view s) { return u64(s.size()).chars(s); }
  file_bytes& pad(size_t alignment) {
    while (bytes.size() % alignment != 0) u8(0);
    return *this;
  }
  /// `count` bytes that tell where they stand.
  file_bytes& data(size_t count) {
    for (size_t i = 0; i < count; ++i) u8(i * 7 + 1);
    return *this;
  }

  /// "GGUF", version 3 and the counts.
  file_bytes& gguf_header(poot::uint64 tensors, poot::uint64 keys) {
    return chars("GGUF").u32(3).u64(tensors).u64(keys);
  }
  /// Key and value type; the value follows.
  file_bytes& key(std::string_view name, poot::uint32 kind) { return string(name).u32(kind); }
  /// A tensor's entry, extents innermost first.
  file_bytes& tensor(std::string_view name, std::vector<poot::uint64> extents, poot::uint32 type, poot::uint64 offset) {
    string(name).u32(extents.size());
    for (poot::uint64 e : extents) u64(e);
    return u32(type).u64(offset);
  }

  /// A safetensors file of this header and so much data.
  static file_bytes safetensors(std::string_view header, size_t data_size) {
    return file_bytes().u64(header.size()).chars(header).data(data_size);
  }
  /// An npy file, version 1, of this header and so much data.
  static file_bytes npy(std::string_view header, size_t data_size) {
    return file_bytes().chars("\x93NUMPY").u8(1).u8(0).u16(header.size()).chars(header).data(data_size);
  }

  poot::view<poot::uint8> view() const { return {bytes.data(), bytes.size()}; }
};

inline std::vector<poot::uint8> from_hex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; };
  std::vector<poot::uint8> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<poot::uint8>(digit(hex[i]) * 16 + digit(hex[i + 1])));
  return bytes;
}

/// A fresh directory that goes with its files.
class scratch_directory {
 public:
  scratch_directory() {
    const char* base = std::getenv("TMPDIR");
    path_ = std::string(base && *base ? base : "/tmp") + "/poot_io_XXXXXX";
    if (!::mkdtemp(path_.data())) std::abort();
  }
  ~scratch_directory() {
    const std::string command = "rm -rf '" + path_ + "'";
    if (std::system(command.c_str()) != 0) std::fputs("cannot remove the scratch directory\n", stderr);
  }
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;

  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline void put(const std::string& path, poot::view<poot::uint8> bytes) {
  std::FILE* f = std::fopen(path.c_str(), "wb");
  if (!f || std::fwrite(bytes.data(), 1, bytes.size(), f) != bytes.size() || std::fclose(f) != 0) std::abort();
}
inline void put(const std::string& path, std::string_view chars) {
  put(path, {reinterpret_cast<const poot::uint8*>(chars.data()), chars.size()});
}

/// The file's bytes as text; empty where there is no file.
inline std::string get(const std::string& path) {
  std::string chars;
  if (std::FILE* f = std::fopen(path.c_str(), "rb")) {
    char part[4096];
    for (size_t n; (n = std::fread(part, 1, sizeof part, f)) != 0;) chars.append(part, n);
    std::fclose(f);
  }
  return chars;
}

/// The message with which `run` fails, or "no error".
template <class Run>
std::string message_of(Run run) {
  try {
    run();
  } catch (const poot::error& e) {
    return e.what();
  }
  return "no error";
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }
}  // namespace poot_tests
