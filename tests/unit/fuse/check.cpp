#include <doctest/doctest.h>

#include <poot/fuse/check.hpp>
#include <poot/ir/parse.hpp>
#include <poot/ir/print.hpp>

#include <support/fusion_draws.hpp>

#include "region_rules.hpp"

#include <cstdlib>
#include <string>

using namespace poot;
using region_rules::no_region;

namespace {

std::string printed(const ir::graph_view& g) { return std::string(ir::print(g).str()); }

std::string described(const ir::graph_view& g, const std::vector<uint32>& region_of) {
  std::string s = printed(g);
  for (uint32 id = 0; id < g.size(); ++id)
    if (region_of[id] != no_region) s += std::to_string(id) + " " + std::string(ir::name(g[id].kind)) + " in " + std::to_string(region_of[id]) + "\n";
  return s;
}

fuse::rules drawn_rules(poot_tests::fusion_draws& d) {
  fuse::rules r;
  r.sibling_heads = d.chance(70);
  r.side_by_side = d.chance(70);
  r.row_prologue = d.chance(70);
  if (d.chance(20)) r.max_prologue_rows = 4;
  if (d.chance(20)) r.max_prologue_bytes = 4 * d.below(80);
  r.row_epilogue = d.chance(70);
  if (d.chance(20)) r.max_run = 4;
  r.tails = d.chance(70);
  r.with_broadcast = d.chance(80);
  r.fuse_narrow_casts = d.chance(30);
  r.horizontal = d.chance(50);
  r.small_outputs = d.chance(30);
  if (d.chance(30)) r.max_buffers = static_cast<uint32>(2 + d.below(5));
  if (d.chance(20)) r.max_members = static_cast<uint32>(2 + d.below(4));
  if (d.chance(40)) r.max_recomputed_flops = d.below(400);
  return r;
}

/// A random graph, whose matmuls are those of matrix units in one of four.
ir::graph drawn_graph(poot_tests::fusion_draws& d, int ops, uint64 seed) {
  ir::graph g = d.make(ops, seed % 3 == 0);
  for (ir::eqn& e : g.eqns) e.sum.hardware = seed % 4 == 1 && e.kind == ir::op::matmul;
  return g;
}

bool accepts(const ir::graph_view& g, const std::vector<uint32>& region_of, const fuse::rules& r) {
  return fuse::check_partition(g, {region_of.data(), region_of.size()}, r).legal();
}

/// Numbers regions from 0 without gaps, in order of their first member.
void renumber(std::vector<uint32>& region_of) {
  std::vector<uint32> names;
  for (uint32& r : region_of) {
    if (r == no_region) continue;
    size_t at = 0;
    while (at < names.size() && names[at] != r) ++at;
    if (at == names.size()) names.push_back(r);
    r = static_cast<uint32>(at);
  }
}

}  // namespace

// Which reasons the check has given, over all cases of this file.
static bool given[32];

static bool agrees(const ir::graph_view& g, const region_rules::facts& f, const std::vector<uint32>& region_of, const fuse::rules& r, bool& legal) {
  legal = region_rules::is_legal(f, region_of, r);
  const fuse::finding found = fuse::check_partition(g, {region_of.data(), region_of.size()}, r);
  given[static_cast<int>(found.why)] = true;
  if (legal == found.legal()) return true;
  CHECK_MESSAGE(false, "the slow checker says " << (legal ? std::string("legal") : std::string("illegal")) << ", the check " << fuse::explain(found.why) << "\n"
                                                << described(g, region_of));
  return false;
}

TEST_CASE("agrees with the slow checker on every partition of small graphs") {
  const bool thorough = std::getenv("POOT_LONG");
  const int graphs = thorough ? 5000 : 600, most_ops = thorough ? 9 : 7;
  int64 legal = 0, illegal = 0, wrong = 0;
  for (int seed = 0; seed < graphs && !wrong; ++seed) {
    poot_tests::fusion_draws d(1000 + static_cast<uint64>(seed));
    const ir::graph g = drawn_graph(d, 3 + d.below(most_ops - 2), static_cast<uint64>(seed));
    const region_rules::facts f(g);
    const fuse::rules r = drawn_rules(d);
    std::vector<uint32> ops, views;
    for (uint32 id = 0; id < g.size(); ++id) {
      if (f.computes[id]) ops.push_back(id);
      if (g.eqns[id].kind == ir::op::reshape) views.push_back(id);
    }
    if (ops.empty() || static_cast<int>(ops.size()) > most_ops) continue;
    // restricted growth strings: the region of each op is at most one beyond those before it
    std::vector<uint32> region_of(g.size(), no_region), highest(ops.size(), 0);
    for (uint32 id : ops) region_of[id] = 0;
    for (bool more = true; more && !wrong;) {
      bool expected = false;
      wrong += !agrees(g, f, region_of, r, expected);
      (expected ? legal : illegal) += 1;
      for (uint32 seen : views) {  // one of them in the region of what it shows
        region_of[seen] = region_of[g.view_of().operands(seen)[0]];
        if (!wrong) wrong += !agrees(g, f, region_of, r, expected);
        (expected ? legal : illegal) += 1;
        region_of[seen] = no_region;
      }
      size_t at = ops.size() - 1;
      while (at > 0 && region_of[ops[at]] > highest[at - 1]) --at;
      more = at > 0;
      if (!more) break;
      ++region_of[ops[at]];
      highest[at] = std::max(highest[at - 1], region_of[ops[at]]);
      for (size_t i = at + 1; i < ops.size(); ++i) {
        region_of[ops[i]] = 0;
        highest[i] = highest[i - 1];
      }
    }
  }
  CHECK(wrong == 0);
  CHECK(legal > 3000);
  CHECK(illegal > 3000);
}

