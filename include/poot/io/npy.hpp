#pragma once
/// NumPy's .npy: one array, read in place or written whole.

#include <poot/io/mapping.hpp>
#include <poot/io/replacement_file.hpp>
#include <poot/io/tensor_table.hpp>

namespace poot::io {

/// Element types with their spelling in a header. NumPy writes one-byte types with '|'.
struct npy_type_row {
  std::string_view descr;
  dtype element;
};
inline constexpr npy_type_row npy_type_table[] = {
    {"<f8", dtype::f64}, {"<f4", dtype::f32}, {"<f2", dtype::f16}, {"<i4", dtype::i32},
    {"<u4", dtype::u32}, {"|i1", dtype::i8},  {"|u1", dtype::u8},  {"|b1", dtype::boolean}};

/// The dict that describes an array: `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`. Only what such a
/// dict can hold is understood; nothing is evaluated.
class npy_header {
 public:
  npy_header(std::string_view chars, size_t offset, std::string_view file)
      : chars_(chars), offset_(offset), file_(file) {}

  tensor_type read() {
    tensor_type type;
    bool fortran = false;
    unsigned seen = 0;
    expect('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      expect(':');
      const unsigned field = key == "descr" ? 1 : key == "fortran_order" ? 2 : key == "shape" ? 4 : 0;
      if (!field) refuse(text("has a key ") << shown(key) << ", which the format does not define");
      if (seen & field) refuse(text("has two keys ") << key);
      seen |= field;
      if (field == 1) type.element = element();
      else if (field == 2) fortran = boolean();
      else shape(type);
      if (take('}')) break;
      expect(',');
    }
    skip_space();
    if (at_ != chars_.size()) refuse("goes on after its }");
    if (seen != 7) refuse("lacks one of descr, fortran_order and shape");
    if (fortran) refuse("says Fortran order, and poot reads arrays whose last axis is contiguous");
    return type;
  }

