#pragma once
/// What makes a partition legal, written down a second time with sets and full reachability: slow, and plain to see.

#include "region_facts.hpp"

namespace region_rules {

/// Do the members, apart from `m`, keep to one space? `again` counts flops spent again.
inline bool keeps_one_space(const facts& f, const members& m, const fuse::rules& r, const std::set<uint32>& inside, int64& again);

/// Parts that do not read each other, heads with tails and pointwise regions; no update may overwrite what another reads.
inline bool stand_beside(const facts& f, const members& m, const fuse::rules& r) {
  const std::vector<members> parts = components(f, m);
  if (f.written(m) > r.max_members || (parts.size() > 1 && !(r.side_by_side && r.horizontal))) return false;
  const std::set<uint32> inside(m.begin(), m.end());
  for (const members& part : parts) {
    int64 again = 0;
    if (!f.computes[part[0]]) return false;
    if (f.g[part[0]].kind == op::random_uniform && part.size() == 1) continue;
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

/// `again` counts flops spent again.
inline bool is_region(const facts& f, const members& m, const fuse::rules& r, int64& again);
inline bool is_region(const facts& f, const members& m, const fuse::rules& r) {
  int64 again = 0;
  return is_region(f, m, r, again);
}

/// What is joined with the left operands of products, apart from products and what is made of them.
inline members ahead_of_products(const facts& f, const members& all) {
  std::set<uint32> behind, ahead;
  for (uint32 id : all) {
    bool made = part_of(f, id) == part::contraction;
    for (uint32 in : f.g.operands(id)) made = made || behind.count(in);
    if (made) behind.insert(id);
  }
  members others;
  for (uint32 id : all)
    if (!behind.count(id)) others.push_back(id);
  for (const members& joined : components(f, others))
    for (uint32 id : all)
      if (part_of(f, id) == part::contraction && std::count(joined.begin(), joined.end(), f.g.operands(id)[0])) ahead.insert(joined.begin(), joined.end());
  return members(ahead.begin(), ahead.end());
}

/// Rows in front of products: all that the left operands are made of inside. It alone is a region of rows, and of it only its last
/// value is read by the others, by products of one matrix each. It has results of its own only if a product has some for every row.
inline bool is_prologue(const facts& f, const members& rows, const std::set<uint32>& inside, const std::vector<uint32>& products, const fuse::rules& r) {
  const std::set<uint32> own(rows.begin(), rows.end());
  if (!r.row_prologue || !r.horizontal || products.empty() || !is_region(f, rows, r)) return false;
  const bool reduces = std::any_of(rows.begin(), rows.end(), [&](uint32 id) { return part_of(f, id) == part::row; });
  if (!reduces || std::any_of(rows.begin(), rows.end(), [&](uint32 id) { return part_of(f, id) == part::contraction; })) return false;
  const uint32 last = f.g.operands(products[0])[0];
  bool sure = false;  // of a result for every row
  for (uint32 id : products) sure = sure || extents(f.g.type(id)).back() > 0;
  for (uint32 id : rows) {
    if (f.is_output[id] && !sure) return false;
    for (uint32 user : f.users[id]) {
      if (own.count(user)) continue;
      if (!inside.count(user) ? !sure : id != last || !std::count(products.begin(), products.end(), user)) return false;
    }
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

/// Can step `id` stand among rows, which hold floats only and pick none by their bits?
inline bool has_float_lanes(const facts& f, uint32 id) {
  for (uint32 in : f.g.operands(id))
    if (!f.is_float_type(in)) return false;
  return f.is_float_type(id) && f.g[id].kind != op::select;
}

/// Products with what belongs to them, and behind them rows that see one of their results, of a single row, by runs of its columns:
/// through `view`, which nothing else reads. Both alone are regions.
inline bool reduces_runs(const facts& f, const members& all, uint32 view, const fuse::rules& r, int64& again) {
  if (!r.row_epilogue || !r.horizontal || f.g[view].kind != op::reshape || f.is_output[view]) return false;
  const uint32 made = f.g.operands(view)[0];
  std::set<uint32> behind = f.users[view];
  for (bool grew = true; grew;) {  // with what it is joined to otherwise
    grew = false;
    for (uint32 id : all)
      for (uint32 in : f.g.operands(id))
        if (id != view && in != view && std::count(all.begin(), all.end(), in) && behind.count(id) != behind.count(in)) {
          behind.insert(id);
          behind.insert(in);
          grew = true;
        }
  }
  members head, rows;
  for (uint32 id : all)
    if (id != view) (behind.count(id) ? rows : head).push_back(id);
  const auto has = [&](const members& m, part p) { return std::any_of(m.begin(), m.end(), [&](uint32 id) { return part_of(f, id) == p; }); };
  if (rows.size() < behind.size() || !has(rows, part::row) || has(rows, part::contraction) || !has(head, part::contraction)) return false;
  const members before = ahead_of_products(f, head);
  members products;
  for (uint32 id : head)
    if (!std::count(before.begin(), before.end(), id)) products.push_back(id);
  if (!std::count(products.begin(), products.end(), made) || components(f, products).size() != 1) return false;
  const std::vector<int64> whole = extents(f.g.type(made)), runs = extents(f.g.type(view));
  if (f.g.type(made).is_dynamic() || f.g.type(view).is_dynamic() || runs.empty() || whole.empty()) return false;
  int64 kept = runs.back();
  if (kept <= 0 || whole.back() % kept != 0 || kept > r.max_run) return false;
  for (size_t i = 0; i + 1 < whole.size(); ++i)
    if (whole[i] > 1) return false;
  for (uint32 id : products) {
    const ir::eqn& e = f.g[id];
    if (part_of(f, id) != part::contraction) continue;
    if ((e.kind != op::matmul && e.kind != op::packed_contraction) || f.g.operands(id).size() != 2 || e.type.element == dtype::f64) return false;
    if (extents(e.type) != whole) return false;
    if (!before.empty()) kept += count_of(extents(f.g.type(f.g.operands(id)[0])));
    if (!before.empty()) break;
  }
  if (4 * kept > r.max_prologue_bytes) return false;
  for (uint32 id : rows) {
    if (part_of(f, id) == part::row && extents(f.g.type(f.g.operands(id)[0])) != runs) return false;
    if (part_of(f, id) == part::pointwise && (!has_float_lanes(f, id) || !stretches(extents(f.g.type(id)), runs))) return false;
  }
  if (f.g[made].kind == op::cast && f.is_float_type(made) && f.is_float_type(f.g.operands(made)[0]) && f.bytes_each(made) < f.bytes_each(f.g.operands(made)[0]) &&
      !r.fuse_narrow_casts)
    return false;
  fuse::rules each = r;  // the buffers of both count together
  each.max_buffers = static_cast<uint32>(most) * 4;
  for (const members& joined : components(f, rows))  // the view joins them all
    if (f.at_load[head[0]] != f.at_load[joined[0]] || !is_region(f, joined, each, again)) return false;
  return is_region(f, head, each, again) && again <= r.max_recomputed_flops;
}

/// Buffers that a set of equations reads and writes.
inline size_t buffers_of(const facts& f, const members& all) {
  const std::set<uint32> inside(all.begin(), all.end());
  std::set<uint32> read, written;
  for (uint32 id : all) {
    if (f.is_output[id] || std::any_of(f.users[id].begin(), f.users[id].end(), [&](uint32 u) { return !inside.count(u); })) written.insert(id);
    for (uint32 in : f.g.operands(id))
      if (!inside.count(in) && !(f.g[in].kind == op::constant && f.g.attrs(in).size() == 1)) read.insert(in);
  }
  return read.size() + written.size();
}

/// Is one set of equations a region, apart from what runs between?
inline bool is_region(const facts& f, const members& all, const fuse::rules& r, int64& again) {
  if (all.size() == 1) return true;
  if (std::any_of(all.begin(), all.end(), [&](uint32 id) { return stands_aside(f, id); })) return stand_beside(f, all, r);
  if (f.written(all) > r.max_members) return false;
  if (std::any_of(all.begin(), all.end(), [&](uint32 id) { return part_of(f, id) == part::contraction && f.g[id].sum.hardware; })) return false;
  for (uint32 id : all)
    if (!f.computes[id]) return buffers_of(f, all) <= r.max_buffers && reduces_runs(f, all, id, r, again);
  const std::set<uint32> inside(all.begin(), all.end());
  const members rows = ahead_of_products(f, all);
  const std::set<uint32> ahead(rows.begin(), rows.end());
  members m, products;
  for (uint32 id : all)
    if (!ahead.count(id)) {
      m.push_back(id);
      if (part_of(f, id) == part::contraction) products.push_back(id);
    }
  if (!rows.empty() && !is_prologue(f, rows, inside, products, r)) return false;

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
    if (!reductions.empty() && part_of(f, id) == part::pointwise && !has_float_lanes(f, id)) return false;
  }

  if (buffers_of(f, all) > r.max_buffers) return false;

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
