#pragma once
/// GGUF version 3: keys with typed values, and tensors, read in place from a byte view or a mapped file.

#include <poot/io/gguf_value.hpp>
#include <poot/io/weight_file.hpp>

namespace poot::io {

/// The tensor types of the format by number. Those without an element type of poot are known by name only.
struct gguf_type_row {
  uint32 number;
  std::string_view name;
  bool readable;
  dtype element;
};
inline constexpr gguf_type_row gguf_type_table[] = {
    {0, "F32", true, dtype::f32},        {1, "F16", true, dtype::f16},        {2, "Q4_0", true, dtype::q4_0},
    {3, "Q4_1", true, dtype::q4_1},      {6, "Q5_0", true, dtype::q5_0},      {7, "Q5_1", false, {}},
    {8, "Q8_0", true, dtype::q8_0},      {9, "Q8_1", false, {}},              {10, "Q2_K", false, {}},
    {11, "Q3_K", false, {}},             {12, "Q4_K", true, dtype::q4_k},     {13, "Q5_K", false, {}},
    {14, "Q6_K", true, dtype::q6_k},     {15, "Q8_K", false, {}},             {16, "IQ2_XXS", false, {}},
    {17, "IQ2_XS", false, {}},           {18, "IQ3_XXS", false, {}},          {19, "IQ1_S", false, {}},
    {20, "IQ4_NL", true, dtype::iq4_nl}, {21, "IQ3_S", false, {}},            {22, "IQ2_S", false, {}},
    {23, "IQ4_XS", false, {}},           {24, "I8", true, dtype::i8},         {25, "I16", false, {}},
    {26, "I32", true, dtype::i32},       {27, "I64", false, {}},              {28, "F64", true, dtype::f64},
    {29, "IQ1_M", false, {}},            {30, "BF16", true, dtype::bf16},     {34, "TQ1_0", false, {}},
    {35, "TQ2_0", false, {}},            {39, "MXFP4", true, dtype::mxfp4}};

/// A file in which every count, length, offset and extent was compared with the bytes before it was used. Names, text
/// and tensors are views of those bytes: they live as long as this object (`open`) or the caller's bytes (`parse`).
class gguf : public weight_file<gguf> {
 public:
  /// Sorted by key.
  const std::vector<gguf_entry>& entries() const { return entries_; }
  /// The entry of that key, or null.
  const gguf_entry* find_key(std::string_view key) const {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), key,
                                     [](const gguf_entry& e, std::string_view k) { return e.key < k; });
    return at != entries_.end() && at->key == key ? &*at : nullptr;
  }

  /// The value of a key that holds exactly a T: an integer of fixed width, float, double, bool, std::string_view.
  template <class T>
  T get(std::string_view key) const {
    const gguf_entry& e = entry(key);
    if (e.kind != gguf_kind_of<T>()) fail_kind(e, row(gguf_kind_of<T>()).name);
    T value;
    load_gguf(e.data, value);
    return value;
  }
  /// The same, or `otherwise` where the file has no such key.
  template <class T>
  T get(std::string_view key, T otherwise) const {
    return find_key(key) ? get<T>(key) : otherwise;
  }

  /// The items of an array that holds exactly Ts.
  template <class T>
  std::vector<T> list(std::string_view key) const {
    const gguf_entry& e = entry(key);
    if (e.kind != gguf_kind::array || e.item != gguf_kind_of<T>())
      fail_kind(e, (text("array of ") << row(gguf_kind_of<T>()).name).str());
    std::vector<T> items(e.count);
    const uint8* at = e.data;
    for (uint64 i = 0; i < e.count; ++i) {
      T item;
      at = load_gguf(at, item);
      items[i] = item;
    }
    return items;
  }

  /// An integer of any width, which must lie in [lowest, highest]: writers disagree about widths.
  int64 integer(std::string_view key, int64 lowest, int64 highest) const {
    const gguf_entry& e = entry(key);
    int64 value = 0;
    bool wide = false;
    switch (e.kind) {
      case gguf_kind::u8: value = get<uint8>(key); break;
      case gguf_kind::i8: value = get<int8>(key); break;
      case gguf_kind::u16: value = get<uint16>(key); break;
      case gguf_kind::i16: value = get<int16>(key); break;
      case gguf_kind::u32: value = get<uint32>(key); break;
      case gguf_kind::i32: value = get<int32>(key); break;
      case gguf_kind::i64: value = get<int64>(key); break;
      case gguf_kind::u64:
        value = static_cast<int64>(get<uint64>(key));
        wide = value < 0;
        break;
      default: fail_kind(e, "an integer");
    }
    if (wide || value < lowest || value > highest) {
      text message = text{} << file_ << ": key " << shown(key) << " is ";
      if (wide) message << static_cast<uint64>(value);
      else message << value;
      fail(message << ", not in " << lowest << " to " << highest);
    }
    return value;
  }

  /// An f32 or f64.
  double real(std::string_view key) const {
    const gguf_entry& e = entry(key);
    if (e.kind == gguf_kind::f32) return get<float>(key);
    if (e.kind != gguf_kind::f64) fail_kind(e, "a float");
    return get<double>(key);
  }

 private:
  friend weight_file<gguf>;

  const gguf_entry& entry(std::string_view key) const {
    const gguf_entry* e = find_key(key);
    if (!e) fail(text{} << file_ << ": there is no key " << shown(key));
    return *e;
  }
  [[noreturn]] void fail_kind(const gguf_entry& e, std::string_view wanted) const {
    text message = text{} << file_ << ": key " << shown(e.key) << " is ";
    if (e.kind == gguf_kind::array) message << "array of ";
    fail(message << row(e.item).name << ", not " << wanted);
  }

  void read(view<uint8> bytes) {
    gguf_cursor in(bytes, file_);
    if (in.take<uint32>({"magic"}) != 0x46554747)
      fail(text{} << file_ << ": does not begin with GGUF, so it is no GGUF file");
    const uint32 version = in.take<uint32>({"version"});
    if (version == 0x03000000)
      in.refuse(4, {"version"}, "is 3 in big-endian order, and poot reads little-endian files");
    if (version != 3) in.refuse(4, {"version"}, text{} << "is " << version << ", and poot reads version 3");
    // The least tensor: empty name, rank, type, offset. The least key: empty name, type, one byte.
    const uint64 tensors = in.take_count(8 + 4 + 4 + 8, {"tensor count"});
    const uint64 keys = in.take_count(8 + 4 + 1, {"key count"});
    // Neither list is reserved: it grows with what has been read, not with what was claimed.
    for (uint64 i = 0; i < keys; ++i) entries_.push_back(in.take_entry());
    std::sort(entries_.begin(), entries_.end(), [](const gguf_entry& a, const gguf_entry& b) { return a.key < b.key; });
    for (size_t i = 1; i < entries_.size(); ++i)
      if (entries_[i - 1].key == entries_[i].key)
        fail(text{} << file_ << ": there are two keys " << shown(entries_[i].key));
    const uint32 alignment = get<uint32>("general.alignment", 32);
    if (!std::has_single_bit(alignment))
      fail(text{} << file_ << ": key general.alignment is " << alignment << ", not a power of two");

    std::vector<file_tensor> found;
    for (uint64 i = 0; i < tensors; ++i) found.push_back(take_tensor(in, alignment));
    const uint64 rest = in.at() % alignment;
    const uint64 data = in.at() + (rest ? alignment - rest : 0);
    for (file_tensor& t : found) {
      if (data > bytes.size() || t.offset > bytes.size() - data || t.size > bytes.size() - data - t.offset)
        fail(text{} << file_ << ": tensor " << shown(t.name) << " has " << t.size << " bytes at offset " << t.offset
                    << " of the data, which begins at byte " << data << ", and the file has " << bytes.size()
                    << " bytes");
      t.offset += data;
      t.data = bytes.data() + t.offset;
    }
    tensors_ = tensor_table(std::move(found), file_);
  }

  /// Everything about a tensor but where the data area begins.
  static file_tensor take_tensor(gguf_cursor& in, uint32 alignment) {
    file_tensor t;
    t.name = in.take_string({"tensor name"});
    const uint32 rank = in.take<uint32>({"rank of tensor", t.name});
    if (rank > 4) in.refuse(4, {"rank of tensor", t.name}, text{} << "is " << rank << ", and the format allows 4");
    t.type.rank = static_cast<uint8>(rank);
    const size_t extents_at = in.at();
    for (uint32 axis = rank; axis-- > 0;) {
      const uint64 count = in.take<uint64>({"extent of tensor", t.name});
      if (count >> 63) in.refuse(8, {"extent of tensor", t.name}, text{} << "is " << count << ", beyond 2^63 - 1");
      t.type.extents[axis] = extent(static_cast<int64>(count));
    }
    t.type.element = take_type(in, t.name);
    const int64 block = poot::row(t.type.element).block_elements;
    if (t.type.last().code % block != 0)
      in.refuse(in.at() - extents_at, {"first extent of tensor", t.name},
                text{} << "is " << t.type.last().code << ", not a multiple of the " << block << " elements of a "
                       << name(t.type.element) << " block");
    int64 elements, size;
    if (!count_bytes(t.type, elements, size))
      in.refuse(in.at() - extents_at, {"extents of tensor", t.name}, "multiply to more than 2^63 - 1 bytes");
    t.size = static_cast<size_t>(size);
    t.offset = in.take<uint64>({"offset of tensor", t.name});
    if (t.offset % alignment != 0)
      in.refuse(8, {"offset of tensor", t.name},
                text{} << "is " << t.offset << ", not a multiple of the alignment " << alignment);
    return t;
  }

  static dtype take_type(gguf_cursor& in, std::string_view tensor) {
    const uint32 number = in.take<uint32>({"type of tensor", tensor});
    for (const gguf_type_row& r : gguf_type_table)
      if (r.number == number) {
        if (!r.readable)
          in.refuse(4, {"type of tensor", tensor},
                    text{} << "is " << number << " (" << r.name << "), for which poot has no element type");
        return r.element;
      }
    in.refuse(4, {"type of tensor", tensor},
              text{} << "is " << number << ", which is no type of the format that poot knows");
  }

  std::vector<gguf_entry> entries_;  // by key
};

}  // namespace poot::io