TEST_CASE("accepts none of many mutated partitions of larger graphs that the slow checker refuses") {
  const int64 wanted = std::getenv("POOT_LONG") ? 2000000 : 100000;
  int64 regions_tried = 0, legal = 0, illegal = 0, wrong = 0;
  for (uint64 seed = 0; regions_tried < wanted && !wrong; ++seed) {
    poot_tests::fusion_draws d(50000 + seed);
    const ir::graph g = drawn_graph(d, 30 + d.below(31), seed);
    if (g.size() >= region_rules::most) continue;
    const region_rules::facts f(g);
    const fuse::rules r = drawn_rules(d);
    const fuse::partition chosen = fuse::choose_regions(g, r);
    const std::vector<uint32> start(chosen.region_of.begin(), chosen.region_of.end());
    CHECK_MESSAGE(region_rules::is_legal(f, start, r), "seed " << seed << ": an illegal choice\n" << described(g, start));
    std::vector<uint32> ops, views;
    for (uint32 id = 0; id < g.size(); ++id) {
      if (f.computes[id]) ops.push_back(id);
      if (g.eqns[id].kind == ir::op::reshape) views.push_back(id);
    }
    const auto any_op = [&] { return ops[d.d.less_than(ops.size())]; };
    for (int round = 0; round < 150; ++round, ++regions_tried) {
      std::vector<uint32> mutated = start;
      for (int change = 1 + (d.below(4) == 0); change-- > 0;) {
        const uint32 a = any_op(), b = any_op();
        const uint32 ra = mutated[a], rb = mutated[b];
        uint32 neighbour = a;  // mutants along an edge are legal more often
        for (uint32 in : g.view_of().operands(a))
          if (f.computes[in]) neighbour = in;
        if (!views.empty() && d.chance(15)) {
          const uint32 seen = views[d.d.less_than(views.size())], in = g.view_of().operands(seen)[0];
          mutated[seen] = d.chance(60) ? mutated[in] : no_region;
          renumber(mutated);
          continue;
        }
        switch (d.below(6)) {
          case 0:
            for (uint32& x : mutated) x = x == ra ? rb : x;
            break;
          case 1: {
            const uint32 into = mutated[neighbour];
            for (uint32& x : mutated) x = x == ra ? into : x;
            break;
          }
          case 2: mutated[a] = rb; break;
          case 3: mutated[a] = mutated[neighbour]; break;
          case 4:
            for (uint32 id : ops)
              if (mutated[id] == ra && d.chance(50)) mutated[id] = static_cast<uint32>(g.size() + 5);
            break;
          default: std::swap(mutated[a], mutated[b]);
        }
        renumber(mutated);
      }
      bool expected = false;
      if (!wrong) wrong += !agrees(g, f, mutated, r, expected);
      (expected ? legal : illegal) += 1;
    }
  }
  CHECK(wrong == 0);
  CHECK(legal > wanted / 20);
  CHECK(illegal > wanted / 20);
}

TEST_CASE("gives every reason somewhere in the two cases above") {
  for (int why = 0; why <= static_cast<int>(fuse::reason::cycle); ++why)
    CHECK_MESSAGE(given[why], fuse::explain(static_cast<fuse::reason>(why)));
}

TEST_CASE("refuses partitions that are no partitions") {
  const ir::graph g = ir::parse("graph t {\n %x : f32[4] = input \"x\"\n %a : f32[4] = neg %x\n %b : f32[4] = exp %a\n output \"y\" = %b\n}");
  CHECK(accepts(g, {no_region, 0, 0}, {}));
  CHECK(accepts(g, {no_region, 1, 0}, {}));
  CHECK_FALSE(accepts(g, {no_region, 0, no_region}, {}));  // an equation in no region
  CHECK_FALSE(accepts(g, {0, 1, 1}, {}));                  // an input in a region
  CHECK_FALSE(accepts(g, {no_region, 0, 2}, {}));          // a gap
  CHECK_FALSE(accepts(g, {no_region, 0, 0xfffffffeu}, {}));
}
