#pragma once
/// What the slow checker of regions asks about a graph and about single equations.

#include <poot/fuse/grouping.hpp>

#include <algorithm>
#include <bitset>
#include <set>
#include <vector>

namespace region_rules {

using namespace poot;
using ir::graph_view;
using ir::op;
using members = std::vector<uint32>;

inline constexpr uint32 no_region = 0xffffffffu;
inline constexpr size_t most = 192;  ///< equations of a graph

/// What the rules ask about a graph.
struct facts {
  explicit facts(const graph_view& source) : g(source), users(g.size()), is_output(g.size(), false) {
    for (uint32 id = 0; id < g.size(); ++id)
      for (uint32 in : g.operands(id)) users[in].insert(id);
    for (const ir::graph_output& o : g.outputs) is_output[o.value] = true;
    for (uint32 id = 0; id < g.size(); ++id) {
      bool constant = !(g[id].kind == op::input || g[id].kind == op::weight || g[id].kind == op::state) && !g.type(id).is_dynamic();
      for (uint32 in : g.operands(id)) constant = constant && at_load[in];
      at_load.push_back(constant);
      computes.push_back(needs_work(id));
    }
  }

  const graph_view g;
  std::vector<std::set<uint32>> users;
  std::vector<bool> is_output, at_load, computes;

  /// Members that are not turns after the first (tests/unit/fuse/turns.cpp says what those are).
  size_t written(const std::vector<uint32>& all) const {
    const fuse::grouping singles(g);
    return static_cast<size_t>(std::count_if(all.begin(), all.end(), [&](uint32 id) { return !singles.is_repeated(id); }));
  }

  bool is_float_type(uint32 id) const { return is_float(g.type(id).element); }
  int bytes_each(uint32 id) const { return row(g.type(id).element).block_bytes; }

