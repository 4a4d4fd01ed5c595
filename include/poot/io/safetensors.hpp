#pragma once
/// Safetensors: tensors and metadata, read in place from a byte view or a mapped file.
///
/// This header includes nlohmann/json; nothing else of poot does.

#include <poot/io/weight_file.hpp>

#include <nlohmann/json.hpp>

namespace poot::io {

struct safetensors_type_row {
  std::string_view name;
  dtype element;
};
inline constexpr safetensors_type_row safetensors_type_table[] = {
    {"F64", dtype::f64}, {"F32", dtype::f32}, {"F16", dtype::f16}, {"BF16", dtype::bf16},  {"I32", dtype::i32},
    {"U32", dtype::u32}, {"I8", dtype::i8},   {"U8", dtype::u8},   {"BOOL", dtype::boolean}};

/// Takes the header's JSON event by event, so that nothing is built from it but tensors: a key that comes twice is
/// seen, depth is bounded, and memory follows what was read.
class safetensors_header {
 public:
  using json = nlohmann::json;

  safetensors_header(std::string_view file, size_t data_size) : file_(file), data_size_(data_size) {}

  std::vector<file_tensor> tensors;  ///< offsets from the data area
  std::vector<std::pair<std::string, std::string>> metadata;

  bool start_object(size_t) {
    if (depth_ == 2) misplaced("an object");
    ++depth_;
    return true;
  }
  bool end_object() {
    if (depth_ == 2 && !in_metadata_) finish_tensor();
    --depth_;
    return true;
  }
  bool key(std::string& name) {
    if (depth_ == 1) {
      entry_ = std::move(name);
      in_metadata_ = entry_ == "__metadata__";
      if (in_metadata_ && std::exchange(had_metadata_, true))
        fail(text{} << file_ << ": __metadata__ stands twice in the header");
      tensor_ = {};
      seen_ = 0;
      offsets_ = 0;
    } else if (in_metadata_) {
      metadata.emplace_back(std::move(name), std::string());
    } else {
      constexpr std::string_view names[] = {"dtype", "shape", "data_offsets"};
      field_ = 0;
      while (field_ < 3 && names[field_] != name) ++field_;
      if (field_ == 3) refuse(text{} << "has a field " << shown(name) << ", which the format does not define");
      if (seen_ >> field_ & 1) refuse(text{} << "has two fields " << name);
      seen_ |= 1u << field_;
    }
    return true;
  }
  bool string(std::string& value) {
    if (depth_ == 2 && in_metadata_) {
      metadata.back().second = std::move(value);
      return true;
    }
    if (depth_ != 2 || list_ != list::none || field_ != 0) misplaced("a string");
    for (const safetensors_type_row& r : safetensors_type_table)
      if (r.name == value) {
        tensor_.type.element = r.element;
        return true;
      }
    refuse(text{} << "has dtype " << shown(value) << ", for which poot has no element type");
  }
  bool start_array(size_t) {
    if (depth_ != 2 || in_metadata_ || list_ != list::none || field_ == 0) misplaced("an array");
    list_ = field_ == 1 ? list::shape : list::offsets;
    return true;
  }
  bool end_array() {
    if (list_ == list::offsets && offsets_ != 2) refuse("has data_offsets that are not two numbers");
    list_ = list::none;
    return true;
  }
  bool number_unsigned(uint64 value) {
    if (list_ == list::shape) {
      if (tensor_.type.rank == max_rank) refuse(text{} << "has more than the " << max_rank << " axes that poot allows");
      if (value >> 63) refuse(text{} << "has an extent " << value << ", beyond 2^63 - 1");
      tensor_.type.extents[tensor_.type.rank++] = extent(static_cast<int64>(value));
    } else if (list_ == list::offsets) {
      if (offsets_ == 2) refuse("has data_offsets that are not two numbers");
      range_[offsets_++] = value;
    } else {
      misplaced("a number");
    }
    return true;
  }
  bool number_integer(int64) { misplaced("a negative number"); }
  bool number_float(double, const std::string& digits) { misplaced((text("the number ") << shown(digits)).str()); }
  bool boolean(bool) { misplaced("a boolean"); }
  bool null() { misplaced("null"); }
  bool binary(json::binary_t&) { misplaced("binary data"); }
  /// The parser counts bytes from 1; its own message stays out, since it quotes the file.
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) {
    fail(text{} << file_ << ": the header is no JSON that poot reads, at byte " << 8 + (position ? position - 1 : 0));
  }

