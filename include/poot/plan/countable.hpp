#pragma once
/// Whether the sums that a plan states, of bytes and of flops, fit 64 bits.

#include <poot/ir/graph.hpp>

namespace poot::plan {

inline constexpr std::string_view uncountable = "its equations make more than 2^57 elements, too many to count their bytes";

namespace detail {

inline constexpr int64 work_limit = int64{1} << 57;

/// a · b for numbers from 0 on; `work_limit` + 1 where that is more than the limit.
constexpr int64 limited_product(int64 a, int64 b) {
  if (a == 0 || b == 0) return 0;
  return a > work_limit / b ? work_limit + 1 : a * b;
}

constexpr int64 limited_count(const tensor_type& t) {
  int64 count = 1;
  for (int i = 0; i < t.rank; ++i)
    if (t.extents[i].bound() == 0) return 0;
  for (int i = 0; i < t.rank; ++i) count = limited_product(count, t.extents[i].bound());
  return count;
}

/// Elements that equation `id` makes, or multiply-adds that it takes.
constexpr int64 work_of(const ir::graph_view& g, uint32 id) {
  const ir::eqn& e = g[id];
  int64 work = limited_count(e.type);
  if (e.kind == ir::op::attention_join) return limited_count(g.type(g.operands(e)[0]));
  if (ir::attends(e.kind)) {  // scores, each a sum over the width of q and k and a term for every column of v
    const tensor_type &q = g.type(g.operands(e)[0]), &v = g.type(g.operands(e)[2]);
    const int64 scores = limited_count(q.with(q.rank - 1, v.extents[v.rank - 2]));
    return limited_product(scores, q.last().bound() + v.last().bound() + 1);
  }
  if (!ir::is_contraction(e.kind)) return work;
  if (e.kind != ir::op::conv2d) return limited_product(work, g.type(g.operands(e)[0]).last().bound());
  const tensor_type& window = g.type(g.operands(e)[1]);  // [O, C/g, kh, kw]
  for (int i = 1; i < 4; ++i) work = limited_product(work, window.extents[i].bound());
  return work;
}

}  // namespace detail

/// Whether a verified graph's equations and their readers, each counted as the largest equation, stay within 2^57
/// elements and multiply-adds: with 8 bytes and 40 flops for each, every sum stays below 2^63.
constexpr bool is_countable(const ir::graph_view& g) {
  int64 most = 1;
  for (uint32 id = 0; id < g.size(); ++id) {
    const int64 work = detail::work_of(g, id);
    most = work > most ? work : most;
  }
  const auto readers = static_cast<int64>(g.size() + g.operand_pool.size() + g.outputs.size());
  return detail::limited_product(most, readers) <= detail::work_limit;
}

}  // namespace poot::plan
