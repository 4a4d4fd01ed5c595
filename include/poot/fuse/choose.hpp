#pragma once
/// Which legal regions to take: greedily along the edges, those first that save a write and a read, then those that save
/// a read, each in order of definition; then sideways between regions that read a value in the same way; then rows behind
/// products whose runs they reduce, and before the products that read them. Ties break on equation id, so a plan never depends on addresses.

#include <poot/core/ascending.hpp>
#include <poot/core/hash_index.hpp>
#include <poot/fuse/legal.hpp>

namespace poot::fuse {

/// The regions of a graph in an order in which they can run.
struct partition {
  struct region {
    region_kind kind = region_kind::pointwise;
    bool prologue = false;
    tensor_type space{};
    ir::slice_of members{};  ///< of `members`, ascending
  };
  vec<region> regions;
  vec<uint32> members;
  vec<uint32> region_of;  ///< per equation; `grouping::none` where it needs no region
  vec<decline> declines;

  constexpr view<uint32> members_of(const region& r) const {
    return view<uint32>(members).subview(r.members.first, r.members.count);
  }
};

namespace detail {

/// Is `producer` read by one group only? Then joining it there saves writing it and reading it back; else only reading.
constexpr bool is_private(const grouping& groups, uint32 producer, uint32 consumer_root) {
  if (groups.is_output(producer)) return false;
  const uint32* const user = groups.first_user(producer);
  for (uint32 k = 0, count = groups.user_count(producer); k < count; ++k)
    if (!groups.grouped(user[k]) || groups.root(user[k]) != consumer_root) return false;
  return true;
}

/// One sweep over the edges in order of definition; the first sweep takes only those that save most.
constexpr void fuse_edges(const grouping& groups, legality& legal, bool private_only, vec<decline>& declines) {
  const graph_view& g = groups.g;
  for (uint32 id = 0; id < g.size(); ++id) {
    if (!groups.grouped(id)) continue;
    const uint32* const operands = g.first_operand(id);
    for (uint32 k = 0, count = g.operand_count(id); k < count; ++k) {
      const uint32 in = operands[k];
      if (!groups.grouped(in)) continue;
      const uint32 a = groups.root(in), b = groups.root(id);
      if (a == b || (private_only && !is_private(groups, in, b))) continue;
      const verdict v = legal.join(a, b);
      if (v.legal() || private_only || v.why == reason::boundary) continue;
      bool listed = false;  // an equation may read a value twice
      for (size_t i = declines.size(); i-- > 0 && declines[i].consumer == id;) listed |= declines[i].producer == in;
      if (!listed) declines.push_back({in, id, v.why});
    }
  }
}

/// Pointwise regions over one space that read the same value.
constexpr void fuse_siblings(const grouping& groups, legality& legal) {
  const graph_view& g = groups.g;
  for (uint32 id = 0; id < g.size(); ++id) {
    uint32 first = grouping::none;
    const uint32* const users = groups.first_user(id);
    for (uint32 k = 0, count = groups.user_count(id); k < count; ++k) {
      const uint32 user = users[k];
      if (!groups.grouped(user)) continue;
      const uint32 r = groups.root(user);
      if (groups.of(r).kind != region_kind::pointwise) continue;
      if (first == grouping::none) {
        first = user;
        continue;
      }
      const uint32 a = groups.root(first);
      if (a == r || !groups.space(a).same_extents(groups.space(r))) continue;
      if (!legal.join(a, r).legal()) first = user;  // whoever reads it later stands nearer to this one
    }
  }
}

/// Products of one left operand, neighbours in order of definition.
constexpr void fuse_sibling_heads(const grouping& groups, legality& legal) {
  const graph_view& g = groups.g;
  for (uint32 id = 0; id < g.size(); ++id) {
    uint32 first = grouping::none;
    for (uint32 user : groups.users(id)) {
      if (!groups.grouped(user) || !is_plain_product(g, user) || g.first_operand(user)[0] != id) continue;
      const uint32 r = groups.root(user);
      if (first == grouping::none || (groups.root(first) != r && !legal.join(groups.root(first), r).legal())) first = user;
    }
  }
}

/// Elements up to which a launch costs more than the work it saves to keep independent regions apart.
inline constexpr int64 small_space = 65536;

/// Does it read memory that an update may overwrite? When it runs decides whether one does so in place.
constexpr bool reads_state(const grouping& groups, uint32 id) {
  for (uint32 in : groups.g.operands(id)) {
    const op o = groups.g[groups.behind_views(in)].kind;
    if (o == op::state || o == op::dynamic_update_slice) return true;
  }
  return false;
}
/// Movements, ropes and attention with what can stand in a tail behind them.
constexpr void fuse_tails(const grouping& groups, legality& legal, vec<decline>& declines) {
  const graph_view& g = groups.g;
  for (uint32 id = 0; id < g.size(); ++id) {
    if (!groups.grouped(id)) continue;
    const uint32 from = legal.tail_source(id);
    if (from == grouping::none) continue;
    const bool is_operand = g.first_operand(id)[tail_operand(g, id)] == from;
    const verdict v = legal.join_tail(from, id);
    if (!v.legal() && v.why != reason::boundary && relocates(g, id) && is_operand) declines.push_back({from, id, v.why});
  }
}

/// What a group of movements may stand beside, by what its members do.
enum class beside : uint8 { nothing, rows, moves };
constexpr beside side_of(const grouping& groups, uint32 root) {
  const summary& own = groups.of(root);
  const bool computes = own.kind == region_kind::pointwise || own.kind == region_kind::generator;
  if (!stands_side_by_side(own.kind) && (!computes || own.prologue)) return beside::nothing;
  bool rows = false, is_small = true, reads = false;
  for (uint32 id = root, first = root;;) {
    const op o = groups.g[id].kind;
    if (o == op::dynamic_update_slice && !groups.is_update_in_place(id)) return beside::nothing;
    rows = rows || o == op::rope || o == op::dynamic_update_slice;
    is_small = is_small && (o == op::random_uniform || groups.g.type(id).element_count() <= small_space);
    reads = reads || (o != op::dynamic_update_slice && reads_state(groups, id));
    id = groups.next_in_ring(id);
    if (id == first) break;
  }
  if (reads) return beside::nothing;
  return rows ? beside::rows : is_small ? beside::moves : beside::nothing;
}

/// Ropes and updates of caches, and small movements with small pointwise regions and random numbers, however many, each with the latest one before it that it
/// does not depend on.
constexpr void fuse_side_by_side(const grouping& groups, legality& legal) {
  const graph_view& g = groups.g;
  uint32 rows = grouping::none, moves = grouping::none;  // the latest of each
  for (uint32 id = 0; id < g.size(); ++id) {
    if (!groups.grouped(id) || groups.root(id) != id) continue;
    const beside side = side_of(groups, id);
    if (side == beside::nothing) continue;
    uint32& latest = side == beside::rows ? rows : moves;
    if (latest == grouping::none || !legal.join(groups.root(latest), id).legal()) latest = id;
  }
}

/// Operations of the op table for an element of a row up to which it is computed again by every workgroup: beside them, each
/// spends two for every column that it computes, about 64.
inline constexpr int64 cheap_row = 32;

constexpr bool is_cheap(const grouping& groups, uint32 row) {
  int64 flops = 0;
  groups.each_member(row, [&](uint32 id) {
    const eqn& e = groups.g[id];
    flops += e.custom ? e.custom->flops : ir::row(e.kind).flops;
    return true;
  });
  return flops <= cheap_row;
}

/// Row regions before the products that alone read their results. `declines` ascend by consumer.
constexpr void fuse_row_prologues(const grouping& groups, legality& legal, vec<decline>& declines) {
  const graph_view& g = groups.g;
  for (uint32 id = 0; id < g.size(); ++id) {
    if (!is_plain_product(g, id)) continue;
    const uint32 left = g.first_operand(id)[0];
    if (!groups.grouped(left)) continue;
    const uint32 row = groups.root(left), head = groups.root(id);
    if (row == head || groups.of(row).kind != region_kind::row) continue;
    const reason why = is_cheap(groups, row) ? legal.join_prologue(row, head).why : reason::recompute_cost;
    if (why == reason::none) continue;
    const auto count = static_cast<uint32>(declines.size());
    uint32 low = first_not_before(count, [&](uint32 at) { return declines[at].consumer < id; });
    for (; low < declines.size() && declines[low].consumer == id; ++low)
      if (declines[low].producer == left) declines[low].why = why;
  }
}

/// Row regions behind products, of whose results they reduce runs of columns.
constexpr void fuse_row_epilogues(const grouping& groups, legality& legal, vec<decline>& declines) {
  for (uint32 id = 0; id < groups.g.size(); ++id) {
    if (!groups.grouped(id) || groups.root(id) != id || groups.of(id).kind != region_kind::row) continue;
    const uint32 runs = runs_of_products(groups, id);
    if (runs == grouping::none) continue;
    const reason why = legal.join_epilogue(id, runs).why;
    if (why == reason::none || why == reason::two_heads) continue;
    for (uint32 reader : groups.users(runs))
      if (groups.grouped(reader) && groups.root(reader) == groups.root(id)) {
        declines.push_back({*groups.g.first_operand(runs), reader, why});
        break;
      }
  }
}

/// Independent pointwise regions over equal small spaces: one launch with several results.
constexpr void fuse_independent(const grouping& groups, legality& legal) {
  const graph_view& g = groups.g;
  vec<uint32> heads;  // one member of the latest region of each space
  hash_index spaces;  // of heads
  for (uint32 id = 0; id < g.size(); ++id) {
    if (!groups.grouped(id) || groups.root(id) != id) continue;
    const summary& own = groups.of(id);
    const tensor_type& space = groups.space(own);
    if (own.kind != region_kind::pointwise || own.prologue || space.element_count() > small_space) continue;
    uint64 hash = space.rank;
    for (int i = 0; i < space.rank; ++i) hash = mix(hash, static_cast<uint64>(space.extents[i].code));
    const uint32 at = spaces.find(hash, [&](uint32 k) { return groups.space(groups.root(heads[k])).same_extents(space); });
    if (at == hash_index::none) {
      spaces.insert(hash, static_cast<uint32>(heads.size()));
      heads.push_back(id);
    } else if (!legal.join(groups.root(heads[at]), id).legal()) {
      heads[at] = id;
    }
  }
}

/// Emits groups so that each stands after those it reads, otherwise in order of definition.
class scheduler {
 public:
  constexpr scheduler(const grouping& groups, partition& out) : groups_(groups), out_(out) {
    out_.region_of.resize(groups.g.size(), grouping::none);
    region_of_ = out_.region_of.data();
    out_.members.reserve(groups.g.size());
    for (uint32 id = 0; id < groups.g.size(); ++id)
      if (groups.grouped(id)) emit_with_producers(id);
  }

