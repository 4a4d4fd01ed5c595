#pragma once
/// Contractions and row gathers over packed weights become ops of their own, which decode as they read.
/// Requires: a verified graph (typing already keeps packed values out of every other op). Ensures: a packed value is read
/// only by packed_contraction, packed_gather, cast and movement of whole rows.
///   %1 : f32[4096,4096] = cast %w (q8_0); %2 = matmul %x, %1 {transpose_b=1}   →   %2 = packed_contraction %x, %w
///   %1 : q8_0[3,64] = gather %w, %i {axis=0}; %2 : f32[3,64] = cast %1         →   %2 : f32[3,64] = packed_gather %w, %i

#include <poot/pass/rewriter.hpp>

namespace poot::pass {

constexpr graph recognize_packed(graph g, record& notes) {
  rewriter r(std::move(g));
  for (uint32 id = 0; id < r.size(); ++id) {
    const eqn& e = r.equation(id);
    const view<uint32> in = r.operands(id);
    const graph_view b = r.both();
    if (e.kind == op::matmul || e.kind == op::indexed_matmul) {
      uint32 weight = r[in[1]];
      // Decoding is exact in f32, so a cast to f32 before the contraction is the contraction's own load.
      if (b[weight].kind == op::cast && b[weight].type.element == dtype::f32 &&
          is_packed(b.type(b.operands(weight)[0]).element) && (e.kind == op::indexed_matmul || (!b.attrs(id).empty() && b.attrs(id)[0] != 0)))
        weight = b.operands(weight)[0];
      if (is_packed(b.type(weight).element)) {
        eqn made = e;
        made.kind = op::packed_contraction;
        uint32 operands[3] = {r[in[0]], weight, in.size() == 3 ? r[in[2]] : 0};
        r.emit(id, made, {operands, in.size()});
        continue;
      }
    }
    if (e.kind == op::cast && b[r[in[0]]].kind == op::gather && is_packed(b.type(r[in[0]]).element)) {
      const uint32 gather = r[in[0]];
      eqn made = b[gather];
      made.kind = op::packed_gather;
      made.type = e.type;
      const uint32 operands[2] = {b.operands(gather)[0], b.operands(gather)[1]};
      r.emit(id, made, {operands, 2});
      continue;
    }
    r.copy(id);
  }
  return r.finish(notes, pass_id::recognize_packed);
}

}  // namespace poot::pass
