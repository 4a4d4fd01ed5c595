#include <doctest/doctest.h>

#include <poot/fuse/fusion_graph.hpp>

#include <support/draws.hpp>

#include <algorithm>
#include <bitset>
#include <set>
#include <string>
#include <vector>

using namespace poot;
using fuse::fusion_graph;
using fuse::fusion_group;
using fuse::fusion_plan;
using fuse::fusion_planner;
using fuse::op_kind;

namespace {

using ids = vec<uint32>;

template <class Build>
constexpr fusion_plan planned(Build build, bool broadcast = true) {
  fusion_graph g;
  build(g);
  return fusion_planner{}.with_broadcast(broadcast).plan(g);
}
constexpr const fusion_group& group_of(const fusion_plan& p, uint32 id) {
  for (const fusion_group& group : p.groups)
    for (uint32 m : group.members)
      if (m == id) return group;
  fail("an op without a group");
}

constexpr auto chain = [](fusion_graph& g) {  // ((x + y) · 2) exp
  const uint32 x = g.add(op_kind::source, {}, {1024}), y = g.add(op_kind::source, {}, {1024});
  const uint32 a = g.add(op_kind::add, {x, y}, {1024}), b = g.add(op_kind::scale, {a}, {1024});
  g.add(op_kind::exp, {b}, {1024});
};
constexpr auto diamond_with_barrier = [](fusion_graph& g) {  // e reads b and the sum over b: fusing b and e would enclose it
  const uint32 x = g.add(op_kind::source, {}, {8, 8});
  const uint32 b = g.add(op_kind::exp, {x}, {8, 8});
  const uint32 r = g.add(op_kind::reduce, {b}, {8, 1});
  g.add(op_kind::div, {b, r}, {8, 8});
};
constexpr auto escaping = [](fusion_graph& g) {  // b is read by c, and by a matmul
  const uint32 x = g.add(op_kind::source, {}, {8, 8});
  const uint32 b = g.add(op_kind::exp, {x}, {8, 8});
  g.add(op_kind::neg, {b}, {8, 8});
  g.add(op_kind::matmul, {b, x}, {8, 8});
};
constexpr auto bias = [](fusion_graph& g) {
  const uint32 x = g.add(op_kind::source, {}, {8, 4}), v = g.add(op_kind::source, {}, {4});
  const uint32 n = g.add(op_kind::neg, {v}, {4});
  g.add(op_kind::add, {x, n}, {8, 4});
};

}  // namespace

// "Each op has a stable id equal to its insertion index"; "product(output_shape) * dtype_bytes; an empty shape is a scalar".
static_assert([] {
  fusion_graph g;
  const bool counted = g.add(op_kind::source, {}, {}) == 0 && g.add(op_kind::neg, {0}, {2, 3}, 2) == 1 && g.ops()[1].id == 1;
  return counted && g.output_bytes(0) == 4 && g.output_bytes(1) == 12;
}());

// "barrier ops (MatMul, Reduce, Transpose) can never join an elementwise group"
static_assert(fuse::is_fusible(op_kind::neg) && fuse::is_fusible(op_kind::select) && fuse::is_fusible(op_kind::cast) &&
              fuse::is_fusible(op_kind::pow) && fuse::is_fusible(op_kind::gelu));
static_assert(!fuse::is_fusible(op_kind::matmul) && !fuse::is_fusible(op_kind::reduce) && !fuse::is_fusible(op_kind::transpose) &&
              !fuse::is_fusible(op_kind::source));

// "greedily merging fusible producer → consumer edges": sources stay alone, the chain is one group.
static_assert([] {
  const fusion_plan p = planned(chain);
  return p.groups.size() == 3 && group_of(p, 2).members == ids{2, 3, 4} && group_of(p, 2).outputs == ids{4} &&
         group_of(p, 0).members == ids{0} && group_of(p, 0).outputs == ids{0};
}());

