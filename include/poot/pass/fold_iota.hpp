#pragma once
/// Index tables that hold one value, and gathers that take every row in order.
/// Requires: a verified graph. Ensures: no iota runs along an extent of 1; no gather along a fixed axis reads an iota of
/// the same length.
///   %0 : i32[1,8] = iota {axis=0}   →   a constant of zeros      gather %x, iota(n) {axis=0} of n rows   →   %x

#include <poot/pass/rewriter.hpp>

namespace poot::pass {

constexpr graph fold_iota(graph g, record& notes) {
  rewriter r(std::move(g));
  for (uint32 id = 0; id < r.size(); ++id) {
    const eqn& e = r.equation(id);
    if (e.kind == op::iota && e.type.extents[r.both().attrs(id)[0]] == extent(1)) {
      eqn zero = e;
      zero.kind = op::constant;
      const int64 attr[1] = {0};
      zero.attrs = r.keep_attrs({attr, 1});
      r.emit(id, zero, {});
      continue;
    }
    if (e.kind == op::gather && !is_packed(e.type.element)) {
      const uint32 x = r[r.operands(id)[0]], index = r[r.operands(id)[1]];
      if (r.equation(index).kind == op::iota && r.equation(index).type.rank == 1 && r.equation(x).type == e.type) {
        r.replace(id, x);
        continue;
      }
    }
    r.copy(id);
  }
  return r.finish(notes, pass_id::fold_iota);
}

}  // namespace poot::pass
