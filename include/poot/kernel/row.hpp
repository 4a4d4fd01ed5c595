#pragma once
/// Row regions and reductions: one workgroup for each row, in the order that the reductions carry.
///
///   row region [rows, columns]: each reduction runs over the columns, its operand computed anew from the inputs; then the
///   outputs of whole rows, run by run, then those of one value a row
///   reduction over any axis [outer, n, inner]: one workgroup for each of outer · inner sums

#include <poot/kernel/reduce.hpp>
#include <poot/kernel/store.hpp>

namespace poot::kernel {

namespace detail {

constexpr bool has_argmax(const program_view& p, const launch& l) {
  for (uint32 id : p(l.members))
    if (p.graph[id].kind == op::reduce_argmax) return true;
  return false;
}

}  // namespace detail

constexpr kernel row_kernel(const program_view& p, const launch& l) {
  const ir::graph_view& g = p.graph;
  uint32 space_of = 0;
  for (uint32 id : p(l.members))
    if (ir::is_reduction(g[id].kind)) space_of = g.operands(id)[0];
  const tensor_type space = g.type(space_of);
  const int last = space.rank - 1;
  builder k("row", reducing_workgroup(p.planned_for.caps, space.last(), text_weight(g, p(l.members))));
  k.count_groups();
  region_code code(k, p, l);
  group_reducer reducer(k, detail::has_argmax(p, l));

  const word rows = k.meta({meta_word::what::product, space_of, 0, static_cast<uint8>(last), 1, 0});
  const word columns = code.shape().extent_of(space_of, last);
  const word row = k.group(), lane = k.lane();
  k.if_(below(row, rows), [&] {
    position start = code.shape().locate_row(space_of, row);
    const auto column = [&](word c) {
      position at = start;
      at.at[last] = c;
      at.flat = row * columns + c;
      return at;
    };
    const auto run_at = [&](word c, uint32 count) {
      element_run run{{}, true, detail::divides_row(count, space)};
      for (uint32 j = 0; j < count; ++j) run.at.push_back(column(c + word(j)));
      return run;
    };
    for (uint32 id : code.members()) {
      const ir::eqn& e = g[id];
      if (!ir::is_reduction(e.kind)) continue;
      const uint32 operand = g.operands(e)[0];
      code.fix(id, reducer.run(e.kind, g.type(operand).element, e.sum, lane, columns, space.last(), [&](word c, uint32 count) {
        const element_run run = run_at(c, count);
        vec<scalar> out;
        code.begin_run(run);
        for (uint32 j = 0; j < count; ++j) {
          code.compute_in_run({&operand, 1}, space, j);
          out.push_back(code.get(operand, space, run.at[j]));
        }
        code.end_run();
        return out;
      }));
    }
    output_list whole, single;
    for (size_t o = 0; o < code.outputs().size(); ++o) {
      const uint32 id = code.outputs()[o];
      (g.type(id).last() == space.last() ? whole : single).add(g, id, code.output(o));
    }
    if (!whole.ids.empty()) {
      // runs, and the words in them, do not cross rows where the rows are whole runs
      const uint32 length = run_length(code, whole, space);
      const uint32 step = detail::divides_row(length, space) ? length : detail::divides_row(whole.pack, space) ? whole.pack : 1;
      k.for_(lane * word(step), columns, k.so_far().workgroup * step, [&](word c) {
        if (step == 1 && whole.pack > 1) return store_each(k, code, whole, space, column(c), row * columns + c);
        compute_run(k, code, whole, space, run_at(c, step), row * columns + c, [](uint32) {});
      });
    }
    if (!single.ids.empty())
      k.if_(same(lane, 0u), [&] { store_each(k, code, single, space, column(0u), row); });
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
