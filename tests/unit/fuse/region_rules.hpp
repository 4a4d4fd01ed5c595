#pragma once
/// What makes a partition legal, written down a second time with sets and full reachability: slow, and plain to see.

#include <poot/fuse/region.hpp>

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

/// Do the members, apart from `m`, keep to one space? `again` counts flops spent again.
inline bool keeps_one_space(const facts& f, const members& m, const fuse::rules& r, const std::set<uint32>& inside, int64& again);

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

/// Parts that do not read each other, heads with tails and pointwise regions; no update may overwrite what another reads.
inline bool stand_beside(const facts& f, const members& m, const fuse::rules& r) {
  const std::vector<members> parts = components(f, m);
  if (m.size() > r.max_members || (parts.size() > 1 && !(r.side_by_side && r.horizontal))) return false;
  const std::set<uint32> inside(m.begin(), m.end());
  for (const members& part : parts) {
    int64 again = 0;
    if (!f.computes[part[0]]) return false;
    if (stands_aside(f, part[0])) {
      if (!is_head_with_tail(f, part, r) || (parts.size() > 1 && f.g[part[0]].kind == op::attention)) return false;
      continue;
    }
    for (uint32 id : part) {
      if (part_of(f, id) != part::pointwise) return false;
      for (uint32 in : f.g.operands(id)) {
        const bool narrows = f.g[in].kind == op::cast && f.is_float_type(in) && f.is_float_type(f.g.operands(in)[0]) &&
                             f.bytes_each(in) < f.bytes_each(f.g.operands(in)[0]);
        if (narrows && inside.count(in) && !r.fuse_narrow_casts) return false;
      }
    }
    if (!keeps_one_space(f, part, r, inside, again) || again > r.max_recomputed_flops) return false;
  }
  const auto stored = [&](uint32 id) {
    while (!f.computes[id] && !f.g.operands(id).empty()) id = f.g.operands(id)[0];
    return id;
  };
  std::set<uint32> read, written;
  for (uint32 id : m) {
    if (f.computes[id] && f.at_load[id] != f.at_load[m[0]]) return false;
    if (f.is_output[id] || std::any_of(f.users[id].begin(), f.users[id].end(), [&](uint32 u) { return !inside.count(u); })) written.insert(id);
    for (uint32 in : f.g.operands(id)) {
      if (!inside.count(in) && !(f.g[in].kind == op::constant && f.g.attrs(in).size() == 1)) read.insert(in);
      for (uint32 other : m)
        if (other != id && f.g[other].kind == op::dynamic_update_slice && stored(f.g.operands(other)[0]) == stored(in)) return false;
    }
  }
  return read.size() + written.size() <= r.max_buffers;
}

inline bool is_region(const facts& f, const members& m, const fuse::rules& r);

/// Rows in front of products: all that the left operands are made of inside. It alone is a region of rows, all of it is read
/// inside, and outside it only its last value is, by products of one matrix each.
inline bool is_prologue(const facts& f, const members& rows, const std::set<uint32>& inside, const std::vector<uint32>& products, const fuse::rules& r) {
  const std::set<uint32> own(rows.begin(), rows.end());
  if (!r.row_prologue || !r.horizontal || products.empty() || !is_region(f, rows, r)) return false;
  const bool reduces = std::any_of(rows.begin(), rows.end(), [&](uint32 id) { return part_of(f, id) == part::row; });
  if (!reduces || std::any_of(rows.begin(), rows.end(), [&](uint32 id) { return part_of(f, id) == part::contraction; })) return false;
  const uint32 last = f.g.operands(products[0])[0];
  for (uint32 id : rows) {
    if (f.is_output[id]) return false;
    for (uint32 user : f.users[id])
      if (!own.count(user) && !(id == last && inside.count(user) && std::count(products.begin(), products.end(), user))) return false;
    if (part_of(f, id) == part::row && extents(f.g.type(f.g.operands(id)[0])) != extents(f.g.type(last))) return false;
  }
  for (uint32 id : products) {
    const ir::eqn& e = f.g[id];
    const view<uint32> in = f.g.operands(id);
    if ((e.kind != op::matmul && e.kind != op::packed_contraction) || in.size() != 2 || e.type.element == dtype::f64) return false;
    if (in[0] != last || in[1] == last || f.g.type(in[1]).rank != 2) return false;
  }
  std::vector<int64> counted = extents(f.g.type(last));
  if (4 * count_of(counted) > r.max_prologue_bytes) return false;
  counted.pop_back();
  return count_of(counted) <= r.max_prologue_rows;
}

