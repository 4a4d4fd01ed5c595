#pragma once
/// Equality of graphs.

#include <poot/ir/print.hpp>

namespace poot::ir {

namespace detail {
/// Equal attributes; those of a contraction may leave out `transpose_b`.
constexpr bool equal_attributes(op o, view<int64> a, view<int64> b) {
  if (o == op::matmul || o == op::packed_contraction) return (!a.empty() && a[0]) == (!b.empty() && b[0]);
  return a == b;
}
}  // namespace detail

/// Whether two graphs have the same equations, names and outputs in the same order. Constants of rank 0 that are no
/// outputs count where they are read, however often they are kept; dynamic extents are equal by name and bound.
constexpr bool structurally_equal(const graph_view& a, const graph_view& b) {
  if (a.chars(a.name) != b.chars(b.name) || a.outputs.size() != b.outputs.size()) return false;
  const vec<uint8> outputs_a = mark_outputs(a), outputs_b = mark_outputs(b);
  vec<uint32> partner(a.size(), 0);  // in b, of each value of a
  const auto same_value = [&](uint32 x, uint32 y) {
    const bool inlined = is_inlined(a, x, outputs_a);
    if (inlined != is_inlined(b, y, outputs_b)) return false;
    return inlined ? a.type(x) == b.type(y) && a.attrs(x) == b.attrs(y) : partner[x] == y;
  };
  uint32 j = 0;
  for (uint32 i = 0;; ++i, ++j) {
    while (i < a.size() && is_inlined(a, i, outputs_a)) ++i;
    while (j < b.size() && is_inlined(b, j, outputs_b)) ++j;
    if (i == a.size() || j == b.size()) {
      if (i != a.size() || j != b.size()) return false;
      break;
    }
    partner[i] = j;
    const eqn &x = a[i], &y = b[j];
    if (x.custom != y.custom && (!x.custom || !y.custom || x.custom->name != y.custom->name)) return false;
    if (x.kind != y.kind || !(x.sum == y.sum) || !(x.type == y.type) || x.operands.count != y.operands.count) return false;
    if (a.name_of(i) != b.name_of(j)) return false;
    if (!detail::equal_attributes(x.kind, a.attrs(x), b.attrs(y))) return false;
    for (uint32 k = 0; k < x.operands.count; ++k)
      if (!same_value(a.operands(x)[k], b.operands(y)[k])) return false;
  }
  for (size_t k = 0; k < a.outputs.size(); ++k)
    if (a.chars(a.outputs[k].name) != b.chars(b.outputs[k].name) || partner[a.outputs[k].value] != b.outputs[k].value) return false;
  return true;
}

}  // namespace poot::ir
