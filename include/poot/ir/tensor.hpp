#pragma once
/// A tensor's values as bit patterns: what the interpreter reads and returns.

#include <poot/core/extent.hpp>
#include <poot/core/vec.hpp>

namespace poot::ir {

/// Words in the bits of a tensor of this type: one per element, of packed types one per byte.
constexpr int64 word_count(const tensor_type& t) {
  return is_packed(t.element) ? byte_size(t.element, t.element_count()) : t.element_count();
}

/// Row-major; every extent of `type` is a count. Bits above the width of the element type are zero.
struct tensor {
  tensor_type type{};
  vec<uint64> bits{};

  constexpr tensor() = default;
  /// All bits zero.
  constexpr explicit tensor(const tensor_type& t) : type(t), bits(static_cast<size_t>(word_count(t))) {}
  constexpr tensor(const tensor_type& t, vec<uint64> words) : type(t), bits(std::move(words)) {}
  constexpr bool operator==(const tensor&) const = default;
};

/// A value for, or of, a leaf or output. The name is a view of the graph's characters, or of the caller's.
struct named_tensor {
  std::string_view name{};
  tensor value{};
};

/// The value of that name, or null.
constexpr const tensor* find(view<named_tensor> values, std::string_view name) {
  for (const named_tensor& v : values)
    if (v.name == name) return &v.value;
  return nullptr;
}

}  // namespace poot::ir
