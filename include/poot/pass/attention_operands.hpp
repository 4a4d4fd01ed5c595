#pragma once
/// How a chain of attention reads keys and values: behind widening casts, transpositions and copies of heads.

#include <poot/ir/analysis.hpp>

namespace poot::pass::detail {

using ir::graph_view;
using ir::op;

class attention_operands {
 public:
  constexpr explicit attention_operands(const graph_view& g) : g_(g) {}

  /// Widening to f32 is exact, and attention reads narrow floats itself.
  constexpr uint32 behind_widening(uint32 id) const {
    return g_[id].kind == op::cast && g_.type(id).element == dtype::f32 && is_narrow(g_.type(first(id)).element) ? first(id) : id;
  }
  /// Takes a transposition of the last two axes away; `rows` becomes the type before it. One that moves an extent of 1 has become
  /// a reshape, which may be a part of the one that merges copies of heads: `drop_copies` takes that away.
  constexpr bool drop_transpose(uint32& id, tensor_type& rows) const {
    id = behind_widening(id);
    const int rank = rows.rank;
    const bool is_reshape = g_[id].kind == op::reshape, has_one = rows.last() == extent(1) || rows.extents[rank - 2] == extent(1);
    if (is_reshape ? !has_one : g_[id].kind != op::transpose) return rows.last() == rows.extents[rank - 2] && has_one;
    if (!is_reshape) {
      const view<int64> perm = g_.attrs(id);
      for (int i = 0; i < rank; ++i)
        if (perm[i] != (i < rank - 2 ? i : 2 * rank - 3 - i)) return false;
    }
    std::swap(rows.extents[rank - 1], rows.extents[rank - 2]);
    if (g_.type(first(id)).same_extents(rows)) id = first(id);
    return true;
  }
  /// Copies of heads: [KV,S,D] to [KV,1,S,D], broadcast to [KV,G,S,D], merged to [KV·G,S,D], the type `to`; or a broadcast
  /// alone. Returns whether there were any.
  constexpr bool drop_copies(uint32& id, const tensor_type& to, const tensor_type& q) const {
    if (g_.type(id).same_extents(to)) id = behind_widening(id);
    if (g_[id].kind == op::broadcast && to.rank == q.rank && g_.type(first(id)).rank >= 2 && only_heads_stretch(id)) {
      id = behind_widening(first(id));
      return true;
    }
    if (g_[id].kind != op::reshape || g_[first(id)].kind != op::broadcast) return false;
    const uint32 copies = first(id), merged = first(copies);
    const tensor_type &wide = g_.type(copies), &narrow = g_.type(merged);
    if (g_[merged].kind != op::reshape || wide.rank != to.rank + 1 || narrow.rank != wide.rank || !only_heads_stretch(copies)) return false;
    const uint32 heads = first(merged);
    if (g_.type(heads).rank != to.rank) return false;
    int at = 0;  // the axis that is merged with the one behind it
    while (at < to.rank - 2 && narrow.extents[at + 1] == wide.extents[at + 1]) ++at;
    if (at == to.rank - 2 || narrow.extents[at + 1] != extent(1)) return false;
    for (int i = 0; i < to.rank; ++i) {
      const int from = i <= at ? i : i + 1;
      if (g_.type(heads).extents[i] != narrow.extents[from]) return false;
      if (i != at && to.extents[i] != wide.extents[from]) return false;
      if (narrow.extents[from] != wide.extents[from]) return false;
    }
    id = behind_widening(heads);
    return true;
  }
  static constexpr int64 heads_of(const tensor_type& t) {
    int64 count = 1;
    for (int i = 0; i < t.rank - 2; ++i) count *= t.extents[i].bound();
    return count;
  }

 private:
  constexpr uint32 first(uint32 id) const { return *g_.first_operand(id); }
  constexpr bool only_heads_stretch(uint32 id) const {
    const tensor_type &to = g_.type(id), &from = g_.type(first(id));
    return from.rank >= 2 && from.extents[from.rank - 2] == to.extents[to.rank - 2] && from.last() == to.last();
  }

  const graph_view& g_;
};

}  // namespace poot::pass::detail
