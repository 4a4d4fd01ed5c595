#include <poot/ir/analysis.hpp>

#include <doctest/doctest.h>

using namespace poot;
using namespace poot::ir;

namespace {

constexpr uint32 apply(graph& g, op o, std::initializer_list<uint32> in, std::initializer_list<int64> at = {},
                       const tensor_type& declared = {}) {
  return g.apply(o, {in.begin(), in.size()}, {at.begin(), at.size()}, declared);
}

/// y = (x * x + iota) reshaped, summed along axis 1; x is f32[8,16], so every activation has 512 bytes.
constexpr graph small() {
  graph g("small");
  const uint32 x = g.input("x", f32, {8, 16}).id;
  const int64 axis = 1;
  const uint32 i = g.leaf(op::iota, type_of(f32, 8, 16), {&axis, 1});
  const uint32 square = apply(g, op::mul, {x, x});
  const uint32 sum = apply(g, op::add, {square, i});
  const uint32 flat = apply(g, op::reshape, {sum}, {}, type_of(f32, 4, 32));
  const uint32 rows = apply(g, op::reduce_sum, {flat}, {1});
  g.add_output("y", rows);
  return g;
}

constexpr int64 peak_of_small() { return peak_transient_bytes(small()); }
constexpr int64 dispatches_of_small() { return dispatch_count(small()); }
constexpr int64 flops_of_small() { return flops(small()); }
static_assert(dispatches_of_small() == 3);            // mul, add, reduce_sum; not iota, not reshape
static_assert(peak_of_small() == 512 + 512);          // square and sum; later sum and 16 bytes of rows
static_assert(flops_of_small() == 128 + 128 + 128);

struct random_words {
  uint64 state;
  uint64 operator()(uint64 below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  }
};

/// Bytes alive around every equation, asked value by value and reader by reader.
int64 peak_by_asking(const graph_view& g) {
  int64 peak = 0;
  for (uint32 now = 0; now < g.size(); ++now) {
    int64 alive = 0;
    for (uint32 v = 0; v <= now; ++v) {
      if (g[v].kind == op::input || g[v].kind == op::constant || g[v].kind == op::reshape) continue;
      bool needed = v == now;
      // Readers of v, and of whatever is reshaped from it, however often.
      vec<uint32> same{v};
      for (size_t s = 0; s < same.size(); ++s) {
        for (const graph_output& o : g.outputs) needed = needed || o.value == same[s];
        for (uint32 r = 0; r < g.size(); ++r)
          for (uint32 in : g.operands(r)) {
            if (in != same[s]) continue;
            needed = needed || r >= now;
            if (g[r].kind == op::reshape) same.push_back(r);
          }
      }
      if (needed) alive += g.type(v).bytes();
    }
    if (alive > peak) peak = alive;
  }
  return peak;
}

graph random_graph(uint64 seed) {
  random_words random{seed};
  graph g("random");
  vec<uint32> values{g.input("x", f32, {4, 6}).id, g.input("z", f32, {1, 6}).id, g.literal(f32, 0)};
  for (uint64 i = 0, n = 1 + random(14); i < n; ++i) {
    const uint32 a = values[random(values.size())], b = values[random(values.size())];
    const tensor_type& t = g.eqns[a].type;
    switch (random(4)) {
      case 0:
        if (t.rank == 2 && t.extents[0] == extent(4)) {
          values.push_back(apply(g, op::reduce_sum, {a}, {0}));
          break;
        }
        [[fallthrough]];
      case 1: values.push_back(apply(g, op::reshape, {a}, {}, t)); break;
      case 2: values.push_back(apply(g, op::neg, {a})); break;
      default: values.push_back(apply(g, op::add, {a, b}));
    }
  }
  g.add_output("last", values.back());
  const uint32 other = values[random(values.size())];
  if (g.eqns[other].kind != op::input) g.add_output("other", other);
  return g;
}

}  // namespace

TEST_CASE("counts, peak and flops of a small graph, at run time as in constant expressions") {
  const graph g = small();
  CHECK(dispatch_count(g) == 3);
  CHECK(peak_transient_bytes(g) == 1024);
  CHECK(flops(g) == 384);
  const vec<uint32> uses = use_counts(g);
  CHECK(uses[0] == 2);             // x twice in the product
  CHECK(uses[uses.size() - 1] == 1);  // rows, as an output
}

TEST_CASE("a reader that no output needs is none") {
  graph g;
  const uint32 x = g.leaf(op::input, type_of(f32, 4), {}, "x"), y = apply(g, op::neg, {x});
  apply(g, op::exp, {x});
  g.add_output("y", y);
  const vec<uint32> uses = use_counts(g);
  CHECK(uses[x] == 1);
  CHECK(uses[2] == 0);
}

TEST_CASE("the peak equals what asking every value at every equation gives") {
  int64 with_alias = 0;
  for (uint64 seed = 0; seed < 2000; ++seed) {
    const graph g = random_graph(seed);
    REQUIRE(peak_transient_bytes(g) == peak_by_asking(g));
    for (const eqn& e : g.eqns) with_alias += e.kind == op::reshape;
  }
  CHECK(with_alias > 1000);
}

TEST_CASE("contractions count two operations per product, dynamic extents count at their bound") {
  graph g("contractions");
  const extent rows = g.dynamic("L", 10);
  const uint32 a = g.input("a", f32, {2, rows, 3}).id, b = g.input("b", f32, {5, 3}).id;
  const uint32 m = apply(g, op::matmul, {a, b}, {1}, type_of(f32));
  CHECK(flops(g, m) == 2 * 2 * 10 * 5 * 3);
  const uint32 x = g.input("image", f32, {1, 4, 6, 7}).id, w = g.input("w", f32, {8, 2, 3, 3}).id;
  const uint32 c = apply(g, op::conv2d, {x, w}, {1, 1, 0, 0, 0, 0, 1, 1, 2}, type_of(f32));
  CHECK(flops(g, c) == 2 * (8 * 4 * 5) * (2 * 3 * 3));
  CHECK(dispatch_count(g) == 2);
}

TEST_CASE("a value that nobody reads lives for its own equation only") {
  graph g("dead");
  const uint32 x = g.input("x", f32, {100}).id;
  for (int i = 0; i < 5; ++i) apply(g, op::neg, {x});
  const uint32 y = apply(g, op::abs, {x});
  g.add_output("y", y);
  CHECK(peak_transient_bytes(g) == 400);
}
