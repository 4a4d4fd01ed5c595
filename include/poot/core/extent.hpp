#pragma once
/// Extents, and the type of a tensor: element type and extents.

#include <poot/core/dtype.hpp>
#include <poot/core/hash.hpp>
#include <poot/core/text.hpp>

namespace poot {

inline constexpr int max_rank = 6;

/// The number of elements along an axis: a count, or a named dynamic extent with an upper bound. One word, so that
/// equality is equality of words and a type that spells extents stays short. The name itself is kept by the graph.
struct extent {
  int64 code = 1;

  constexpr extent() = default;
  /// A count below 0 is no extent, and is refused where a tensor is declared; below -2^31 it stands as that, or it would be
  /// the code of a dynamic extent.
  constexpr extent(int64 count) : code(count < -0x80000000ll ? -0x80000000ll : count) {}
  static constexpr extent dynamic(std::string_view name, int64 bound) {
    extent e;
    e.code = static_cast<int64>(uint64{1} << 63 | key_of(name) << 32 | static_cast<uint64>(bound));
    return e;
  }
  static constexpr extent from_code(int64 code) {
    extent e;
    e.code = code;
    return e;
  }
  static constexpr uint64 key_of(std::string_view name) { return hash_text(name) & 0x7fffffffu; }

  constexpr bool is_dynamic() const { return code < 0; }
  /// A count below zero, which is no extent: the bound of a dynamic one has 31 bits.
  constexpr bool is_negative() const { return code < 0 && (code >> 31 & 1); }
  /// The count, or the most it can be.
  constexpr int64 bound() const { return code < 0 ? code & 0xffffffff : code; }
  /// Identifies the name of a dynamic extent.
  constexpr uint64 key() const { return (static_cast<uint64>(code) >> 32) & 0x7fffffffu; }
  constexpr bool operator==(const extent&) const = default;
};

/// Element type and extents; the last axis is contiguous.
struct tensor_type {
  dtype element = dtype::f32;
  uint8 rank = 0;
  extent extents[max_rank]{};

  constexpr extent operator[](int axis) const { return extents[axis]; }
  constexpr extent last() const { return rank ? extents[rank - 1] : extent(1); }
  constexpr bool is_dynamic() const {
    for (int i = 0; i < rank; ++i)
      if (extents[i].is_dynamic()) return true;
    return false;
  }
  /// Elements when every dynamic extent stands at its bound.
  constexpr int64 element_count() const {
    int64 count = 1;
    for (int i = 0; i < rank; ++i) count *= extents[i].bound();
    return count;
  }
  /// Bytes when every dynamic extent stands at its bound.
  constexpr int64 bytes() const { return byte_size(element, element_count()); }
  constexpr bool operator==(const tensor_type& other) const {
    if (element != other.element || rank != other.rank) return false;
    for (int i = 0; i < rank; ++i)
      if (extents[i].code != other.extents[i].code) return false;
    return true;
  }
  constexpr bool same_extents(const tensor_type& other) const {
    if (rank != other.rank) return false;
    for (int i = 0; i < rank; ++i)
      if (extents[i].code != other.extents[i].code) return false;
    return true;
  }
  constexpr tensor_type with(dtype t) const {
    tensor_type r = *this;
    r.element = t;
    return r;
  }
  constexpr tensor_type with(int axis, extent e) const {
    tensor_type r = *this;
    r.extents[axis] = e;
    return r;
  }
};

/// The type of `element` with extents listed outermost first.
template <class... Extents>
constexpr tensor_type type_of(dtype element, Extents... extents) {
  tensor_type t;
  t.element = element;
  ((t.extents[t.rank++] = extent(extents)), ...);
  return t;
}

}  // namespace poot
