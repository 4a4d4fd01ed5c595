/// Lesson 6: planning other graphs. The fusion planner alone, for graphs that are not poot's: ops by kind, shape and bytes
/// per element. Nothing is computed; the answer is which ops share a kernel, and the memory traffic before and after.

#include <poot/fuse/fusion_graph.hpp>

#include <cstdio>

using poot::fuse::fusion_graph, poot::fuse::fusion_plan, poot::fuse::fusion_planner, poot::fuse::op_kind;

// h = relu(x · w + 2 bias), and h / sum(h²): the contraction and the reduction stand alone.
constexpr fusion_graph two_readers() {
  fusion_graph g;
  const auto x = g.add(op_kind::source, {}, {1024, 256});
  const auto w = g.add(op_kind::source, {}, {256, 512});
  const auto bias = g.add(op_kind::source, {}, {512});
  const auto product = g.add(op_kind::matmul, {x, w}, {1024, 512});
  const auto twice = g.add(op_kind::scale, {bias}, {512});
  const auto sum = g.add(op_kind::add, {product, twice}, {1024, 512});
  const auto h = g.add(op_kind::relu, {sum}, {1024, 512});
  const auto square = g.add(op_kind::mul, {h, h}, {1024, 512});
  const auto total = g.add(op_kind::reduce, {square}, {1024, 1});
  g.add(op_kind::div, {h, total}, {1024, 512});
  return g;
}

// An add on both sides of a reduction: one kernel would have to run before and after it.
constexpr fusion_graph around_a_barrier() {
  fusion_graph g;
  const auto x = g.add(op_kind::source, {}, {4096});
  const auto y = g.add(op_kind::exp, {x}, {4096});
  const auto total = g.add(op_kind::reduce, {y}, {1});
  g.add(op_kind::div, {y, total}, {4096});
  return g;
}

constexpr size_t groups_of(const fusion_graph& g, bool with_broadcast = true) {
  return fusion_planner{}.with_broadcast(with_broadcast).plan(g).groups.size();
}
static_assert(groups_of(two_readers()) == 7);
static_assert(groups_of(two_readers(), false) == 8);  // the scaled bias, [512], does not join ops over [1024, 512]
static_assert(groups_of(around_a_barrier()) == 4);
static_assert(fusion_planner{}.plan(around_a_barrier()).speedup_estimate() == 1.0);

void say(const char* what, const fusion_graph& g) {
  const fusion_plan plan = fusion_planner{}.plan(g);
  std::printf("%s: %zu ops in %zu groups\n", what, g.ops().size(), plan.groups.size());
  for (const poot::fuse::fusion_group& group : plan.groups) {
    std::printf("  {");
    for (poot::uint32 id : group.members) std::printf(" %u", id);
    std::printf(" } writes");
    for (poot::uint32 id : group.outputs) std::printf(" %u", id);
    std::printf("\n");
  }
  std::printf("  bytes %lld -> %lld, at most %.2f times faster\n", static_cast<long long>(plan.bytes_unfused),
              static_cast<long long>(plan.bytes_fused), plan.speedup_estimate());
}

int main() {
  say("two readers", two_readers());
  say("around a barrier", around_a_barrier());

  // scale, add, relu and mul become one kernel that writes h and its square: the scaled bias and the sum are neither
  // written nor read, and h is not read back.
  const fusion_plan plan = fusion_planner{}.plan(two_readers());
  const poot::int64 value = 1024 * 512 * 4, row = 512 * 4;
  if (plan.bytes_unfused - plan.bytes_fused != 3 * value + 2 * row) return 1;

  fusion_graph broken;
  broken.add(op_kind::exp, {7}, {16});
  try {
    broken.validate();
    return 1;
  } catch (const poot::error& e) {
    std::printf("refused: %s\n", e.what());
  }
  return 0;
}
