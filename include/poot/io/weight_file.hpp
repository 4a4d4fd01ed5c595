#pragma once
/// What every format of weight files offers: its bytes mapped or lent, and its tensors by name.

#include <poot/io/mapping.hpp>
#include <poot/io/tensor_table.hpp>

namespace poot::io {

/// `Format` derives from this and reads its bytes in `read(bytes)`, which fills `tensors_` or throws `error`.
template <class Format>
class weight_file {
 public:
  /// Maps the file and reads what describes its tensors.
  static Format open(std::string path) {
    mapping map(std::move(path));
    Format file = parse(map.bytes(), map.path());
    file.map_ = std::move(map);
    return file;
  }

  /// Reads bytes that stay where they are; `file` names them in errors.
  static Format parse(view<uint8> bytes, std::string_view file) {
    Format result;
    result.file_ = file;
    result.read(bytes);
    return result;
  }

  const std::string& file() const { return file_; }

  /// In the order of the file; extents outermost first.
  const std::vector<file_tensor>& tensors() const { return tensors_.all(); }
  /// The tensor of that name, or null.
  const file_tensor* find(std::string_view name) const { return tensors_.find(name); }
  const file_tensor& tensor(std::string_view name) const {
    const file_tensor* t = find(name);
    if (!t) fail(text{} << file_ << ": there is no tensor " << shown(name));
    return *t;
  }
  /// Gives a mapped tensor's pages back to the system; does nothing for bytes of the caller.
  void drop(const file_tensor& t) const {
    if (map_.bytes().data()) map_.drop(t.offset, t.size);
  }

 protected:
  mapping map_;
  std::string file_;
  tensor_table tensors_;
};

}  // namespace poot::io