// "for every op, read each of its distinct inputs once and write its output once": x, y; a reads 2, writes 1; b 1+1; c 1+1.
static_assert(planned(chain).bytes_unfused == 4096 * (1 + 1 + 3 + 2 + 2));
// "for every group, the external inputs once and the external outputs": x, y; 2 in and 1 out.
static_assert(planned(chain).bytes_fused == 4096 * (1 + 1 + 3));
static_assert(planned(chain).speedup_estimate() == 9.0 / 5.0);

// a tensor read twice by one op counts once
static_assert(planned([](fusion_graph& g) {
                const uint32 x = g.add(op_kind::source, {}, {16});
                g.add(op_kind::mul, {x, x}, {16});
              }).bytes_unfused == 64 * 3);

// "Greedily merging can otherwise sandwich a barrier group between two halves of an elementwise group"
static_assert([] {
  const fusion_plan p = planned(diamond_with_barrier);
  return p.groups.size() == 4 && group_of(p, 1).members == ids{1} && group_of(p, 3).members == ids{3} && group_of(p, 2).members == ids{2};
}());

// "an intermediate consumed by an op outside the group is marked as a group output, never dropped"
static_assert([] {
  const fusion_plan p = planned(escaping);
  return group_of(p, 1).members == ids{1, 2} && group_of(p, 1).outputs == ids{1, 2} && p.groups.size() == 3;
}());

// "broadcast-compatible (NumPy rule, optional via with_broadcast)"
static_assert(group_of(planned(bias), 3).members == ids{2, 3});
static_assert(group_of(planned(bias, false), 3).members == ids{3} && planned(bias, false).groups.size() == 4);
static_assert(planned(bias).bytes_fused == (128 + 16) + (128 + 16) + 128);
static_assert([] {  // no broadcasting between these two
  const fusion_plan p = planned([](fusion_graph& g) {
    const uint32 x = g.add(op_kind::source, {}, {6});
    const uint32 a = g.add(op_kind::neg, {x}, {6});
    g.add(op_kind::exp, {a}, {4});
  });
  return p.groups.size() == 3;
}());

// "speedup_estimate >= 1"; of nothing moved it is 1
static_assert(planned([](fusion_graph&) {}).speedup_estimate() == 1.0 && planned([](fusion_graph&) {}).groups.empty());
static_assert([] {
  const fusion_plan p = planned([](fusion_graph& g) { g.add(op_kind::exp, {g.add(op_kind::source, {}, {0, 4})}, {0, 4}); });
  return p.bytes_unfused == 0 && p.bytes_fused == 0 && p.speedup_estimate() == 1.0;
}());
// no elements are no bytes, however large the other extents
static_assert([] {
  fusion_graph g;
  g.add(op_kind::source, {}, {int64{1} << 40, int64{1} << 40, 0});
  g.add(op_kind::source, {}, {0, int64{1} << 40, int64{1} << 40});
  g.validate();
  return g.output_bytes(0) == 0 && g.output_bytes(1) == 0;
}());
// a group has no size limit
static_assert(planned([](fusion_graph& g) {
                uint32 at = g.add(op_kind::source, {}, {4});
                for (int i = 0; i < 40; ++i) at = g.add(op_kind::exp, {at}, {4});
              }).groups.size() == 2);

