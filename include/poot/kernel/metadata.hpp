#pragma once
/// The words of a launch's metadata, from the extents of a run.

#include <poot/kernel/kernel.hpp>
#include <poot/plan/program.hpp>

namespace poot::kernel {

namespace detail {

/// Elements from the start of the storage that `value` lies in to its first.
template <class TypeOf>
constexpr int64 window_offset(const plan::program_view& p, uint32 value, TypeOf type_of) {
  int64 offset = 0;
  for (uint32 at = value;; at = p.placements[at].index) {
    const plan::placement& where = p.placements[at];
    if (where.where != plan::place::view && where.where != plan::place::window) return offset;
    if (where.where == plan::place::view) continue;
    const tensor_type t = type_of(where.index);
    const view<int64> start = p.graph.attrs(at);
    int64 step = 1;
    for (int i = t.rank; i-- > 0; step *= t.extents[i].code) offset += start[static_cast<size_t>(i)] * step;
  }
}

}  // namespace detail

/// `type_of(value)` gives the type of a value of `p` with its dynamic extents counted.
template <class TypeOf>
constexpr uint32 evaluate(const meta_word& m, const plan::program_view& p, TypeOf type_of) {
  int64 result = m.fixed;
  if (m.kind == meta_word::what::offset) {
    result = detail::window_offset(p, m.value, type_of);
  } else if (m.kind != meta_word::what::fixed) {
    tensor_type t = type_of(m.value);
    if (m.kind == meta_word::what::tiles) {
      extent &rows = t.extents[t.rank - 2], &columns = t.extents[t.rank - 1];
      rows = (rows.code + m.fixed - 1) / m.fixed;
      columns = (columns.code + m.divide - 1) / m.divide;
    }
    result = 1;
    for (int i = m.first; i < m.last && result >= 0; ++i)
      if (__builtin_mul_overflow(result, t.extents[i].code, &result)) result = -1;
    if (m.kind == meta_word::what::bytes && result > 0) result = byte_size(t.element, result);
    if (m.kind != meta_word::what::tiles && result > 0) result = (result + m.divide - 1) / m.divide;
  }
  if (result < -0x80000000ll || result > 0xffffffffll || (result < 0 && m.kind != meta_word::what::fixed))
    fail(text{} << "launch: equation " << m.value << " has more elements than a device index of 32 bits counts");
  return static_cast<uint32>(result);
}

}  // namespace poot::kernel
