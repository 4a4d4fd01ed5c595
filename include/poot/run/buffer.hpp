#pragma once
/// Memory that a caller lends to a program.

#include <poot/core/extent.hpp>

namespace poot::run {

/// A dense row-major array: `data` and its concrete type (every extent a count).
struct buffer {
  void* data = nullptr;
  tensor_type type{};
  bool is_writable = true;  ///< whether a program may write it: results, and states that it updates
};

/// An array of `element` with these extents, read by a program.
template <class... Extents>
buffer read_only(const void* data, dtype element, Extents... extents) {
  return {const_cast<void*>(data), type_of(element, static_cast<int64>(extents)...), false};
}
/// An array of `element` with these extents, written by a program.
template <class... Extents>
buffer writable(void* data, dtype element, Extents... extents) {
  return {data, type_of(element, static_cast<int64>(extents)...)};
}

}  // namespace poot::run
