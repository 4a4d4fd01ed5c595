#pragma once
/// An argmax of few long rows in two stages, so that more than one workgroup reads a row: the first finds the greatest of
/// each part and where it stands, the second which part has the greatest of all. Devices with workgroups only. Every bit
/// stays: ties go to the first, and a NaN is greatest, in both stages.
/// Requires: a verified graph for a target. Ensures: an argmax along a last axis longer than `longest_row` remains only
/// where rows are many, no divisor of its length fits, or a workgroup reduces each of the same rows before it anyway. Behind a
/// product of one row, parts are the runs of columns that one workgroup computes, where there is such a divisor: then the first
/// stage is part of the product's dispatch.
///   %i : i32[1,1] = reduce_argmax %x {axis=1}, of f32[1,128256]   →   over f32[1,32,4008]: m = max; argmax of where x is
///   m or NaN; over f32[1,32] of those: argmax, and the sum of part · 4008 + index where the part is that one

#include <poot/core/target.hpp>
#include <poot/pass/rewriter.hpp>

#include <initializer_list>

namespace poot::pass {

/// Elements of a row that one workgroup reads.
inline constexpr int64 longest_row = 8192;
/// Rows from which on there are workgroups enough.
inline constexpr int64 enough_rows = 64;

namespace detail {

/// The greatest divisor of `length` from `least` to `most`; 0 where there is none.
constexpr int64 divisor_of(int64 length, int64 least, int64 most) {
  for (int64 part = most; part >= least; --part)
    if (length % part == 0) return part;
  return 0;
}

/// What stands behind the pointwise steps that make a value of rows.
enum class made_of : uint8 { memory, product, reductions };

/// A reduction of the same rows: then each is one workgroup's as it is. Else a product of one row, or neither.
constexpr made_of what_makes(const graph_view& g, uint32 id) {
  const tensor_type rows = g.type(id);
  const bool is_one_row = !rows.last().is_dynamic() && rows.element_count() == rows.last().code;
  made_of found = made_of::memory;
  vec<uint8> leads(id + 1, 0);
  leads[id] = 1;
  for (uint32 at = id + 1; at-- > 0;) {
    if (!leads[at]) continue;
    const op o = g[at].kind;
    const bool is_row = g.type(at).same_extents(rows);
    if (ir::is_reduction(o) && g.type(g.operands(at)[0]).same_extents(rows) && g.attrs(at)[0] == rows.rank - 1) return made_of::reductions;
    if (is_one_row && is_row && (o == op::matmul || o == op::packed_contraction) && g.operands(at).size() == 2) found = made_of::product;
    if (!ir::is_pointwise(o)) continue;
    for (uint32 in : g.operands(at)) leads[in] = 1;
  }
  return found;
}

/// Elements of a part of the argmax `id`; 0 where it stays whole. Behind a product they are columns that one workgroup computes, so
/// that it can also reduce them.
constexpr int64 part_of(const graph_view& g, uint32 id, const device_caps& caps) {
  const eqn& e = g[id];
  if (e.kind != op::reduce_argmax) return 0;
  const uint32 of = g.operands(id)[0];
  const tensor_type& x = g.type(of);
  if (!is_float(x.element) || g.attrs(id)[0] != x.rank - 1 || x.rank >= max_rank || x.last().is_dynamic()) return 0;
  const int64 length = x.last().code;  // positions are summed as f32: exact below 2^24
  if (length <= longest_row || length > (int64{1} << 24)) return 0;
  int64 rows = 1;
  for (int i = 0; i + 1 < x.rank; ++i)
    if (__builtin_mul_overflow(rows, x.extents[i].bound(), &rows)) return 0;
  if (rows >= enough_rows) return 0;
  const made_of made = what_makes(g, of);
  if (made == made_of::reductions) return 0;
  const int64 run = made == made_of::product ? divisor_of(length, caps.run_columns() / 2, caps.run_columns()) : 0;
  return run > 0 ? run : divisor_of(length, 128, 4096);
}

/// Appends the two stages of the argmax of `x` in parts of `part` elements; returns the value that takes its place.
constexpr uint32 append_two_stages(graph& to, uint32 x, int64 part, uint32 origin) {
  const auto made = [&](op o, std::initializer_list<uint32> in, std::initializer_list<int64> attrs = {}, const tensor_type& declared = {}) {
    const uint32 id = to.apply(o, {in.begin(), in.size()}, {attrs.begin(), attrs.size()}, declared);
    to.eqns[id].origin = origin;
    return id;
  };
  const tensor_type whole = to.eqns[x].type;
  const int last = whole.rank - 1;
  const int64 parts = whole.last().code / part;
  tensor_type split = whole, each = whole;  // [..., parts, part], [..., parts]
  split.rank = static_cast<uint8>(whole.rank + 1);
  split.extents[last] = each.extents[last] = parts;
  split.extents[whole.rank] = part;
  tensor_type marks = split, indices = each, sums = each, result = each, table;
  marks.element = sums.element = dtype::f32;
  indices.element = result.element = table.element = dtype::i32;
  result.extents[last] = 1;
  table.rank = 1;
  table.extents[0] = parts;

  const uint32 rows = made(op::reshape, {x}, {}, split), greatest = made(op::reduce_max, {rows}, {last + 1});
  const uint32 is_greatest = made(op::eq, {rows, greatest}), is_nan = made(op::ne, {rows, rows});
  const uint32 marked = made(op::cast, {made(op::bit_or, {is_greatest, is_nan})}, {}, marks);
  const uint32 first = made(op::reduce_argmax, {marked}, {last + 1});

  const uint32 index = made(op::reshape, {first}, {}, indices), of_part = made(op::reshape, {greatest}, {}, each);
  const uint32 best = made(op::reduce_argmax, {of_part}, {last});
  const int64 axis[] = {0};
  const uint32 number = to.leaf(op::iota, table, {axis, 1}), length = to.literal(dtype::i32, static_cast<uint64>(part));
  to.eqns[number].origin = to.eqns[length].origin = origin;
  const uint32 start = made(op::mul, {number, length}), position = made(op::add, {start, index});
  const uint32 is_best = made(op::eq, {number, best}), chosen = made(op::mul, {is_best, position});
  return made(op::cast, {made(op::reduce_sum, {made(op::cast, {chosen}, {}, sums)}, {last})}, {}, result);
}

}  // namespace detail

constexpr graph split_argmax(graph g, const target& where, record& notes) {
  if (where.caps.max_workgroup == 0) return g;
  const graph_view from = g;
  bool found = false;
  for (uint32 id = 0; id < from.size() && !found; ++id) found = detail::part_of(from, id, where.caps) > 0;
  if (!found) return g;
  graph to = expanded(g, [&](graph& made, uint32 id, const vec<uint32>& in) {
    const int64 part = detail::part_of(from, id, where.caps);
    return part > 0 ? detail::append_two_stages(made, in[0], part, from[id].origin) : stays;
  });
  notes.changed.push_back(pass_id::split_argmax);
  return to;
}

}  // namespace poot::pass
