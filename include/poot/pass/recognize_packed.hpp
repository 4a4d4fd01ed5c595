#pragma once
/// Contractions and row gathers over packed weights become ops of their own, which decode as they read.
/// Requires: a verified graph (typing already keeps packed values out of every other op). Ensures: a packed value is read
/// only by packed_contraction, packed_gather, cast and movement of whole rows. A contraction over a decoded weight that
/// stays one is recorded with the reason.
///   %1 : f32[4096,4096] = cast %w (q8_0); %2 = matmul %x, %1 {transpose_b=1}   →   %2 = packed_contraction %x, %w
///   %1 = transpose (cast %w); %2 = matmul %x, %1                               →   %2 = packed_contraction %x, %w
///   %1 : q8_0[3,64] = gather %w, %i {axis=0}; %2 : f32[3,64] = cast %1         →   %2 : f32[3,64] = packed_gather %w, %i
///   %1 : f32[9,64] = cast %w (q8_0); %2 = gather %1, %i {axis=0}               →   %2 : f32[3,64] = packed_gather %w, %i

#include <poot/pass/rewriter.hpp>

namespace poot::pass {

namespace detail {

/// Is `id` a packed value decoded?
constexpr bool is_decoded(const graph_view& g, uint32 id) { return g[id].kind == op::cast && is_packed(g.type(*g.first_operand(id)).element); }

/// Is `id` its operand with the last two axes exchanged? Where one of them is 1 that is a reshape.
constexpr bool exchanges_last_two(const graph_view& g, uint32 id) {
  const tensor_type& to = g.type(id);
  if (g[id].kind == op::reshape) {
    tensor_type from = g.type(*g.first_operand(id));
    if (from.rank < 2 || (from.last() != extent(1) && from.extents[from.rank - 2] != extent(1))) return false;
    std::swap(from.extents[from.rank - 1], from.extents[from.rank - 2]);
    return from == to;
  }
  if (g[id].kind != op::transpose) return false;
  const view<int64> perm = g.attrs(id);
  for (int i = 0; i < to.rank; ++i)
    if (perm[i] != (i < to.rank - 2 ? i : 2 * to.rank - 3 - i)) return false;
  return true;
}

}  // namespace detail

constexpr graph recognize_packed(graph g, record& notes) {
  rewriter r(std::move(g));
  for (uint32 id = 0; id < r.size(); ++id) {
    const eqn& e = r.equation(id);
    const view<uint32> in = r.operands(id);
    const graph_view b = r.both();
    if (e.kind == op::matmul || e.kind == op::indexed_matmul) {
      const uint32 x = r[in[0]];
      uint32 weight = r[in[1]];
      bool reads_rows = e.kind == op::indexed_matmul || (!b.attrs(id).empty() && b.attrs(id)[0] != 0), is_turned = false;
      if (!reads_rows && detail::exchanges_last_two(b, weight) && detail::is_decoded(b, *b.first_operand(weight))) {
        weight = *b.first_operand(weight);
        reads_rows = is_turned = true;
      }
      if (detail::is_decoded(b, weight)) {
        // Decoding is exact in f32, so a cast to f32 before the contraction is the contraction's own load.
        const dtype decoded = b.type(weight).element;
        if (decoded == dtype::f32 && reads_rows) weight = *b.first_operand(weight);
        else if (decoded == dtype::f32) notes.chain_declines.push_back({e.origin, chain_check::weight_order});
        else notes.chain_declines.push_back({b[weight].origin, decoded == dtype::f64 ? chain_check::element_type : chain_check::narrow_value});
      } else if (detail::is_decoded(b, x)) {
        notes.chain_declines.push_back({e.origin, chain_check::weight_order});
      }
      if (is_packed(b.type(weight).element)) {
        eqn made = e;
        made.kind = op::packed_contraction;
        if (is_turned) {
          const int64 rows[1] = {1};
          made.attrs = r.keep_attrs({rows, 1});
        }
        const uint32 operands[3] = {x, weight, in.size() == 3 ? r[in[2]] : 0};
        r.emit(id, made, {operands, in.size()});
        continue;
      }
    }
    const bool is_cast = e.kind == op::cast && b[r[in[0]]].kind == op::gather && is_packed(b.type(r[in[0]]).element);
    const bool is_gather = e.kind == op::gather && b.attrs(id)[0] == 0 && detail::is_decoded(b, r[in[0]]) && b.type(r[in[0]]).rank > 1;
    if (is_cast || is_gather) {
      const uint32 behind = r[in[0]];
      eqn made = is_cast ? b[behind] : e;
      made.kind = op::packed_gather;
      made.type = e.type;
      const uint32 operands[2] = {*b.first_operand(behind), is_cast ? b.operands(behind)[1] : r[in[1]]};
      r.emit(id, made, {operands, 2});
      continue;
    }
    r.copy(id);
  }
  return r.finish(notes, pass_id::recognize_packed);
}

}  // namespace poot::pass