 private:
  /// Leaves, reshapes, and slices of whole rows that only matmuls read need no work.
  bool needs_work(uint32 id) const {
    const op o = g[id].kind;
    if (o == op::random_uniform) return true;
    if (o == op::input || o == op::weight || o == op::state || o == op::constant || o == op::iota || o == op::reshape) return false;
    if (o != op::slice || is_output[id] || users[id].empty() || g.type(id).rank < 2) return true;
    const int rank = g.type(id).rank;
    for (int i = 0; i < rank; ++i)
      if (g.attrs(id)[static_cast<size_t>(2 * rank + i)] != 1) return true;
    if (g.type(id).extents[rank - 1] != g.type(g.operands(id)[0]).extents[rank - 1]) return true;
    for (uint32 user : users[id])
      if (g[user].kind != op::matmul && g[user].kind != op::attention && !only_attention_reads(id, user)) return true;
    return false;
  }
  /// A view of slice `id` under other axes of 1.
  bool only_attention_reads(uint32 id, uint32 view) const {
    if (g[view].kind != op::reshape || is_output[view] || users[view].empty()) return false;
    const auto kept = [&](uint32 of) {  // the last two extents, and those before that are not 1
      std::vector<int64> all;
      for (int i = 0; i < g.type(of).rank; ++i)
        if (i >= g.type(of).rank - 2 || g.type(of).extents[i] != extent(1)) all.push_back(g.type(of).extents[i].code);
      return all;
    };
    if (g.type(view).rank < 2 || kept(id) != kept(view)) return false;
    return std::all_of(users[view].begin(), users[view].end(), [&](uint32 user) { return g[user].kind == op::attention; });
  }
};

enum class part { pointwise, row, contraction, alone };

inline part part_of(const facts& f, uint32 id) {
  const ir::eqn& e = f.g[id];
  if (ir::is_pointwise(e.kind)) return e.kind == op::cast && is_packed(f.g.type(f.g.operands(id)[0]).element) ? part::alone : part::pointwise;
  if (ir::is_contraction(e.kind)) return part::contraction;
  if (!ir::is_reduction(e.kind)) return part::alone;
  const uint32 in = f.g.operands(id)[0];
  return f.g.attrs(id)[0] == f.g.type(in).rank - 1 && f.is_float_type(in) ? part::row : part::alone;
}

inline std::vector<int64> extents(const tensor_type& t) {
  std::vector<int64> r;
  for (int i = 0; i < t.rank; ++i) r.push_back(t.extents[i].code);
  return r;
}
/// NumPy: does `small` stretch to exactly `big`?
inline bool stretches(const std::vector<int64>& small, const std::vector<int64>& big) {
  if (small.size() > big.size()) return false;
  for (size_t i = 0; i < small.size(); ++i) {
    const int64 have = small[small.size() - 1 - i];
    if (have != 1 && have != big[big.size() - 1 - i]) return false;
  }
  return true;
}

inline int64 count_of(const std::vector<int64>& e) {
  int64 n = 1;
  for (int64 code : e) n *= extent::from_code(code).bound();
  return n;
}

/// Members by the edges among them: each set is what one of them reaches.
inline std::vector<members> components(const facts& f, const members& m) {
  const std::set<uint32> inside(m.begin(), m.end());
  std::set<uint32> left = inside;
  std::vector<members> all;
  while (!left.empty()) {
    std::set<uint32> reached{*left.begin()};
    for (bool grew = true; grew;) {
      grew = false;
      for (uint32 id : m)
        for (uint32 in : f.g.operands(id))
          if (inside.count(in) && reached.count(id) != reached.count(in)) {
            reached.insert(id);
            reached.insert(in);
            grew = true;
          }
    }
    for (uint32 id : reached) left.erase(id);
    all.push_back(members(reached.begin(), reached.end()));
  }
  return all;
}

/// Products of two matrices that read the same rows.
inline bool are_siblings(const facts& f, const std::vector<uint32>& products) {
  for (uint32 id : products) {
    const ir::eqn& e = f.g[id];
    if (e.kind != op::matmul && e.kind != op::packed_contraction) return false;
    if (f.g.operands(id).size() != 2 || e.type.element == dtype::f64 || f.g.operands(id)[0] != f.g.operands(products[0])[0]) return false;
  }
  return true;
}

/// What moves elements, turns pairs of them, or attends, from memory to memory.
inline bool stands_aside(const facts& f, uint32 id) {
  const op o = f.g[id].kind;
  const bool moves = o == op::rope || o == op::attention || o == op::slice || o == op::transpose || o == op::broadcast || o == op::concat || o == op::gather ||
                     o == op::packed_gather || o == op::dynamic_update_slice;
  return moves || (o == op::cast && is_packed(f.g.type(f.g.operands(id)[0]).element));
}

/// Does update `id` surely end up in its state? Nobody else reads that state, and the update is its new value, once.
inline bool overwrites_its_state(const facts& f, uint32 id) {
  const uint32 state = f.g.operands(id)[0];
  if (f.g[id].kind != op::dynamic_update_slice || f.g[state].kind != op::state || f.is_output[state] || f.users[state].size() != 1) return false;
  const view<uint32> in = f.g.operands(id);
  if (in[1] == state || in[2] == state) return false;
  int outputs = 0;
  bool named = false;
  for (const ir::graph_output& o : f.g.outputs) {
    uint32 behind = o.value;
    while (f.g[behind].kind == op::reshape) behind = f.g.operands(behind)[0];
    outputs += behind == id;
    named = named || (behind == id && f.g.chars(o.name) == f.g.name_of(state));
  }
  return outputs == 1 && named;
}

/// A movement, rope or attention, and behind it equations that each take the one before, which nobody else reads.
inline bool is_head_with_tail(const facts& f, const members& m, const fuse::rules& r) {
  if (!stands_aside(f, m[0])) return false;
  const bool attends = f.g[m[0]].kind == op::attention;
  if (m.size() > 1 && (!r.tails || f.g[m[0]].kind == op::dynamic_update_slice || is_packed(f.g.type(m[0]).element))) return false;
  uint32 value = m[0];  // the last one that is no view
  for (size_t k = 1; k < m.size(); ++k) {
    const uint32 id = m[k], before = m[k - 1];
    const op o = f.g[id].kind;
    const bool last = k + 1 == m.size();
    if (f.is_output[before] || f.users[before] != std::set<uint32>{id}) return false;
    const view<uint32> in = f.g.operands(id);
    if (o == op::reshape || o == op::transpose) {
      if (o == op::reshape && last) return false;
      if (o == op::reshape && attends) {  // all heads in one axis, the other two as they were
        const std::vector<int64> was = extents(f.g.type(before)), is = extents(f.g.type(id));
        if (k != 1 || was.size() < 3 || is.size() != 3 || is[1] != was[was.size() - 2] || is[2] != was.back()) return false;
      }
    } else if (o == op::dynamic_update_slice) {
      if (!last || attends || in[1] != before || in[0] == before || in[2] == before || !overwrites_its_state(f, id)) return false;
    } else {
      if (part_of(f, id) != part::pointwise || attends || extents(f.g.type(id)) != extents(f.g.type(before))) return false;
      for (uint32 x : in)
        if (x != before && !(f.g[x].kind == op::constant && f.g.attrs(x).size() == 1)) return false;
      const bool narrows = f.g[value].kind == op::cast && f.is_float_type(value) && f.is_float_type(f.g.operands(value)[0]) &&
                           f.bytes_each(value) < f.bytes_each(f.g.operands(value)[0]);
      if (narrows && !r.fuse_narrow_casts) return false;
    }
    if (o != op::reshape) value = id;
  }
  return true;
}

}  // namespace region_rules