/// Is one set of equations a region, apart from what runs between?
inline bool is_region(const facts& f, const members& all, const fuse::rules& r) {
  if (all.size() == 1) return true;
  if (std::any_of(all.begin(), all.end(), [&](uint32 id) { return stands_aside(f, id); })) return stand_beside(f, all, r);
  if (all.size() > r.max_members) return false;
  const std::set<uint32> inside(all.begin(), all.end());
  std::set<uint32> ahead;  // of the products
  for (size_t k = all.size(); k-- > 0;)
    if (const view<uint32> in = f.g.operands(all[k]); ahead.count(all[k])) {
      for (uint32 id : in)
        if (inside.count(id)) ahead.insert(id);
    } else if (part_of(f, all[k]) == part::contraction && inside.count(in[0])) {
      ahead.insert(in[0]);
    }
  const members rows(ahead.begin(), ahead.end());
  members m, products;
  for (uint32 id : all)
    if (!ahead.count(id)) {
      m.push_back(id);
      if (part_of(f, id) == part::contraction) products.push_back(id);
    }
  if (!rows.empty() && !is_prologue(f, rows, inside, products, r)) return false;
  const auto read_outside = [&](uint32 id) {
    return f.is_output[id] || std::any_of(f.users[id].begin(), f.users[id].end(), [&](uint32 u) { return !inside.count(u); });
  };

  // products of the same rows, or reductions of rows, or neither; the rest is pointwise
  std::vector<uint32> contractions, reductions;
  for (uint32 id : m) {
    const part p = part_of(f, id);
    if (p == part::alone) return false;
    if (p == part::contraction) contractions.push_back(id);
    if (p == part::row) reductions.push_back(id);
  }
  if (!contractions.empty() && !reductions.empty()) return false;
  if (contractions.size() > 1 && !(r.sibling_heads && are_siblings(f, contractions))) return false;
  int64 again = 0;
  if (!rows.empty() && !keeps_one_space(f, rows, r, inside, again)) return false;
  if (contractions.empty()) {
    if (!keeps_one_space(f, m, r, inside, again)) return false;
  } else {
    for (const members& part : components(f, m))
      if (!keeps_one_space(f, part, r, inside, again)) return false;
  }
  if (again > r.max_recomputed_flops) return false;

  for (uint32 id : all) {
    if (f.at_load[id] != f.at_load[m[0]]) return false;
    for (uint32 in : f.g.operands(id)) {
      const bool narrows = f.g[in].kind == op::cast && f.is_float_type(in) && f.is_float_type(f.g.operands(in)[0]) &&
                           f.bytes_each(in) < f.bytes_each(f.g.operands(in)[0]);
      if (narrows && inside.count(in) && !r.fuse_narrow_casts) return false;
    }
    if (!reductions.empty() && part_of(f, id) == part::pointwise) {
      if (f.g[id].kind == op::select && f.is_float_type(id)) return false;
      if (!f.is_float_type(id)) return false;
      for (uint32 in : f.g.operands(id))
        if (!f.is_float_type(in)) return false;
    }
  }

  std::set<uint32> read, written;
  for (uint32 id : all) {
    if (read_outside(id)) written.insert(id);
    for (uint32 in : f.g.operands(id))
      if (!inside.count(in) && !(f.g[in].kind == op::constant && f.g.attrs(in).size() == 1)) read.insert(in);
  }
  if (read.size() + written.size() > r.max_buffers) return false;

  // what does not read each other stands side by side in chains, and in products with what is behind each
  const std::vector<members> parts = components(f, m);
  if (parts.size() > 1 && (!r.horizontal || !reductions.empty())) return false;
  if (parts.size() > 1 && !contractions.empty())
    for (const members& part : parts)
      if (std::none_of(part.begin(), part.end(), [&](uint32 id) { return part_of(f, id) == part::contraction; })) return false;
  return true;
}