 private:
  static constexpr uint32 opened = 0xfffffffeu;

  constexpr void emit_with_producers(uint32 id) {
    if (region_of_[groups_.root(id)] != grouping::none) return;
    stack_.push_back(groups_.root(id));
    while (!stack_.empty()) {
      const uint32 root = stack_.back();
      if (region_of_[root] == opened) {
        stack_.pop_back();
        emit(root);
        continue;
      }
      if (region_of_[root] != grouping::none) {
        stack_.pop_back();
        continue;
      }
      region_of_[root] = opened;
      groups_.each_member(root, [&](uint32 member) {
        const uint32* const operands = groups_.g.first_operand(member);
        for (uint32 k = 0, count = groups_.g.operand_count(member); k < count; ++k) {
          const uint32 in = groups_.behind_views(operands[k]);
          if (!groups_.grouped(in)) continue;
          const uint32 producer = groups_.root(in);
          if (producer != root && region_of_[producer] == grouping::none) stack_.push_back(producer);
        }
        return true;
      });
    }
  }

  constexpr void emit(uint32 root) {
    const summary& s = groups_.of(root);
    partition::region r;
    r.kind = s.kind;
    r.prologue = s.prologue;
    r.space = groups_.space(root);
    r.members = {static_cast<uint32>(out_.members.size()), s.members};
    groups_.each_member(root, [&](uint32 member) {
      out_.members.push_back(member);
      return true;
    });
    uint32* const members = out_.members.data() + r.members.first;
    sort(members, s.members);
    for (uint32 k = 0, index = static_cast<uint32>(out_.regions.size()); k < s.members; ++k) region_of_[members[k]] = index;
    out_.regions.push_back(r);
  }

