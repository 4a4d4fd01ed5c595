#pragma once
/// The sections and symbols of an ELF file in memory: what compilers of devices make. 64-bit, little-endian.
/// (Tool Interface Standard, "Executable and Linking Format", with the 64-bit layout of the System V ABI.)
///
///     const run::elf file(code);
///     if (const auto s = file.section(".nv.info")) …

#include <poot/core/error.hpp>
#include <poot/core/vec.hpp>

#include <cstring>
#include <optional>

namespace poot::run {

class elf {
 public:
  struct section_row {
    std::string_view name;
    uint32 type = 0;
    uint64 address = 0;
    uint64 size = 0;     ///< bytes; those of a section without contents count too
    view<uint8> bytes;   ///< empty where the file holds none of it
  };
  struct symbol {
    std::string_view name;
    uint32 index = 0;    ///< in its table
    uint64 value = 0;
    uint64 size = 0;
  };

  /// Throws `error` where `bytes` are no such file, or where a table lies outside of them.
  explicit elf(view<uint8> bytes) : bytes_(bytes) {
    constexpr uint8 magic[] = {0x7f, 'E', 'L', 'F', 2, 1};  // of 64 bits, little-endian
    if (bytes.size() < 64 || std::memcmp(bytes.data(), magic, sizeof magic) != 0) fail("elf: this is no 64-bit little-endian ELF file");
    table_ = number<uint64>(40);
    count_ = number<uint16>(60);
    const uint16 each = number<uint16>(58), names = number<uint16>(62);
    if (each != row_bytes || names >= count_ || table_ > bytes.size() || (bytes.size() - table_) / row_bytes < count_)
      fail("elf: the table of sections lies outside of the file");
    names_ = contents(names);
  }

  uint32 sections() const { return count_; }
  section_row section(uint32 i) const {
    const uint64 at = table_ + uint64{i} * row_bytes;
    return {chars(names_, number<uint32>(at)), number<uint32>(at + 4), number<uint64>(at + 16), number<uint64>(at + 32), contents(i)};
  }
  /// The section of that name, if there is one.
  std::optional<section_row> section(std::string_view name) const {
    for (uint32 i = 0; i < count_; ++i)
      if (const section_row s = section(i); s.name == name) return s;
    return {};
  }

  /// The symbol of that name in the table of all symbols, if there is one.
  std::optional<symbol> find(std::string_view name) const {
    constexpr uint32 symbols = 2;  // SHT_SYMTAB
    for (uint32 i = 0; i < count_; ++i) {
      const uint64 at = table_ + uint64{i} * row_bytes;
      if (number<uint32>(at + 4) != symbols || number<uint32>(at + 40) >= count_) continue;
      const view<uint8> all = contents(i), named = contents(number<uint32>(at + 40));
      for (uint64 s = 0; s + symbol_bytes <= all.size(); s += symbol_bytes)
        if (chars(named, read<uint32>(all, s)) == name)
          return symbol{name, static_cast<uint32>(s / symbol_bytes), read<uint64>(all, s + 8), read<uint64>(all, s + 16)};
    }
    return {};
  }

  /// The number at byte `at` of `from`. Throws `error` where it is cut off.
  template <class Int>
  static Int read(view<uint8> from, uint64 at) {
    if (at > from.size() || from.size() - at < sizeof(Int)) fail("elf: a table is cut off");
    Int value;
    std::memcpy(&value, from.data() + at, sizeof value);
    return value;
  }

 private:
  static constexpr uint64 row_bytes = 64, symbol_bytes = 24;

  template <class Int>
  Int number(uint64 at) const { return read<Int>(bytes_, at); }

  view<uint8> contents(uint32 i) const {
    constexpr uint32 without = 8;  // SHT_NOBITS
    const uint64 at = table_ + uint64{i} * row_bytes, from = number<uint64>(at + 24), size = number<uint64>(at + 32);
    if (number<uint32>(at + 4) == without) return {};
    if (from > bytes_.size() || bytes_.size() - from < size) fail("elf: a section lies outside of the file");
    return bytes_.subview(from, size);
  }
  static std::string_view chars(view<uint8> names, uint32 at) {
    if (at >= names.size()) fail("elf: a name lies outside of its table");
    const char* first = reinterpret_cast<const char*>(names.data()) + at;
    return {first, ::strnlen(first, names.size() - at)};
  }

  view<uint8> bytes_, names_;
  uint64 table_ = 0;
  uint32 count_ = 0;
};

}  // namespace poot::run
