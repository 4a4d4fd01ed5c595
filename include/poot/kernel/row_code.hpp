#pragma once
/// One row of a row region at a time, by a workgroup: its reductions, and where its elements are. Row kernels and the rows before
/// the products of a contraction kernel are made of it.

#include <poot/kernel/reduce.hpp>
#include <poot/kernel/store.hpp>

namespace poot::kernel {

class row_code {
 public:
  /// `members` are those of the row region, ascending; `code` may hold others.
  constexpr row_code(builder& k, region_code& code, view<uint32> members)
      : k_(k), code_(code), members_(members), reducer_(k, has_argmax(code.graph(), members)) {
    for (uint32 id : members)
      if (ir::is_reduction(code.graph()[id].kind)) space_of_ = code.graph().operands(id)[0];
    last_ = space().rank - 1;
  }

  /// A value with the extents of the region, its last axis whole.
  constexpr uint32 space_of() const { return space_of_; }
  constexpr const tensor_type& space() const { return code_.graph().type(space_of_); }
  constexpr word columns() const { return code_.shape().extent_of(space_of_, last_); }

  /// Takes row `row`, the same for all invocations of the workgroup, and reduces it: what its reductions give holds from here on.
  constexpr void reduce(word row) {
    const ir::graph_view& g = code_.graph();
    start_ = code_.shape().locate_row(space_of_, row);
    row_ = row;
    const word lane = k_.lane();
    for (uint32 id : members_) {
      const ir::eqn& e = g[id];
      if (!ir::is_reduction(e.kind)) continue;
      const uint32 operand = g.operands(e)[0];
      code_.fix(id, reducer_.run(e.kind, g.type(operand).element, e.sum, lane, columns(), space().last(), [&](word c, uint32 count) {
        vec<scalar> out;
        each_in_run({&operand, 1}, c, count, [&](const position& at) { out.push_back(code_.get(operand, space(), at)); });
        return out;
      }));
    }
  }

  /// Of the row that was taken: element `c`, and `count` elements from there on.
  constexpr position column(word c) const {
    position at = start_;
    at.at[last_] = c;
    at.flat = row_ * columns() + c;
    return at;
  }
  constexpr element_run run_at(word c, uint32 count) const {
    element_run run{{}, true, detail::divides_row(count, space())};
    for (uint32 j = 0; j < count; ++j) run.at.push_back(column(c + word(j)));
    return run;
  }
  /// Computes `wanted` at each of them and calls `take` with its position.
  template <class Take>
  constexpr void each_in_run(view<uint32> wanted, word c, uint32 count, Take take) {
    const element_run run = run_at(c, count);
    code_.begin_run(run);
    for (uint32 j = 0; j < count; ++j) {
      code_.compute_in_run(wanted, space(), j);
      take(run.at[j]);
    }
    code_.end_run();
  }

 private:
  static constexpr bool has_argmax(const ir::graph_view& g, view<uint32> members) {
    for (uint32 id : members)
      if (g[id].kind == op::reduce_argmax) return true;
    return false;
  }

  builder& k_;
  region_code& code_;
  view<uint32> members_;
  group_reducer reducer_;
  uint32 space_of_ = 0;
  int last_ = 0;
  position start_{};
  word row_{};
};

}  // namespace poot::kernel
