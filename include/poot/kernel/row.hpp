#pragma once
/// Row regions and reductions: one workgroup for each row, in the order that the reductions carry.
///
///   row region [rows, columns]: each reduction runs over the columns, its operand computed anew from the inputs; then the
///   outputs of whole rows, run by run, then those of one value a row
///   reduction over any axis [outer, n, inner]: one workgroup for each of outer · inner sums

#include <poot/kernel/row_code.hpp>

namespace poot::kernel {

constexpr kernel row_kernel(const program_view& p, const launch& l) {
  const ir::graph_view& g = p.graph;
  tensor_type space{};
  for (uint32 id : p(l.members))
    if (ir::is_reduction(g[id].kind)) space = g.type(g.operands(id)[0]);
  builder k("row", reducing_workgroup(p.planned_for.caps, space.last(), text_weight(g, p(l.members))));
  k.count_groups();
  region_code code(k, p, l);
  row_code one(k, code, code.members());

  const word rows = k.meta({meta_word::what::product, one.space_of(), 0, static_cast<uint8>(space.rank - 1), 1, 0});
  const word row = k.group();
  k.if_(below(row, rows), [&] {
    one.reduce(row);
    one.store();
  });
  return k.finish();
}

/// One reduction over any axis.
constexpr kernel reduction_kernel(const program_view& p, const launch& l) {
  const ir::graph_view& g = p.graph;
  const uint32 id = p(l.members)[0], operand = g.operands(id)[0];
  const tensor_type& x = g.type(operand);
  const int axis = static_cast<int>(g.attrs(id)[0]);
  builder k("reduction", reducing_workgroup(p.planned_for.caps, x.extents[axis], 1));
  k.count_groups();
  region_code code(k, p, l);
  group_reducer reducer(k, g[id].kind == op::reduce_argmax);

  const word results = k.meta({meta_word::what::product, id, 0, x.rank, 1, 0});
  const word n = code.shape().extent_of(operand, axis), inner = code.shape().product(operand, axis + 1, x.rank);
  const word result = k.group(), lane = k.lane();
  k.if_(below(result, results), [&] {
    const word first = result / inner * n * inner + result % inner;
    const bool together = axis + 1 == x.rank && detail::divides_row(4, x);  // runs of four lie so in memory
    const scalar value = reducer.run(g[id].kind, x.element, g[id].sum, lane, n, x.extents[axis], [&](word i, uint32 count) {
      const word at = first + i * inner + code.shape().offset(operand);
      if (together) return code.load_elements(operand, at, count, true);
      vec<scalar> out;
      for (uint32 j = 0; j < count; ++j) out.push_back(load_element(k, code.input(operand), x.element, at + word(j) * inner));
      return out;
    });
    k.if_(same(lane, 0u), [&] { store_element(k, code.output(0), result, value); });
  });
  return k.finish();
}

}  // namespace poot::kernel
