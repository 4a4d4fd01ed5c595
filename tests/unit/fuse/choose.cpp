#include <doctest/doctest.h>

#include <poot/fuse/check.hpp>
#include <poot/ir/parse.hpp>
#include <poot/ir/print.hpp>

#include <support/fusion_draws.hpp>

#include "region_rules.hpp"

#include <string>

using namespace poot;
using fuse::partition;
using fuse::reason;
using fuse::region_kind;
using region_rules::no_region;

namespace {

std::vector<uint32> list(const vec<uint32>& v) { return {v.begin(), v.end()}; }

fuse::rules drawn_rules(poot_tests::fusion_draws& d) {
  fuse::rules r;
  r.with_broadcast = d.chance(80);
  r.fuse_narrow_casts = d.chance(30);
  r.horizontal = d.chance(70);
  r.small_outputs = d.chance(20);
  r.sibling_heads = d.chance(70);
  r.side_by_side = d.chance(70);
  r.row_prologue = d.chance(70);
  if (d.chance(20)) r.max_prologue_rows = 4;
  if (d.chance(20)) r.max_prologue_bytes = 4 * d.below(80);
  r.row_epilogue = d.chance(70);
  if (d.chance(20)) r.max_run = 4;
  r.tails = d.chance(70);
  if (d.chance(20)) r.max_buffers = static_cast<uint32>(3 + d.below(6));
  if (d.chance(20)) r.max_members = static_cast<uint32>(2 + d.below(6));
  if (d.chance(30)) r.max_recomputed_flops = d.below(3000);
  return r;
}

}  // namespace

TEST_CASE("chooses only what is legal, and never more bytes than unfused") {
  size_t fewer = 0, with_rows = 0, with_runs = 0;
  for (uint64 seed = 0; seed < 4000; ++seed) {
    poot_tests::fusion_draws d(200000 + seed);
    const ir::graph g = d.make(4 + d.below(seed % 8 ? 16 : 56));
    if (g.size() >= region_rules::most) continue;
    const region_rules::facts f(g);
    const fuse::rules r = drawn_rules(d);
    const partition p = fuse::choose_regions(g, r), apart = fuse::choose_regions(g, r, false);
    INFO("seed " << seed << "\n" << std::string(ir::print(g).str()));
    CHECK(region_rules::is_legal(f, list(p.region_of), r));
    CHECK(region_rules::is_legal(f, list(apart.region_of), r));
    CHECK(region_rules::bytes_moved(f, list(p.region_of)) <= region_rules::bytes_moved(f, list(apart.region_of)));
    fewer += p.regions.size() < apart.regions.size();
    for (const partition::region& region : p.regions) {
      if (region.kind != region_kind::contraction) continue;
      const fuse::contraction_parts all = fuse::parts_of(g, p.members_of(region));
      with_rows += !all.prologue.empty();
      with_runs += !all.epilogue.empty();
    }
  }
  CHECK(fewer > 2000);
  CHECK(with_rows > 40);
  CHECK(with_runs > 40);
}

TEST_CASE("lists each equation once, in regions that can run in the order given") {
  for (uint64 seed = 0; seed < 1000; ++seed) {
    poot_tests::fusion_draws d(300000 + seed);
    const ir::graph g = d.make(4 + d.below(40));
    const ir::graph_view v = g;
    const region_rules::facts f(g);
    const fuse::rules r = drawn_rules(d);
    const partition p = fuse::choose_regions(g, r, seed % 5 != 0);
    INFO("seed " << seed);
    std::vector<bool> done(g.size());
    for (uint32 id = 0; id < g.size(); ++id) done[id] = !f.computes[id] && v.operands(id).empty();
    size_t listed = 0;
    for (uint32 k = 0; k < p.regions.size(); ++k) {
      const view<uint32> m = p.members_of(p.regions[k]);
      CHECK(m.size() > 0);
      for (size_t i = 0; i < m.size(); ++i, ++listed) {
        if (i) CHECK(m[i - 1] < m[i]);
        CHECK(p.region_of[m[i]] == k);
        CHECK(p.regions[k].prologue == f.at_load[m[i]]);
        for (uint32 in : v.operands(m[i])) {
          while (!f.computes[in] && p.region_of[in] == no_region && !v.operands(in).empty()) in = v.operands(in)[0];  // behind views
          CHECK((done[in] || p.region_of[in] == k));
        }
      }
      for (uint32 id : m) done[id] = true;
    }
    for (uint32 id = 0; id < g.size(); ++id) {
      listed += p.region_of[id] == no_region;
      CHECK((p.region_of[id] != no_region || !f.computes[id]));
    }
    CHECK(listed == g.size());
  }
}