 private:
  enum class list : uint8 { none, shape, offsets };

  [[noreturn]] void refuse(const text& rule) const {
    fail(text{} << file_ << ": tensor " << shown(entry_) << ' ' << rule);
  }
  [[noreturn]] void misplaced(std::string_view what) const {
    if (depth_ == 0) fail(text{} << file_ << ": the header is " << what << ", not an object of tensors");
    if (in_metadata_) fail(text{} << file_ << ": __metadata__ holds " << what << ", and only text belongs there");
    refuse(text{} << "has " << what << " where the format has none");
  }

  void finish_tensor() {
    if (seen_ != 7) refuse("lacks one of dtype, shape and data_offsets");
    const uint64 begin = range_[0], end = range_[1];
    if (begin > end) refuse(text{} << "has data_offsets that end at " << end << ", before they begin at " << begin);
    if (end > data_size_)
      refuse(text{} << "has data_offsets up to " << end << ", and the file has " << data_size_ << " bytes of data");
    int64 elements, size;
    if (!count_bytes(tensor_.type, elements, size)) refuse("has a shape of more than 2^63 - 1 bytes");
    if (static_cast<uint64>(size) != end - begin)
      refuse(text{} << "has a shape of " << size << " bytes and data_offsets of " << end - begin << " bytes");
    tensor_.name = entry_;
    tensor_.offset = begin;
    tensor_.size = end - begin;
    tensors.push_back(std::move(tensor_));
  }

  std::string_view file_;
  size_t data_size_;
  int depth_ = 0;
  std::string entry_;
  bool in_metadata_ = false, had_metadata_ = false;
  size_t field_ = 0;  // of the tensor: dtype, shape, data_offsets
  unsigned seen_ = 0;  // bit per field
  list list_ = list::none;
  file_tensor tensor_;
  uint64 range_[2] = {};
  int offsets_ = 0;
};

/// A file whose header was checked whole: every tensor lies inside the data, none overlap, and no byte of the data
/// belongs to no tensor. Tensors are views of the bytes, as those of `gguf`; bytes of BOOL tensors are not looked at.
class safetensors : public weight_file<safetensors> {
 public:
  /// The text pairs of `__metadata__`, sorted.
  const std::vector<std::pair<std::string, std::string>>& metadata() const { return metadata_; }

 private:
  friend weight_file<safetensors>;

  static constexpr uint64 largest_header = 100'000'000;  // the format's own limit, in bytes

  void read(view<uint8> bytes) {
    if (bytes.size() < 8) fail(text{} << file_ << ": has " << bytes.size() << " bytes, fewer than the header's length");
    const uint64 length = load_little_endian<uint64>(bytes.data());
    if (length > largest_header || length > bytes.size() - 8)
      fail(text{} << file_ << ": header length at byte 0 is " << length << ", and the file has " << bytes.size() - 8
                  << " bytes left (the format allows " << largest_header << ')');
    const uint8* const first = bytes.data() + 8;
    if (length == 0 || *first != '{') fail(text{} << file_ << ": the header at byte 8 does not begin with {");
    const size_t data = 8 + length, data_size = bytes.size() - data;
    safetensors_header header(file_, data_size);
    nlohmann::json::sax_parse(first, first + length, &header);
    uint64 used = 0;
    for (file_tensor& t : header.tensors) {
      used += t.size;  // wraps only when tensors overlap, which the table refuses
      t.offset += data;
      t.data = bytes.data() + t.offset;
    }
    tensors_ = tensor_table(std::move(header.tensors), file_);
    if (used != data_size)
      fail(text{} << file_ << ": tensors use " << used << " of " << data_size
                  << " bytes of data, and the format allows no holes");
    metadata_ = std::move(header.metadata);
    std::sort(metadata_.begin(), metadata_.end());
    for (size_t i = 1; i < metadata_.size(); ++i)
      if (metadata_[i - 1].first == metadata_[i].first)
        fail(text{} << file_ << ": __metadata__ has two entries " << shown(metadata_[i].first));
  }

  std::vector<std::pair<std::string, std::string>> metadata_;
};

}  // namespace poot::io
