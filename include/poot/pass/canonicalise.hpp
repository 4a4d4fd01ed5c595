#pragma once
/// Rewrites to one spelling, preserving every rounding and the order of arithmetic.
/// Requires: a verified graph. Ensures: constants stand second in commutative ops, no identity movement or arithmetic is
/// left, pointwise equations over scalar constants are constants. Rewrites that would change rounding are recorded.
///   %1 = mul f32(1), %x; %2 = reshape %1 (same extents); %3 = neg %2; %4 = neg %3   →   %x

#include <poot/core/float_environment.hpp>
#include <poot/ir/evaluate.hpp>
#include <poot/pass/rewriter.hpp>

namespace poot::pass {

namespace detail {

/// The bits of one in `t`.
constexpr uint64 one_bits(dtype t) {
  if (!is_float(t)) return 1;
  const float_format f = format_of(t);
  return static_cast<uint64>(f.bias()) << f.fraction_bits;
}

struct canonicaliser {
  rewriter r;
  record& notes;

  constexpr canonicaliser(graph g, record& n) : r(std::move(g)), notes(n) {}

  constexpr const eqn& made(uint32 value) const { return r.equation(value); }
  constexpr const tensor_type& type(uint32 id) const { return r.equation(id).type; }
  constexpr bool is_constant(uint32 value, uint64 bits) const {
    const graph_view& b = r.both();
    return b.is_scalar_constant(value) && static_cast<uint64>(b.attrs(value)[0]) == bits;
  }
  /// Stands `value` for `id` where both have the same type.
  constexpr bool forward(uint32 id, uint32 value) {
    if (!(made(value).type == type(id))) return false;
    r.replace(id, value);
    return true;
  }

  /// x·1, x/1, x−0, x+(−0): equal bits for every x (a NaN stays a NaN).
  constexpr bool drop_neutral(uint32 id, op o, uint32 a, uint32 b) {
    const dtype t = type(id).element;
    const uint64 minus_zero = is_float(t) ? format_of(t).sign_bit() : 0;
    const bool neutral = ((o == op::mul || o == op::div) && is_constant(b, one_bits(t))) ||
                         (o == op::sub && is_constant(b, 0)) || (o == op::add && is_constant(b, minus_zero));
    return neutral && forward(id, a);
  }

  /// −(−x), | −x |, ||x||, a cast to the type it has.
  constexpr bool drop_unary(uint32 id, op o, uint32 a) {
    const eqn& in = made(a);
    if (o == op::cast && in.type == type(id)) return forward(id, a);
    if (o == op::neg && in.kind == op::neg) return forward(id, r.operands(a)[0]);
    if (o == op::abs && in.kind == op::abs) return forward(id, a);
    const dtype t = in.type.element;
    if (o == op::abs && in.kind == op::neg && (is_float(t) || is_signed(t))) {  // |−x| of unsigned x wraps
      const uint32 operand[1] = {r.operands(a)[0]};
      if (!(made(operand[0]).kind == op::abs && forward(id, operand[0]))) r.emit(id, r.equation(id), {operand, 1});
      return true;
    }
    return false;
  }

  /// Movement that moves nothing, reshapes of reshapes and transpositions of transpositions.
  constexpr bool drop_movement(uint32 id) {
    const eqn& e = r.equation(id);
    const uint32 a = r[*r.both().first_operand(id)];
    switch (e.kind) {
      case op::reshape:
        if (forward(id, a)) return true;
        if (made(a).kind != op::reshape) return false;
        if (forward(id, r.operands(a)[0])) return true;
        {
          const uint32 operand[1] = {r.operands(a)[0]};
          r.emit(id, e, {operand, 1});
        }
        return true;
      case op::broadcast: return forward(id, a);
      case op::concat: return e.operands.count == 1 && forward(id, a);
      case op::slice: {
        const view<int64> at = r.both().attrs(id);
        for (int i = 0; i < e.type.rank; ++i)
          if (at[i] != 0 || at[2 * e.type.rank + i] != 1) return false;
        return forward(id, a);
      }
      case op::transpose: return drop_transpose(id, a);
      default: return false;
    }
  }

