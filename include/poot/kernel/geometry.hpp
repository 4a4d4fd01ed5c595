#pragma once
/// Extents, strides and positions as words of a launch. Only which extents are 1 is part of a kernel; the others are read
/// from its metadata, so that launches of other extents share it.

#include <poot/kernel/values.hpp>
#include <poot/plan/program.hpp>

namespace poot::kernel {

using plan::launch;
using plan::program_view;

/// An element of a space: its number in row-major order, and its index along each axis.
struct position {
  word flat{};
  word at[max_rank]{};
};

class geometry {
 public:
  constexpr geometry(builder& k, const program_view& p) : k_(k), p_(p) {}

  constexpr const tensor_type& type(uint32 value) const { return p_.graph.type(value); }

  /// The product of the extents of axes [first, last) of `value`, rounded up to a whole number of `divide`.
  constexpr word product(uint32 value, int first, int last, uint32 divide = 1) const {
    const tensor_type& t = type(value);
    bool ones = true;
    for (int i = first; i < last; ++i) ones = ones && t.extents[i] == extent(1);
    if (ones) return 1u;
    return k_.meta({meta_word::what::product, value, static_cast<uint8>(first), static_cast<uint8>(last), divide, 0});
  }
  constexpr word extent_of(uint32 value, int axis) const { return product(value, axis, axis + 1); }
  constexpr word count(uint32 value) const { return product(value, 0, type(value).rank); }
  /// Elements from one index along `axis` to the next, in memory.
  constexpr word stride(uint32 value, int axis) const {
    if (!is_window(value) && is_strided(value)) return stride_of_view(value, axis);
    const uint32 laid = layout_of(value);
    return product(laid, axis + 1, type(laid).rank);
  }
  /// The first element of a window within its storage.
  constexpr word offset(uint32 value) const {
    for (uint32 at = value; ; at = p_.placements[at].index) {
      if (p_.placements[at].where == plan::place::window) return k_.meta({meta_word::what::offset, value, 0, 0, 1, 0});
      if (p_.placements[at].where != plan::place::view) return 0u;
    }
  }
  constexpr bool is_window(uint32 value) const { return p_.placements[value].where == plan::place::window; }
  /// A window, or one under other axes of 1: its elements do not lie one behind the other.
  constexpr bool is_strided(uint32 value) const {
    return is_window(value) || (p_.placements[value].where == plan::place::view && is_window(p_.placements[value].index));
  }
  constexpr word fixed(int64 n) const { return k_.meta({meta_word::what::fixed, 0, 0, 0, 1, n}); }

  /// The position of element `flat` of a space with the extents of `value`.
  constexpr position locate(uint32 value, word flat) const { return locate(value, flat, type(value).rank); }
  /// The position of row `row` of such a space; its index along the last axis and its number are left open.
  constexpr position locate_row(uint32 value, word row) const { return locate(value, row, type(value).rank - 1); }

  /// Where `value` holds the element that belongs to a position in a space of `space`'s extents, aligned at the last axis.
  constexpr word index(uint32 value, const tensor_type& space, const position& where) const {
    const tensor_type& t = type(value);
    if (!is_strided(value) && t.same_extents(space)) return where.flat + offset(value);
    word at = offset(value);
    for (int i = 0; i < t.rank; ++i)
      if (t.extents[i] != extent(1)) at = at + where.at[i + space.rank - t.rank] * stride(value, i);
    return at;
  }

 private:
  constexpr position locate(uint32 value, word flat, int rank) const {
    position p;
    p.flat = flat;
    word rest = flat;
    for (int i = rank - 1; i > 0; --i) {
      const word e = extent_of(value, i);
      p.at[i] = rest % e;
      rest = rest / e;
    }
    if (rank > 0) p.at[0] = rest;
    return p;
  }
  /// Of a window under other axes of 1: the stride of the axis that it stands for.
  constexpr word stride_of_view(uint32 value, int axis) const {
    const tensor_type &t = type(value), &source = type(p_.placements[value].index);
    int from = -1;
    for (int i = 0; i <= axis; ++i) {
      if (t.extents[i] == extent(1)) continue;
      do ++from;
      while (source.extents[from] == extent(1));
    }
    return t.extents[axis] == extent(1) ? word(0u) : stride(p_.placements[value].index, from);
  }
  /// The value whose extents give the strides of `value`: the one that a window is cut from.
  constexpr uint32 layout_of(uint32 value) const { return is_window(value) ? p_.placements[value].index : value; }

  builder& k_;
  const program_view& p_;
};

}  // namespace poot::kernel