namespace {

template <class Build>
std::string refusal(Build build) {
  fusion_graph g;
  build(g);
  try {
    fusion_planner{}.plan(g);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}
bool says(const std::string& message, const char* part) { return message.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("validate refuses inputs that are no earlier op, shapes too long, and bytes beyond 64 bits") {
  const auto one = [](std::initializer_list<uint32> inputs, std::initializer_list<int64> shape, int64 each = 4) {
    return refusal([&](fusion_graph& g) {
      g.add(op_kind::source, {}, {4});
      g.add(op_kind::neg, inputs, shape, each);
    });
  };
  CHECK(one({0}, {4}) == "");
  CHECK(says(one({2}, {4}), "op 1 reads op 2"));      // unknown
  CHECK(says(one({1}, {4}), "op 1 reads op 1"));      // itself: a cycle
  CHECK(says(one({0}, {1, 1, 1, 1, 1, 1, 1}), "op 1 has 7 axes"));
  CHECK(one({0}, {1, 1, 1, 1, 1, 1}) == "");
  CHECK(says(one({0}, {-1}), "64 bits"));
  CHECK(says(one({0}, {4}, -4), "64 bits"));
  CHECK(says(one({0}, {int64{1} << 31, int64{1} << 31}), "op 1: the bytes of its result"));
  CHECK(one({0}, {int64{1} << 30, int64{1} << 30}) == "");
  CHECK(says(one({0}, {int64{1} << 32, int64{1} << 32}, 0), "64 bits"));
  CHECK(one({0}, {int64{1} << 31, int64{1} << 31}, 0) == "");
}

TEST_CASE("an overflow of the bytes moved is an error, not a number") {
  const auto wide = [](int reads) {
    return refusal([&](fusion_graph& g) {
      const uint32 x = g.add(op_kind::source, {}, {int64{1} << 60}, 2);
      for (int i = 0; i < reads; ++i) g.add(op_kind::matmul, {x}, {int64{1} << 60}, 2);
    });
  };
  CHECK(wide(1) == "");  // 3 · 2^61
  CHECK(says(wide(2), "the bytes moved do not fit 64 bits"));
}

TEST_CASE("values of any size may be computed again") {
  const fusion_plan p = planned([](fusion_graph& g) {
    uint32 small[4];
    for (uint32& s : small) s = g.add(op_kind::exp, {g.add(op_kind::source, {}, {1}, 1)}, {1}, 1);
    uint32 at = g.add(op_kind::source, {}, {int64{1} << 56}, 1);
    for (uint32 s : small) at = g.add(op_kind::add, {at, s}, {int64{1} << 56}, 1);
  });
  CHECK(p.groups.size() == 6);
}

TEST_CASE("a long chain is one group") {
  const fusion_plan p = planned([](fusion_graph& g) {
    uint32 at = g.add(op_kind::source, {}, {4});
    for (int i = 0; i < 5000; ++i) at = g.add(op_kind::exp, {at}, {4});
  });
  CHECK(p.groups.size() == 2);
  CHECK(p.bytes_unfused == 16 * (1 + 2 * 5000));
  CHECK(p.bytes_fused == 16 * 3);
}

namespace {

/// A DAG as the façade's graph and as equations of ours.
struct twin_graphs {
  fusion_graph facade;
  ir::graph own;
};

twin_graphs drawn(uint64 seed) {
  poot_tests::draws d(seed);
  twin_graphs t;
  const auto below = [&](int n) { return static_cast<int>(d.less_than(static_cast<uint64>(n))); };
  const int count = 3 + below(seed % 16 ? 14 : 70);
  const auto add = [&](op_kind kind, const std::vector<uint32>& in) {
    const tensor_type type = t.own.eqns.back().type;
    vec<int64> shape;
    for (int i = 0; i < type.rank; ++i) shape.push_back(type.extents[i].code);
    t.facade.add(kind, ids(view<uint32>(in.data(), in.size())), std::move(shape));
  };
  for (int tries = 0; static_cast<int>(t.own.size()) < count && tries < 400; ++tries) {
    const auto size = static_cast<uint32>(t.own.size());
    if (size < 2 || below(8) == 0) {
      static const tensor_type shapes[] = {type_of(f32, 4, 4), type_of(f32, 4, 4), type_of(f32, 1, 4), type_of(f32, 4, 1), type_of(f32, 4), type_of(f32)};
      t.own.leaf(ir::op::input, shapes[below(6)], {}, "x" + std::to_string(size));
      add(op_kind::source, {});
      continue;
    }
    const uint32 a = size - 1 - static_cast<uint32>(below(size < 6 ? static_cast<int>(size) : 6)), b = static_cast<uint32>(below(static_cast<int>(size)));
    const uint32 pair[2] = {a, b};
    if (below(4) == 0) {
      if (t.own.eqns[a].type.rank != 2) continue;
      const int64 perm[2] = {1, 0};
      t.own.apply(ir::op::transpose, {&a, 1}, {perm, 2});
      add(below(2) ? op_kind::transpose : op_kind::reduce, {a});
    } else if (below(2)) {
      t.own.apply(ir::op::neg, {&a, 1});
      add(op_kind::silu, {a});
    } else {
      tensor_type both = t.own.eqns[a].type;
      if (!ir::detail::broadcast_into(both, t.own.eqns[b].type)) continue;
      t.own.apply(ir::op::max, {pair, 2});
      add(op_kind::div, {a, b});
    }
  }
  std::vector<bool> read(t.own.size());
  for (const ir::eqn& e : t.own.eqns)
    for (uint32 in : t.own.view_of().operands(e)) read[in] = true;
  for (uint32 id = 0; id < t.own.size(); ++id)
    if (!read[id]) t.own.add_output("y" + std::to_string(id), id);
  return t;
}

/// What the document asks of a plan, from sets.
void check_plan(const fusion_graph& g, const fusion_plan& p, bool broadcast) {
  const size_t size = g.ops().size();
  std::vector<int> group(size, -1);
  for (size_t k = 0; k < p.groups.size(); ++k)
    for (uint32 m : p.groups[k].members) {
      REQUIRE(group[m] == -1);  // exactly one group
      group[m] = static_cast<int>(k);
    }
  std::vector<std::set<uint32>> readers(size);
  for (const fuse::fusion_op& o : g.ops())
    for (uint32 in : o.inputs) readers[in].insert(o.id);
  int64 unfused = 0, fused = 0;
  std::vector<std::bitset<128>> reaches(p.groups.size());
  for (const fuse::fusion_op& o : g.ops()) {
    REQUIRE(group[o.id] >= 0);
    std::set<uint32> distinct(o.inputs.begin(), o.inputs.end());
    unfused += g.output_bytes(o.id);
    for (uint32 in : distinct) unfused += g.output_bytes(in);
    for (uint32 in : distinct) {
      CHECK(group[in] <= group[o.id]);  // an order in which they can run
      if (group[in] != group[o.id]) reaches[static_cast<size_t>(group[in])].set(static_cast<size_t>(group[o.id]));
    }
  }
  for (size_t k = 0; k < reaches.size(); ++k)
    for (std::bitset<128>& from : reaches)
      if (from[k]) from |= reaches[k];
  for (size_t k = 0; k < p.groups.size(); ++k) {
    CHECK_FALSE(reaches[k][k]);
    const fusion_group& group_k = p.groups[k];
    std::set<uint32> external, outputs, reached{group_k.members[0]};
    for (uint32 m : group_k.members) {
      if (group_k.members.size() > 1) CHECK((fuse::is_fusible(g.ops()[m].kind) && !g.ops()[m].inputs.empty()));
      for (uint32 in : g.ops()[m].inputs)
        if (group[in] != static_cast<int>(k)) external.insert(in);
      bool leaves = readers[m].empty();
      for (uint32 reader : readers[m]) leaves = leaves || group[reader] != static_cast<int>(k);
      if (leaves) outputs.insert(m);
      if (!broadcast) CHECK(g.ops()[m].output_shape == g.ops()[group_k.members[0]].output_shape);
    }
    for (size_t round = 0; round < group_k.members.size(); ++round)
      for (uint32 m : group_k.members)
        for (uint32 in : g.ops()[m].inputs)
          if (group[in] == static_cast<int>(k) && (reached.count(m) || reached.count(in))) reached.insert({m, in});
    CHECK(reached.size() == group_k.members.size());
    CHECK(std::set<uint32>(group_k.outputs.begin(), group_k.outputs.end()) == outputs);
    for (uint32 id : external) fused += g.output_bytes(id);
    for (uint32 id : outputs) fused += g.output_bytes(id);
  }
  CHECK(p.bytes_unfused == unfused);
  CHECK(p.bytes_fused == fused);
  CHECK(fused <= unfused);
  CHECK(p.speedup_estimate() >= 1.0);
}

}  // namespace

TEST_CASE("keeps every sentence of the document on random graphs, and equals the engine") {
  size_t fused = 0;
  for (uint64 seed = 0; seed < 10000; ++seed) {
    const twin_graphs t = drawn(seed);
    const bool broadcast = seed % 4 != 0;
    INFO("seed " << seed);
    const fusion_plan p = fusion_planner{}.with_broadcast(broadcast).plan(t.facade);
    if (p.groups.size() <= 128) check_plan(t.facade, p, broadcast);
    fuse::rules r;
    r.with_broadcast = broadcast;
    r.horizontal = r.tails = false;
    r.small_outputs = true;
    r.max_recomputed_flops = int64{1} << 40;
    const fuse::partition engine = fuse::choose_regions(t.own, r);
    std::set<std::vector<uint32>> of_facade, of_engine;
    for (const fusion_group& g : p.groups)
      if (!t.facade.ops()[g.members[0]].inputs.empty()) of_facade.insert({g.members.begin(), g.members.end()});
    for (const fuse::partition::region& region : engine.regions) {
      const view<uint32> m = engine.members_of(region);
      of_engine.insert({m.begin(), m.end()});
    }
    CHECK(of_facade == of_engine);
    fused += p.bytes_fused < p.bytes_unfused;
  }
  CHECK(fused > 5000);
}

TEST_CASE("leaves no fusible edge that could still be merged") {
  // After the greedy sweep, merging the groups of any fusible edge would close a cycle or break broadcasting.
  for (uint64 seed = 0; seed < 2000; ++seed) {
    const twin_graphs t = drawn(seed);
    const fusion_plan p = fusion_planner{}.plan(t.facade);
    const auto ops = t.facade.ops();
    std::vector<size_t> group(ops.size());
    for (size_t k = 0; k < p.groups.size(); ++k)
      for (uint32 m : p.groups[k].members) group[m] = k;
    for (const fuse::fusion_op& o : ops)
      for (uint32 in : o.inputs) {
        const size_t a = group[in], b = group[o.id];
        if (a == b || ops[in].inputs.empty() || !fuse::is_fusible(ops[in].kind) || !fuse::is_fusible(o.kind)) continue;
        // a path from a to b through a third group?
        std::vector<bool> after(p.groups.size());
        for (size_t k = a; k < p.groups.size(); ++k)
          for (uint32 m : p.groups[k].members)
            for (uint32 x : ops[m].inputs) {
              if (group[x] == k) continue;
              const bool first_step = group[x] == a && k != b;
              if (first_step || after[group[x]]) after[k] = true;
            }
        if (after[b]) continue;
        // else some member must not stretch to the common shape
        size_t longest = 0;
        for (size_t k : {a, b})
          for (uint32 m : p.groups[k].members) longest = std::max(longest, ops[m].output_shape.size());
        vec<int64> whole(longest, 1);
        bool clash = false, is_of_a_member = false;
        for (size_t k : {a, b})
          for (uint32 m : p.groups[k].members) {
            const vec<int64>& s = ops[m].output_shape;
            for (size_t i = 0; i < s.size(); ++i) {
              int64& w = whole[longest - 1 - i];
              const int64 have = s[s.size() - 1 - i];
              clash = clash || (w != 1 && have != 1 && w != have);
              if (w == 1) w = have;
            }
          }
        for (size_t k : {a, b})
          for (uint32 m : p.groups[k].members) is_of_a_member = is_of_a_member || ops[m].output_shape == whole;
        INFO("seed " << seed << " edge " << in << " to " << o.id);
        CHECK((clash || !is_of_a_member));
      }
  }
}
