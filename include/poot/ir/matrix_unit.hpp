#pragma once
/// Which products a matrix unit computes (a tensor core, a matrix core, a cooperative matrix of 16 × 16 × 16): tiles of
/// results, 16 products of each at once, added in f32 in an order of the hardware's own.

#include <poot/core/target.hpp>
#include <poot/ir/graph.hpp>

namespace poot::ir {

/// What a workgroup computes of a product: the results of its subgroups, each 32 × 32, from what it stages of both operands
/// in shared memory.
struct matrix_unit_tile {
  static constexpr uint32 side = 16;               ///< of what the hardware multiplies: rows, columns and products
  static constexpr uint32 rows = 64, columns = 64;
  static constexpr uint32 depth = 32;              ///< products that are staged together
  static constexpr uint32 subgroups = 4;
  static constexpr uint32 row_quads = depth / 8 + 1;  ///< of a staged row, the last one unused: so rows begin in different banks
  static constexpr int64 shared_bytes = int64{16} * row_quads * (rows + columns) + int64{4} * rows * columns;
};

/// Whether matrix units of a device with `caps` take equation `id`: a matmul of bf16 · bf16, or of f16 · f16, as the device
/// has them, to f32, f16 or bf16, whose M, N and K are fixed and multiples of 16; subgroups are of 32 or 64 invocations.
constexpr bool fits_matrix_unit(const graph_view& g, uint32 id, const device_caps& caps) {
  using tile = matrix_unit_tile;
  const eqn& e = g[id];
  if (e.kind != op::matmul || e.type.element == dtype::f64 || (caps.subgroup != 32 && caps.subgroup != 64)) return false;
  if (static_cast<int32>(tile::subgroups) * caps.subgroup > caps.max_workgroup || tile::shared_bytes > caps.shared_bytes) return false;
  const tensor_type &a = g.type(g.first_operand(id)[0]), &b = g.type(g.first_operand(id)[1]);
  const bool has = a.element == dtype::bf16 ? caps.matrix_bf16 : a.element == dtype::f16 && caps.matrix_f16;
  if (!has || a.element != b.element) return false;
  const auto is_whole = [](extent x) { return !x.is_dynamic() && x.code > 0 && x.code % tile::side == 0; };
  return is_whole(e.type.extents[e.type.rank - 2]) && is_whole(e.type.last()) && is_whole(a.last());
}

}  // namespace poot::ir
