#pragma once
/// The typed values under a GGUF file's keys, and the checked walk through its bytes.

#include <poot/io/words.hpp>

#include <bit>
#include <type_traits>

namespace poot::io {

/// Value types in the numbering of the format.
enum class gguf_kind : uint32 { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

inline constexpr uint32 gguf_kind_count = 13;

struct gguf_kind_row {
  std::string_view name;
  uint32 bytes;  ///< of one value; 0 where it varies
};
inline constexpr gguf_kind_row gguf_kind_table[gguf_kind_count] = {
    {"u8", 1},   {"i8", 1},     {"u16", 2},    {"i16", 2},   {"u32", 4}, {"i32", 4}, {"f32", 4},
    {"bool", 1}, {"string", 0}, {"array", 0}, {"u64", 8}, {"i64", 8}, {"f64", 8}};

constexpr const gguf_kind_row& row(gguf_kind kind) { return gguf_kind_table[static_cast<uint32>(kind)]; }

/// The kind that holds a C++ type exactly.
template <class T>
constexpr gguf_kind gguf_kind_of() {
  if constexpr (std::is_same_v<T, bool>) return gguf_kind::boolean;
  else if constexpr (std::is_same_v<T, std::string_view>) return gguf_kind::string;
  else if constexpr (std::is_same_v<T, float>) return gguf_kind::f32;
  else if constexpr (std::is_same_v<T, double>) return gguf_kind::f64;
  else if constexpr (std::is_same_v<T, uint8>) return gguf_kind::u8;
  else if constexpr (std::is_same_v<T, int8>) return gguf_kind::i8;
  else if constexpr (std::is_same_v<T, uint16>) return gguf_kind::u16;
  else if constexpr (std::is_same_v<T, int16>) return gguf_kind::i16;
  else if constexpr (std::is_same_v<T, uint32>) return gguf_kind::u32;
  else if constexpr (std::is_same_v<T, int32>) return gguf_kind::i32;
  else if constexpr (std::is_same_v<T, uint64>) return gguf_kind::u64;
  else {
    static_assert(std::is_same_v<T, int64>, "poot::io: a GGUF value is an integer, float, bool or std::string_view");
    return gguf_kind::i64;
  }
}

/// Reads one value of `gguf_kind_of<T>()` at `bytes`, whose length was checked; returns what follows it.
template <class T>
const uint8* load_gguf(const uint8* bytes, T& out) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    const size_t length = load_little_endian<uint64>(bytes);
    out = {reinterpret_cast<const char*>(bytes + 8), length};
    return bytes + 8 + length;
  } else if constexpr (std::is_same_v<T, bool>) {
    out = *bytes != 0;
    return bytes + 1;
  } else if constexpr (std::is_same_v<T, float>) {
    out = std::bit_cast<float>(load_little_endian<uint32>(bytes));
    return bytes + 4;
  } else if constexpr (std::is_same_v<T, double>) {
    out = std::bit_cast<double>(load_little_endian<uint64>(bytes));
    return bytes + 8;
  } else {
    out = static_cast<T>(load_little_endian<std::make_unsigned_t<T>>(bytes));
    return bytes + sizeof(T);
  }
}

/// A key and its value, still in the bytes of the file.
struct gguf_entry {
  std::string_view key;
  gguf_kind kind{};
  gguf_kind item{};  ///< of an array
  uint64 count = 1;  ///< items of an array
  const uint8* data = nullptr;  ///< of the value, or of an array's first item
};

/// Position in a file of which nothing is believed: every step is compared with the bytes that are left.
class gguf_cursor {
 public:
  /// What is being read: "type of tensor", "blk.0.w". Put into words only on failure.
  struct field {
    std::string_view what;
    std::string_view owner{};
  };

  gguf_cursor(view<uint8> bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }
  const uint8* here() const { return bytes_.data() + at_; }

  template <class Word>
  Word take(field f) {
    need(sizeof(Word), f);
    const Word word = load_little_endian<Word>(here());
    at_ += sizeof(Word);
    return word;
  }

  void skip(uint64 size, field f) {
    need(size, f);
    at_ += size;
  }

  /// A number of things to follow, each at least `least` bytes long.
  uint64 take_count(uint64 least, field f) {
    const uint64 count = take<uint64>(f);
    if (count > left() / least)
      refuse(8, f, text{} << "claims " << count << " items of at least " << least << " bytes and the file has "
                          << left() << " bytes left");
    return count;
  }

  std::string_view take_string(field f) {
    const uint64 length = take<uint64>(f);
    if (length > left())
      refuse(8, f, text{} << "claims a length of " << length << " bytes and the file has " << left() << " bytes left");
    const auto* chars = reinterpret_cast<const char*>(here());
    at_ += length;
    return {chars, length};
  }

  gguf_kind take_kind(field f) {
    const uint32 number = take<uint32>(f);
    if (number >= gguf_kind_count) refuse(4, f, text{} << "is " << number << ", and the format has types 0 to 12");
    return static_cast<gguf_kind>(number);
  }

  /// Fails with "FILE: FIELD at byte N RULE"; the field began `back` bytes before here.
  [[noreturn]] void refuse(size_t back, field f, const text& rule) const {
    text message = text{} << file_ << ": " << f.what;
    if (f.owner.data()) message << ' ' << shown(f.owner);
    fail(message << " at byte " << at_ - back << ' ' << rule);
  }

  /// A key with its value; an array of strings is walked to its end.
  gguf_entry take_entry() {
    gguf_entry e;
    e.key = take_string({"key"});
    e.kind = take_kind({"value type of key", e.key});
    e.item = e.kind;
    if (e.kind == gguf_kind::array) {
      e.item = take_kind({"item type of key", e.key});
      if (e.item == gguf_kind::array)
        refuse(4, {"item type of key", e.key}, "is array, and poot reads no nested arrays");
      const uint32 size = row(e.item).bytes;
      e.count = take_count(size ? size : 8, {"item count of key", e.key});
    }
    e.data = here();
    const field f{"value of key", e.key};
    if (e.item == gguf_kind::string)
      for (uint64 i = 0; i < e.count; ++i) take_string(f);
    else
      skip(e.count * row(e.item).bytes, f);  // no wrap: take_count compared the count with the file
    if (e.item == gguf_kind::boolean)
      for (uint64 i = 0; i < e.count; ++i)
        if (e.data[i] > 1)
          refuse(e.count - i, f, text{} << "is " << e.data[i] << ", and a bool is 0 or 1");
    return e;
  }

 private:
  void need(uint64 size, field f) const {
    if (size > left())
      refuse(0, f, text{} << "needs " << size << " bytes and the file has " << left() << " bytes left");
  }

  view<uint8> bytes_;
  std::string_view file_;
  size_t at_ = 0;
};

}  // namespace poot::io
