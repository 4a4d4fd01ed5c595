#pragma once
/// The tensors of a weight file: found by name, each inside the file, none on top of another.

#include <poot/core/extent.hpp>
#include <poot/io/words.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace poot::io {

/// A tensor of a file. `data` points into the file's bytes and need not be aligned for its element type: a format may
/// put a tensor at any byte.
struct file_tensor {
  std::string name;
  tensor_type type;  ///< extents outermost first
  size_t offset = 0;  ///< of the first byte, in the file
  size_t size = 0;  ///< in bytes
  const uint8* data = nullptr;

  view<uint8> bytes() const { return {data, size}; }
};

/// The elements of `type`, and their bytes, if neither these nor any product of some of the extents passes 2^63 - 1.
/// (So a zero extent hides nothing: strides computed from the others do not wrap either.)
inline bool count_bytes(const tensor_type& type, int64& elements, int64& bytes) {
  int64 product = 1;
  bool empty = false;
  for (int i = 0; i < type.rank; ++i) {
    const int64 count = type.extents[i].code;
    if (count < 0) return false;
    if (count == 0) empty = true;
    else if (__builtin_mul_overflow(product, count, &product)) return false;
  }
  const dtype_row& element = row(type.element);
  const int64 blocks = product / element.block_elements + (product % element.block_elements != 0);
  int64 widest;
  if (__builtin_mul_overflow(blocks, int64{element.block_bytes}, &widest)) return false;
  elements = empty ? 0 : product;
  bytes = byte_size(type.element, elements);
  return true;
}

/// Tensors in the order of the file, with a look-up by name. Building it takes n log n comparisons whatever the names.
class tensor_table {
 public:
  tensor_table() = default;

  /// Refuses two tensors of one name, and two that share a byte: the tensors of a file are never more bytes than it.
  tensor_table(std::vector<file_tensor> tensors, std::string_view file) : tensors_(std::move(tensors)) {
    const size_t count = tensors_.size();
    order_.resize(count);
    for (size_t i = 0; i < count; ++i) order_[i] = i;
    std::sort(order_.begin(), order_.end(),
              [&](size_t a, size_t b) { return tensors_[a].offset < tensors_[b].offset; });
    const file_tensor* before = nullptr;
    for (size_t i : order_) {
      const file_tensor& t = tensors_[i];
      if (t.size == 0) continue;
      if (before && t.offset - before->offset < before->size)
        fail(text{} << file << ": tensor " << shown(t.name) << " begins at byte " << t.offset << ", inside tensor "
                    << shown(before->name) << " at byte " << before->offset);
      before = &t;
    }
    std::sort(order_.begin(), order_.end(), [&](size_t a, size_t b) { return tensors_[a].name < tensors_[b].name; });
    for (size_t i = 1; i < count; ++i)
      if (tensors_[order_[i - 1]].name == tensors_[order_[i]].name)
        fail(text{} << file << ": there are two tensors " << shown(tensors_[order_[i]].name));
  }

  /// The tensor of that name, or null.
  const file_tensor* find(std::string_view name) const {
    const auto at = std::lower_bound(order_.begin(), order_.end(), name,
                                     [&](size_t i, std::string_view n) { return tensors_[i].name < n; });
    return at != order_.end() && tensors_[*at].name == name ? &tensors_[*at] : nullptr;
  }

  const std::vector<file_tensor>& all() const { return tensors_; }

 private:
  std::vector<file_tensor> tensors_;
  std::vector<size_t> order_;  // indices of tensors_, by name
};

}  // namespace poot::io
