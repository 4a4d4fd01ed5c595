#pragma once
/// Tables that a device holds for a program: constants and indices, made by the host.

#include <poot/core/rounding.hpp>
#include <poot/ir/graph.hpp>

#include <cstring>

namespace poot::run {

/// Stores the low bits of `bits` as element `i` of an array of `t`.
inline void store_bits(dtype t, uint64 bits, void* to, int64 i) {
  const int64 bytes = row(t).block_bytes;
  std::memcpy(static_cast<char*>(to) + i * bytes, &bits, static_cast<size_t>(bytes));  // little-endian
}

inline void fill_constant(const tensor_type& t, view<int64> bits, void* to) {
  for (int64 i = 0; i < t.element_count(); ++i)
    store_bits(t.element, static_cast<uint64>(bits[bits.size() == 1 ? 0 : static_cast<size_t>(i)]), to, i);
}

/// The index along `axis`; floats round it once, integers wrap.
inline void fill_iota(const tensor_type& t, int axis, void* to) {
  int64 run = 1;
  for (int i = axis + 1; i < t.rank; ++i) run *= t.extents[i].code;
  for (int64 i = 0; i < t.element_count(); ++i) {
    const auto index = static_cast<uint64>(i / run % t.extents[axis].code);
    store_bits(t.element, is_float(t.element) ? round_bits(format_of(t.element), false, index, 0) : index, to, i);
  }
}

/// Fills the table of equation `id`, of concrete type `t`. What launches make is left alone.
inline void fill_table(const ir::graph_view& g, uint32 id, const tensor_type& t, void* to) {
  if (g[id].kind == ir::op::constant) fill_constant(t, g.attrs(id), to);
  else if (g[id].kind == ir::op::iota) fill_iota(t, static_cast<int>(g.attrs(id)[0]), to);
}

}  // namespace poot::run