  /// Heap sort, ascending.
  static constexpr void sort(uint32* items, uint32 count) {
    const auto sink = [&](uint32 at, uint32 end) {
      for (uint32 child = 2 * at + 1; child < end; at = child, child = 2 * at + 1) {
        if (child + 1 < end && items[child + 1] > items[child]) ++child;
        if (items[at] >= items[child]) return;
        std::swap(items[at], items[child]);
      }
    };
    for (uint32 at = count / 2; at-- > 0;) sink(at, count);
    for (uint32 end = count; end > 1;) {
      std::swap(items[0], items[--end]);
      sink(0, end);
    }
  }

  const grouping& groups_;
  partition& out_;
  uint32* region_of_ = nullptr;  ///< of out_
  vec<uint32> stack_;
};

}  // namespace detail

/// Partitions `g`; with `fuse` false every equation is a region of its own.
constexpr partition choose_regions(const graph_view& g, const rules& allowed, bool fuse = true) {
  partition out;
  grouping groups(g);
  if (fuse) {
    legality legal(groups, allowed);
    vec<decline> declines;
    if (allowed.tails) detail::fuse_tails(groups, legal, declines);
    detail::fuse_edges(groups, legal, true, declines);
    detail::fuse_edges(groups, legal, false, declines);
    if (allowed.horizontal) {
      if (allowed.sibling_heads) detail::fuse_sibling_heads(groups, legal);
      detail::fuse_siblings(groups, legal);
      detail::fuse_independent(groups, legal);
      if (allowed.side_by_side) detail::fuse_side_by_side(groups, legal);
      vec<decline> behind;
      if (allowed.row_epilogue) detail::fuse_row_epilogues(groups, legal, behind);
      if (allowed.row_prologue) detail::fuse_row_prologues(groups, legal, declines);
      declines.append(behind);
    }
    for (const decline& d : declines)
      if (!groups.grouped(d.consumer) || groups.root(d.producer) != groups.root(d.consumer)) out.declines.push_back(d);
  }
  detail::scheduler(groups, out);
  return out;
}

}  // namespace poot::fuse
