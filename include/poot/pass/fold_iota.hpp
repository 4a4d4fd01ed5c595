#pragma once
/// Index tables that hold one value, and gathers that take every row in order, or the only one.
/// Requires: a verified graph. Ensures: no iota runs along an extent of 1, and nothing adds such a table of integers; no
/// gather along a fixed axis reads an iota of the same length, or one element of an axis of extent 1.
///   %0 : i32[1,8] = iota {axis=0}   →   a constant of zeros      gather %x, iota(n) {axis=0} of n rows   →   %x
///   add %p, iota(1)                 →   %p                       gather %x, %i of one row, and one index  →   %x

#include <poot/pass/rewriter.hpp>

namespace poot::pass {

namespace detail {

/// Stands `value`, which holds the elements of equation `id` in its order, for it.
constexpr void stand_for(rewriter& r, uint32 id, uint32 value) {
  eqn e = r.equation(id);
  if (r.equation(value).kind == op::reshape && !(r.equation(value).type == e.type)) value = r.operands(value)[0];
  if (r.equation(value).type == e.type) return r.replace(id, value);
  e.kind = op::reshape;
  e.attrs = {};
  e.sum = {};
  const uint32 operand[1] = {value};
  r.emit(id, e, {operand, 1});
}

/// Is value `value` of the result an integer constant of zeros?
constexpr bool is_zeros(const rewriter& r, uint32 value) {
  const eqn& e = r.equation(value);
  return e.kind == op::constant && !is_float(e.type.element) && r.both().attrs(value).size() == 1 && r.both().attrs(value)[0] == 0;
}

}  // namespace detail

constexpr graph fold_iota(graph g, record& notes) {
  rewriter r(std::move(g));
  for (uint32 id = 0; id < r.size(); ++id) {
    const eqn& e = r.equation(id);
    if (e.kind == op::add && !is_float(e.type.element) && !e.type.is_dynamic()) {
      const uint32 a = r[r.operands(id)[0]], b = r[r.operands(id)[1]];
      const bool second = detail::is_zeros(r, b);
      const uint32 kept = second ? a : b;
      if ((second || detail::is_zeros(r, a)) && r.equation(kept).type.element_count() == e.type.element_count() &&
          !r.equation(kept).type.is_dynamic()) {
        detail::stand_for(r, id, kept);
        continue;
      }
    }
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
      const tensor_type& from = r.equation(x).type;
      if (r.equation(index).type.element_count() == 1 && from.element == e.type.element && !e.type.is_dynamic() && !from.is_dynamic() &&
          from.extents[r.both().attrs(id)[0]] == extent(1)) {  // wherever the index points, it is moved inside
        detail::stand_for(r, id, x);
        continue;
      }
    }
    r.copy(id);
  }
  return r.finish(notes, pass_id::fold_iota);
}

}  // namespace poot::pass