inline bool keeps_one_space(const facts& f, const members& m, const fuse::rules& r, const std::set<uint32>& inside, int64& again) {
  const auto read_outside = [&](uint32 id) {
    return f.is_output[id] || std::any_of(f.users[id].begin(), f.users[id].end(), [&](uint32 u) { return !inside.count(u); });
  };
  std::vector<uint32> contractions, reductions;
  for (uint32 id : m) {
    if (part_of(f, id) == part::contraction) contractions.push_back(id);
    if (part_of(f, id) == part::row) reductions.push_back(id);
  }
  std::vector<int64> space, row_value;
  if (!contractions.empty()) {
    space = extents(f.g.type(contractions[0]));
    for (uint32 head : contractions) {
      if (extents(f.g.type(head)) != space || f.g.type(head).element == dtype::f64) return false;
      for (size_t k = 0; k < f.g.operands(head).size(); ++k)  // it reads operands, not values in the making, but for rows before it
        if (const uint32 in = f.g.operands(head)[k]; inside.count(in) && (k > 0 || std::count(m.begin(), m.end(), in))) return false;
    }
  } else if (!reductions.empty()) {
    space = extents(f.g.type(f.g.operands(reductions[0])[0]));
    for (uint32 id : reductions)
      if (extents(f.g.type(f.g.operands(id)[0])) != space) return false;
    row_value = space;
    row_value.back() = 1;
  } else {
    for (uint32 id : m) {  // the extents into which all others stretch
      const std::vector<int64> own = extents(f.g.type(id));
      if (std::all_of(m.begin(), m.end(), [&](uint32 other) { return stretches(extents(f.g.type(other)), own); })) space = own;
    }
    if (space.empty() && !std::all_of(m.begin(), m.end(), [&](uint32 id) { return f.g.type(id).rank == 0; })) return false;
  }
  for (uint32 id : m) {
    const std::vector<int64> own = extents(f.g.type(id));
    if (!stretches(own, space)) return false;
    const std::vector<int64> runs_over = part_of(f, id) == part::row ? extents(f.g.type(f.g.operands(id)[0])) : own;
    if (!r.with_broadcast && runs_over != space) return false;
    if (own == space || (!reductions.empty() && own == row_value)) continue;
    if (!r.small_outputs && read_outside(id)) return false;
    const uint32 source = f.g.operands(id)[0];
    const bool load = f.g[id].kind == op::cast && f.is_float_type(id) && f.is_float_type(source) && ir::is_leaf(f.g[source].kind) &&
                      f.bytes_each(id) > f.bytes_each(source);
    if (!load) again += ir::row(f.g[id].kind).flops * (count_of(space) - count_of(own));
  }
  return true;
}

/// Can the regions run one after the other? What needs no region stands for itself: a region cannot wait for a view of its own value.
inline bool can_run(const facts& f, const std::vector<uint32>& region_of) {
  std::vector<size_t> node(f.g.size());
  size_t regions = 0;
  for (uint32 r : region_of) regions = r == no_region ? regions : std::max<size_t>(regions, r + size_t{1});
  size_t nodes = regions;
  for (uint32 id = 0; id < f.g.size(); ++id) node[id] = region_of[id] == no_region ? nodes++ : region_of[id];
  std::vector<std::bitset<most>> reaches(nodes);
  for (uint32 id = 0; id < f.g.size(); ++id)
    for (uint32 in : f.g.operands(id))
      if (node[in] != node[id]) reaches[node[in]].set(node[id]);
  for (size_t k = 0; k < nodes; ++k)
    for (size_t i = 0; i < nodes; ++i)
      if (reaches[i][k]) reaches[i] |= reaches[k];
  for (size_t i = 0; i < nodes; ++i)
    if (reaches[i][i]) return false;
  return true;
}

/// `region_of[id]`: regions numbered from 0 without gaps, `no_region` where nothing is computed.
inline bool is_legal(const facts& f, const std::vector<uint32>& region_of, const fuse::rules& r) {
  std::vector<members> regions;
  for (uint32 id = 0; id < f.g.size(); ++id) {
    if (f.computes[id] != (region_of[id] != no_region) && (f.computes[id] || f.g[id].kind != op::reshape)) return false;
    if (region_of[id] == no_region) continue;
    if (region_of[id] >= f.g.size()) return false;
    if (regions.size() <= region_of[id]) regions.resize(region_of[id] + size_t{1});
    regions[region_of[id]].push_back(id);
  }
  for (const members& m : regions)
    if (m.empty() || !is_region(f, m, r)) return false;
  return can_run(f, region_of);
}

/// Bytes that the regions move: what each reads from outside once, what is read outside once.
inline int64 bytes_moved(const facts& f, const std::vector<uint32>& region_of) {
  std::set<std::pair<uint32, uint32>> reads;
  std::set<uint32> writes;
  for (uint32 id = 0; id < f.g.size(); ++id) {
    if (region_of[id] == no_region) continue;
    for (uint32 in : f.g.operands(id))
      if (region_of[in] != region_of[id]) reads.insert({region_of[id], in});
    bool leaves = f.is_output[id];
    for (uint32 user : f.users[id]) leaves = leaves || region_of[user] != region_of[id];
    if (leaves) writes.insert(id);
  }
  int64 bytes = 0;
  for (const auto& [region, in] : reads) bytes += f.g.type(in).bytes();
  for (uint32 id : writes) bytes += f.g.type(id).bytes();
  return bytes;
}

}  // namespace region_rules