  /// A transposition of a transposition is one; one that only moves extents of 1 is a reshape.
  constexpr bool drop_transpose(uint32 id, uint32 a) {
    eqn e = r.equation(id);
    int64 perm[max_rank]{};
    for (int i = 0; i < e.type.rank; ++i) perm[i] = r.both().attrs(id)[i];
    const bool is_second = made(a).kind == op::transpose;
    if (is_second) {
      const view<int64> first = r.both().attrs(a);
      for (int i = 0; i < e.type.rank; ++i) perm[i] = first[perm[i]];
      a = r.operands(a)[0];
    }
    if (moves_only_units(perm, made(a).type)) {
      if (forward(id, a)) return true;
      if (made(a).kind == op::reshape) a = r.operands(a)[0];
      e.kind = op::reshape;
      e.attrs = {};
      if (forward(id, a)) return true;
    } else if (is_second) {
      e.attrs = r.keep_attrs({perm, e.type.rank});
    } else {
      return false;
    }
    const uint32 operand[1] = {a};
    r.emit(id, e, {operand, 1});
    return true;
  }
  static constexpr bool moves_only_units(const int64* perm, const tensor_type& source) {
    int64 last = -1;
    for (int i = 0; i < source.rank; ++i) {
      if (source.extents[perm[i]] == extent(1)) continue;
      if (perm[i] < last) return false;
      last = perm[i];
    }
    return true;
  }

  /// A pointwise op over scalar constants is a constant (only ops whose bits are the same everywhere: all of ours are).
  constexpr bool fold_constant(uint32 id) {
    const eqn& e = r.equation(id);
    if (!ir::is_pointwise(e.kind) || e.kind == op::custom || e.type.rank != 0) return false;
    uint64 bits[3]{};
    int count = 0;
    dtype operand_type = e.type.element;
    for (uint32 in : r.operands(id)) {
      const graph_view& b = r.both();
      if (!b.is_scalar_constant(r[in])) return false;
      operand_type = b.type(r[in]).element;
      bits[count++] = static_cast<uint64>(b.attrs(r[in])[0]);
    }
    const float_environment ieee;
    eqn folded;
    folded.kind = op::constant;
    folded.type = e.type;
    const int64 attr[1] = {
        static_cast<int64>(ir::evaluate(e.kind, operand_type, e.type.element, bits[0], bits[1], bits[2]))};
    folded.attrs = r.keep_attrs({attr, 1});
    r.emit(id, folded, {});
    return true;
  }

  /// Notes rewrites of equation `value` of the result that others make and that change rounding.
  constexpr void note_declines(uint32 value) {
    const eqn& e = made(value);
    const uint32 origin = e.origin;
    const op o = e.kind;
    if (o != op::mul && o != op::matmul) return;
    const graph_view& b = r.both();
    const uint32* const in = b.first_operand(value);
    if (o == op::mul && is_float(e.type.element)) {
      for (uint32 k = 0; k < 2; ++k)
        if (b[in[k]].kind == op::recip) {
          notes.numerical_declines.push_back({origin, inexact::reciprocal_division});
          break;
        }
    }
    if (o == op::matmul && b[in[0]].kind == op::mul) {
      for (uint32 factor : b.operands(in[0]))
        if (b.type(factor).element_count() == 1 || b.type(factor).last() == extent(1)) {
          notes.numerical_declines.push_back({b[in[0]].origin, inexact::factor_scalar});
          break;
        }
    }
  }

  constexpr void visit(uint32 id) {
    const eqn& e = r.equation(id);
    if (ir::is_leaf(e.kind)) {
      r.copy(id);
      return;
    }
    if (ir::is_movement(e.kind) && drop_movement(id)) return;
    if (ir::is_pointwise(e.kind)) {
      const uint32* const in = r.both().first_operand(id);
      const uint32 count = e.operands.count;
      if (fold_constant(id)) return;
      if (count == 1 && drop_unary(id, e.kind, r[in[0]])) return;
      if (e.kind == op::select && r[in[1]] == r[in[2]] && forward(id, r[in[1]])) return;
      if (count == 2) {
        uint32 operands[2] = {r[in[0]], r[in[1]]};
        const bool swap = stands_reversed(r.both(), e.kind, operands[0], operands[1]);
        if (swap) std::swap(operands[0], operands[1]);
        if (drop_neutral(id, e.kind, operands[0], operands[1])) return;
        if (swap) {
          note_declines(r.emit(id, e, {operands, 2}));
          return;
        }
      }
    }
    note_declines(r.copy(id));
  }
};

}  // namespace detail

constexpr graph canonicalise(graph g, record& notes) {
  detail::canonicaliser c(std::move(g), notes);
  for (uint32 id = 0; id < c.r.size(); ++id) c.visit(id);
  return c.r.finish(notes, pass_id::canonicalise);
}

}  // namespace poot::pass