TEST_CASE("declines name edges between two regions that cannot be one") {
  size_t declines = 0;
  for (uint64 seed = 0; seed < 500; ++seed) {
    poot_tests::fusion_draws d(400000 + seed);
    const ir::graph g = d.make(4 + d.below(30));
    const region_rules::facts f(g);
    if (g.size() >= region_rules::most) continue;
    const fuse::rules r = drawn_rules(d);
    const partition p = fuse::choose_regions(g, r);
    for (const fuse::decline& x : p.declines) {
      ++declines;
      bool is_edge = false;  // through views, of which none is a region's
      for (uint32 in : g.view_of().operands(x.consumer)) is_edge = is_edge || in == x.producer || fuse::grouping(g).behind_views(in) == x.producer;
      CHECK(is_edge);
      CHECK(p.region_of[x.producer] != p.region_of[x.consumer]);
      CHECK(x.why != reason::none);
      CHECK(x.why != reason::boundary);
    }
  }
  CHECK(declines > 500);
}

TEST_CASE("plans the same each time") {
  fuse::rules apart;
  apart.horizontal = false;
  for (uint64 seed = 0; seed < 200; ++seed) {
    poot_tests::fusion_draws d(500000 + seed);
    const ir::graph g = d.make(4 + d.below(20));
    const partition once = fuse::choose_regions(g, apart), again = fuse::choose_regions(g, apart);
    CHECK(once.members == again.members);
    CHECK(once.region_of == again.region_of);
  }
}

TEST_CASE("visits a number of equations that grows with the graph, not its square") {
  // A side branch at every step of a chain: were the walk for cycles not bounded, this would take minutes.
  for (int steps : {200, 20000}) {
    ir::graph g;
    uint32 at = g.leaf(ir::op::input, type_of(f32, 8, 8), {}, "x");
    for (int i = 0; i < steps; ++i) {
      const int64 perm[2] = {1, 0};
      const uint32 turned = g.apply(ir::op::transpose, {&at, 1}, {perm, 2});
      const uint32 pair[2] = {at, turned};
      at = g.apply(ir::op::add, {pair, 2});
    }
    g.add_output("y", at);
    CHECK(fuse::choose_regions(g, {}).regions.size() == static_cast<size_t>(2 * steps));
  }
  // One value read at every step, as layers read a table: each reader tries to join the one before, not the first of all.
  for (int steps : {200, 20000}) {
    ir::graph g;
    const uint32 table = g.leaf(ir::op::input, type_of(f32, 8, 8), {}, "table");
    uint32 at = table;
    for (int i = 0; i < steps; ++i) {
      const int64 perm[2] = {1, 0};
      const uint32 turned = g.apply(ir::op::transpose, {&at, 1}, {perm, 2});
      const uint32 pair[2] = {turned, table};
      at = g.apply(ir::op::add, {pair, 2});
    }
    g.add_output("y", at);
    CHECK(fuse::choose_regions(g, {}).regions.size() == static_cast<size_t>(2 * steps));
  }
}

TEST_CASE("joins what is independent over one space, however many spaces lie between") {
  // 40,000 spaces, each looked for among all those before it one by one, would take seconds.
  constexpr int64 spaces = 40000;
  ir::graph g;
  for (const char* round : {"a", "b"})
    for (int64 n = 1; n <= spaces; ++n) {
      const uint32 x = g.leaf(ir::op::input, type_of(f32, n), {}, round + std::to_string(n));
      g.add_output("y." + std::string(round) + std::to_string(n), g.apply(ir::op::exp, {&x, 1}));
    }
  CHECK(fuse::choose_regions(g, {}).regions.size() == spaces);
}
