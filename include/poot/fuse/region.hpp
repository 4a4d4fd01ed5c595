#pragma once
/// Regions: sets of equations that one dispatch executes, and the reasons why two of them stay apart.

#include <poot/ir/graph.hpp>

namespace poot::fuse {

using ir::eqn;
using ir::graph_view;
using ir::op;

enum class region_kind : uint8 {
  pointwise,    ///< elementwise over one iteration space
  row,          ///< reductions of one last axis, with pointwise steps over the rows
  contraction,  ///< products, the pointwise steps that read their results, rows that only the products read, and rows that reduce runs of a result
  reduction,    ///< one reduction, over any axis
  movement,     ///< one op that moves elements
  generator,    ///< one op that makes elements: random numbers
  rope,         ///< pairs of a row's elements turned
  attention,    ///< scores, softmax and weighted sum of values
  collective,   ///< one op among ranks
};

constexpr std::string_view name(region_kind k) {
  switch (k) {
    case region_kind::pointwise: return "pointwise";
    case region_kind::row: return "row";
    case region_kind::contraction: return "contraction";
    case region_kind::reduction: return "reduction";
    case region_kind::movement: return "movement";
    case region_kind::generator: return "generator";
    case region_kind::rope: return "rope";
    case region_kind::attention: return "attention";
    case region_kind::collective: return "collective";
  }
  return "";
}

/// Why a producer and its consumer are not one region: the first check that failed.
enum class reason : uint8 {
  none, boundary, spaces_differ, recompute_cost, output_not_full, narrow_cast, select_in_row, non_float_in_row,
  row_space, two_heads, head_operand, head_space, wide_head, matrix_unit, many_rows, run_split, long_run, read_elsewhere, shared_exceeded, alias, copied_update,
  buffer_limit, member_limit, prologue, cycle,
};

constexpr std::string_view explain(reason r) {
  switch (r) {
    case reason::none: return "legal";
    case reason::boundary: return "boundary: movement and rope take only a tail behind them, attention transposes, collectives and reductions of other axes nothing, and what neither reads the other";
    case reason::spaces_differ: return "spaces_differ: the iteration spaces do not broadcast to one of them";
    case reason::recompute_cost: return "recompute_cost: a smaller value would be computed again for every element that reads it";
    case reason::output_not_full: return "output_not_full: a value smaller than the iteration space is read outside";
    case reason::narrow_cast: return "narrow_cast: an explicit cast to a narrower float ends a region";
    case reason::select_in_row: return "select_in_row: a float select moves bits and joins pointwise regions only";
    case reason::non_float_in_row: return "non_float_in_row: row regions hold float lanes only here";
    case reason::row_space: return "row_space: all reductions of a row region run over the same rows";
    case reason::two_heads: return "two_heads: the contractions of a region are products of one left operand, and rows stay apart from them but for what stands before and behind";
    case reason::head_operand: return "head_operand: a contraction reads its operands from memory, so what makes them runs before";
    case reason::head_space: return "head_space: an epilogue has the extents of its contraction's result";
    case reason::wide_head: return "wide_head: a contraction of f64 takes no epilogue";
    case reason::matrix_unit: return "matrix_unit: a product of a matrix unit is a dispatch of its own, and its chain another";
    case reason::many_rows: return "many_rows: every workgroup computes all rows of a row prologue, so they are few, and one matrix is multiplied by all of them; rows behind products reduce one row of a result";
    case reason::run_split: return "run_split: rows behind products reduce whole runs of a result's columns, as many each as a number says";
    case reason::long_run: return "long_run: a workgroup computes the run that rows behind products reduce, so it is short";
    case reason::read_elsewhere: return "read_elsewhere: what passes on inside a dispatch is read there by nothing else, and outside only where it is stored: rows before products, if a workgroup is sure to run";
    case reason::shared_exceeded: return "shared_exceeded: the rows of a row prologue, or the run that rows behind products reduce, do not fit the memory of a workgroup";
    case reason::alias: return "alias: an update may overwrite in place what another member reads";
    case reason::copied_update: return "copied_update: an update ends a dispatch of movements where it is sure to be in place, the only reader of its state";
    case reason::buffer_limit: return "buffer_limit: the region would bind more buffers than the target allows";
    case reason::member_limit: return "member_limit: the region would hold too many equations";
    case reason::prologue: return "prologue: what depends on constants only runs once, at load";
    case reason::cycle: return "cycle: another region must run between the two";
  }
  return "";
}

/// An edge of the graph that fusion left between two dispatches.
struct decline {
  uint32 producer = 0;  ///< equation of the optimized graph
  uint32 consumer = 0;
  reason why = reason::none;
  constexpr bool operator==(const decline&) const = default;
};

/// Shared memory that a workgroup needs to reduce rows, bytes: values and indices of 64 runs of lanes.
inline constexpr int64 reducing_bytes = 2048;

struct rules {
  bool with_broadcast = true;      ///< values of smaller extents may join
  bool fuse_narrow_casts = false;  ///< an explicit narrowing cast may stand in the middle of a region
  bool horizontal = true;          ///< independent regions that read a value in the same way become one
  uint32 max_buffers = 128;
  uint32 max_members = 1024;       ///< equations of one region, turns (fuse/turns.hpp) counted once
  /// Flops that may be spent again, over a whole region, to save a dispatch (about a microsecond of one core).
  int64 max_recomputed_flops = 32768;
  bool sibling_heads = true;       ///< products of one left operand may be one region
  bool side_by_side = true;        ///< independent movements, ropes and small pointwise regions may be one region
  bool row_prologue = true;        ///< a row region may stand before the products that alone read its result
  int64 max_prologue_rows = 8;     ///< of such a region
  int64 max_prologue_bytes = INT64_MAX;  ///< of its result as f32, with the run that rows behind products reduce
  bool row_epilogue = true;        ///< a row region may stand behind products whose result it reduces run by run
  int64 max_run = 256;             ///< columns of such a run
  bool tails = true;               ///< movement, rope and attention may pass their elements on to members behind them
  bool integer_rows = false;       ///< row regions may hold integers: kernels of workgroups compute any element type
  bool small_outputs = false;      ///< values smaller than the iteration space may be read outside
};

/// An equation that needs no work of its own: leaves, and reshapes, which are views. (So are windows, see grouping.)
constexpr bool needs_no_region(const eqn& e) {
  return (ir::is_leaf(e.kind) && e.kind != op::random_uniform) || e.kind == op::reshape;
}

/// Flops spent again when equation `id` is computed for every element of `space`; at most the greatest number.
constexpr int64 recomputed_flops(const graph_view& g, uint32 id, const tensor_type& space) {
  int64 flops = space.element_count() - g.type(id).element_count();
  return __builtin_mul_overflow(flops, int64{ir::row(g[id].kind).flops}, &flops) ? INT64_MAX : flops;
}
constexpr int64 saturating_sum(int64 a, int64 b) { return b > 0 && a > INT64_MAX - b ? INT64_MAX : a + b; }

/// A slice that takes whole rows without gaps: a contraction can read it where it lies.
constexpr bool takes_whole_rows(const graph_view& g, uint32 id) {
  const eqn& e = g[id];
  if (e.kind != op::slice || e.type.rank < 2) return false;
  const view<int64> at = g.attrs(id);
  for (int i = 0; i < e.type.rank; ++i)
    if (at[2 * e.type.rank + i] != 1) return false;
  return e.type.last() == g.type(g.first_operand(id)[0]).last();
}

/// Do two types have the same extents but for axes of 1 before the last two?
constexpr bool differs_in_ones(const tensor_type& a, const tensor_type& b) {
  if (a.rank < 2 || b.rank < 2) return false;
  int i = a.rank, j = b.rank;
  for (int same = 0; same < 2; ++same)
    if (a.extents[--i] != b.extents[--j]) return false;
  while (true) {
    while (i > 0 && a.extents[i - 1] == extent(1)) --i;
    while (j > 0 && b.extents[j - 1] == extent(1)) --j;
    if (i == 0 || j == 0) return i == j;
    if (a.extents[--i] != b.extents[--j]) return false;
  }
}

constexpr bool is_narrowing_cast(const graph_view& g, uint32 id) {
  if (g[id].kind != op::cast || !is_float(g[id].type.element)) return false;
  const dtype from = g.type(g.first_operand(id)[0]).element;
  return is_float(from) && row(g[id].type.element).block_bytes < row(from).block_bytes;
}

/// A widening cast of a leaf is part of the load that reads it.
constexpr bool is_widening_load(const graph_view& g, uint32 id) {
  if (g[id].kind != op::cast || !is_float(g[id].type.element)) return false;
  const uint32 source = g.first_operand(id)[0];
  return ir::is_leaf(g[source].kind) && is_float(g.type(source).element) &&
         row(g[id].type.element).block_bytes > row(g.type(source).element).block_bytes;
}

/// A product that a matrix unit adds up.
constexpr bool is_on_matrix_unit(const graph_view& g, uint32 id) { return g[id].kind == op::matmul && g[id].sum.hardware; }

/// A product of two matrices whose result is no f64, and no matrix unit's: it may have siblings, and steps behind it.
constexpr bool is_plain_product(const graph_view& g, uint32 id) {
  const eqn& e = g[id];
  return (e.kind == op::matmul || e.kind == op::packed_contraction) && e.operands.count == 2 && e.type.element != dtype::f64 &&
         !e.sum.hardware;
}
/// May one region hold both products? They read the same rows.
constexpr bool are_siblings(const graph_view& g, uint32 a, uint32 b) {
  return is_plain_product(g, a) && is_plain_product(g, b) && g.first_operand(a)[0] == g.first_operand(b)[0];
}

/// Rows of a value: elements for each index along its last axis, dynamic extents at their bound.
constexpr int64 rows_of(const tensor_type& t) {
  int64 rows = 1;
  for (int i = 0; i + 1 < t.rank; ++i) rows *= t.extents[i].bound();
  return rows;
}
/// Do all rows of its left operand meet one matrix?
constexpr bool multiplies_one_matrix(const graph_view& g, uint32 id) {
  return is_plain_product(g, id) && g.type(g.first_operand(id)[1]).rank == 2;
}

/// Does a view of type `runs` hold the rows of `whole` in runs of columns, its last axis? Both have columns, as many as numbers say.
constexpr bool are_runs(const tensor_type& whole, const tensor_type& runs) {
  if (whole.is_dynamic() || runs.is_dynamic() || whole.rank == 0 || runs.rank == 0) return false;
  return runs.last().code > 0 && whole.last().code % runs.last().code == 0;
}

/// Is there a result element wherever there is a row? Then a workgroup runs, which can also store rows.
constexpr bool always_has_columns(const graph_view& g, uint32 id) {
  const extent columns = g.type(id).last();
  return !columns.is_dynamic() && columns.code > 0;
}

/// Kinds of which several may share a dispatch that do not depend on each other; pointwise regions may stand beside them.
constexpr bool stands_side_by_side(region_kind k) { return k == region_kind::movement || k == region_kind::rope; }

/// The kind of region that an equation makes on its own.
constexpr region_kind kind_of(const graph_view& g, uint32 id) {
  const eqn& e = g[id];
  switch (ir::row(e.kind).kind) {
    case ir::op_class::pointwise:
      return e.kind == op::cast && is_packed(g.type(g.first_operand(id)[0]).element) ? region_kind::movement
                                                                                : region_kind::pointwise;
    case ir::op_class::contraction: return region_kind::contraction;
    case ir::op_class::reduction: {
      const tensor_type& in = g.type(g.first_operand(id)[0]);
      return g.attrs(id)[0] == in.rank - 1 && is_float(in.element) ? region_kind::row : region_kind::reduction;
    }
    case ir::op_class::leaf: return region_kind::generator;
    case ir::op_class::chain: return e.kind == op::rope ? region_kind::rope : region_kind::attention;
    case ir::op_class::collective: return region_kind::collective;
    case ir::op_class::movement: break;
  }
  return region_kind::movement;
}

}  // namespace poot::fuse