 private:
  [[noreturn]] void refuse(const text& rule) const {
    fail(text{} << file_ << ": the header at byte " << offset_ + at_ << ' ' << rule);
  }
  void skip_space() {
    while (at_ < chars_.size() && (chars_[at_] == ' ' || chars_[at_] == '\n' || chars_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ == chars_.size() || chars_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) refuse(text("lacks ") << c);
  }
  bool take_word(std::string_view word) {
    skip_space();
    if (chars_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  std::string_view quoted() {
    skip_space();
    const char quote = at_ < chars_.size() ? chars_[at_] : '\0';
    const size_t end = quote == '\'' || quote == '"' ? chars_.find(quote, at_ + 1) : chars_.npos;
    if (end == chars_.npos) refuse("lacks quoted text");
    const std::string_view inside = chars_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return inside;
  }
  bool boolean() {
    if (take_word("True")) return true;
    if (!take_word("False")) refuse("has a fortran_order that is neither True nor False");
    return false;
  }
  dtype element() {
    if (take('[')) refuse("describes a record, and poot reads arrays of one element type");
    const std::string_view descr = quoted();
    for (const npy_type_row& r : npy_type_table)
      if (r.descr == descr) return r.element;
    if (descr.find('V') != descr.npos)
      refuse(text("has descr ") << shown(descr)
                                << ", untyped bytes: npy has no type for bf16, so poot does not guess it");
    if (!descr.empty() && descr[0] == '>')
      refuse(text("has descr ") << shown(descr) << ", big-endian, and poot reads little-endian arrays");
    refuse(text("has descr ") << shown(descr) << ", for which poot has no element type");
  }
  void shape(tensor_type& type) {
    expect('(');
    while (!take(')')) {
      if (type.rank == max_rank) refuse(text("has more than the ") << max_rank << " axes that poot allows");
      skip_space();
      const size_t first = at_;
      int64 count = 0;
      for (; at_ < chars_.size() && chars_[at_] >= '0' && chars_[at_] <= '9'; ++at_)
        if (__builtin_mul_overflow(count, int64{10}, &count) ||
            __builtin_add_overflow(count, chars_[at_] - '0', &count))
          refuse("has an extent beyond 2^63 - 1");
      if (at_ == first) refuse("has an extent that is no number");
      type.extents[type.rank++] = extent(count);
      if (take(')')) {
        if (type.rank == 1) refuse("has a number in brackets for a shape, which Python does not read as a tuple");
        return;
      }
      expect(',');
    }
  }

  std::string_view chars_;
  size_t offset_;  // of the header in the file
  size_t at_ = 0;
  std::string_view file_;
};

/// An array of a file: its bytes stay in the file (`open`) or in the caller's bytes (`parse`), and need not be aligned.
class npy {
 public:
  static npy open(std::string path) {
    mapping map(std::move(path));
    npy array = parse(map.bytes(), map.path());
    array.map_ = std::move(map);
    return array;
  }

  static npy parse(view<uint8> bytes, std::string_view file) {
    constexpr std::string_view magic = "\x93NUMPY";
    if (bytes.size() < 10 || std::string_view(reinterpret_cast<const char*>(bytes.data()), 6) != magic)
      fail(text{} << file << ": does not begin with \\x93NUMPY, a version and a length, so it is no npy file");
    const int version = bytes[6];
    if (version < 1 || version > 3 || bytes[7] != 0)
      fail(text{} << file << ": version at byte 6 is " << version << '.' << bytes[7] << ", and poot reads 1.0 to 3.0");
    const size_t first = version == 1 ? 10 : 12;
    if (bytes.size() < first) fail(text{} << file << ": ends inside the header length at byte 8");
    const size_t length =
        version == 1 ? load_little_endian<uint16>(&bytes[8]) : load_little_endian<uint32>(&bytes[8]);
    if (length > bytes.size() - first)
      fail(text{} << file << ": header length at byte 8 is " << length << ", and the file has " << bytes.size() - first
                  << " bytes left");
    npy array;
    array.type_ = npy_header({reinterpret_cast<const char*>(bytes.data()) + first, length}, first, file).read();
    int64 elements, size;
    if (!count_bytes(array.type_, elements, size)) fail(text{} << file << ": the shape has more than 2^63 - 1 bytes");
    const size_t data = first + length;
    if (static_cast<uint64>(size) != bytes.size() - data)
      fail(text{} << file << ": the shape has " << size << " bytes, and " << bytes.size() - data
                  << " bytes follow the header, from byte " << data);
    array.bytes_ = {bytes.data() + data, bytes.size() - data};
    if (array.type_.element == dtype::boolean)
      for (size_t i = 0; i < array.bytes_.size(); ++i)
        if (array.bytes_[i] > 1)
          fail(text{} << file << ": byte " << data + i << " is " << array.bytes_[i] << ", and a bool is 0 or 1");
    return array;
  }

  /// Extents outermost first, the last axis contiguous.
  const tensor_type& type() const { return type_; }
  view<uint8> bytes() const { return bytes_; }

 private:
  mapping map_;
  tensor_type type_;
  view<uint8> bytes_;
};

/// The bytes before an array's elements, a multiple of 64 as NumPy writes them.
inline text npy_prefix(const tensor_type& type, std::string_view file) {
  std::string_view descr;
  for (const npy_type_row& r : npy_type_table)
    if (r.element == type.element) descr = r.descr;
  if (type.element == dtype::bf16) fail(text{} << file << ": npy has no type for bf16; cast to f32 before writing");
  if (descr.empty()) fail(text{} << file << ": npy has no type for " << name(type.element));
  text dict = text("{'descr': '") << descr << "', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < type.rank; ++i) {
    if (type.extents[i].is_dynamic()) fail(text{} << file << ": an array to write has a dynamic extent on axis " << i);
    dict << type.extents[i].code << (type.rank == 1 ? "," : i + 1 < type.rank ? ", " : "");
  }
  dict << "), }";
  while ((10 + dict.size() + 1) % 64 != 0) dict << ' ';
  dict << '\n';
  const auto low = static_cast<char>(dict.size() & 0xff), high = static_cast<char>(dict.size() >> 8);
  return text("\x93NUMPY") << '\1' << '\0' << low << high << dict;
}

/// Writes an array; a file of that name is replaced by the whole new one, or stays as it was.
inline void write_npy(std::string path, const tensor_type& type, view<uint8> bytes) {
  const text prefix = npy_prefix(type, path);
  int64 elements, size;
  if (!count_bytes(type, elements, size) || static_cast<uint64>(size) != bytes.size())
    fail(text{} << path << ": an array to write has " << bytes.size() << " bytes, not those of its extents");
  replacement_file file(std::move(path));
  file.write({reinterpret_cast<const uint8*>(prefix.str().data()), prefix.size()});
  file.write(bytes);
  file.commit();
}

}  // namespace poot::io
