#include "before_after.hpp"

#include <poot/pass/prepare_reductions.hpp>

using namespace before_after;

namespace {
constexpr auto prepare = [](ir::graph g, pass::record& notes) { return pass::prepare_reductions(std::move(g), targets::host, false, notes); };

constexpr char sums[] = R"(graph t {
  %x : f32[4,8]   = input "x"
  %n : i32[4,8]   = input "n"
  %h : f16[4,8]   = input "h"
  %a : f32[4,1]   = reduce_sum %x {axis=1}
  %b : f16[1,8]   = reduce_sum %h {axis=0}
  %c : f32[4,1]   = reduce_max %x {axis=1}
  %d : i32[4,1]   = reduce_sum %n {axis=1}
  %e : f32[4,4]   = matmul %x, %x {transpose_b=1}
  %f : f32[4,8]   = exp %x
  output "a" = %a
  output "b" = %b
  output "c" = %c
  output "d" = %d
  output "e" = %e
  output "f" = %f
})";

constexpr const target& which(bool fused) { return fused ? targets::host : targets::vulkan_lavapipe; }
constexpr ir::order order_after(uint32 id, bool fused) {
  pass::record notes;
  const ir::graph made = pass::prepare_reductions(ir::parse(sums), which(fused), false, notes);
  return made.eqns[id].sum;
}
}  // namespace

// numerics.md, "Order of sums": rows in 256 lanes and chunks of 4096; contractions in chunks of 256 along K.
static_assert(order_after(3, true) == ir::order{256, 4096, false} && order_after(4, false) == ir::order{256, 4096, false});
static_assert(order_after(5, true) == ir::order{} && order_after(6, true) == ir::order{} && order_after(8, true) == ir::order{});
static_assert(order_after(7, true) == ir::order{1, 256, true} && order_after(7, false) == ir::order{1, 256, false});

TEST_CASE("sets the order of float sums and of every contraction, and of nothing else") {
  for (int k = 0; k < 200; ++k) {
    poot_tests::fusion_draws d(7000 + static_cast<uint64>(k));
    const ir::graph g = d.make(20);
    for (bool fused : {false, true}) {
      pass::record notes;
      const ir::graph made = pass::prepare_reductions(g, which(fused), false, notes);
      for (const ir::eqn& e : made.eqns) {
        ir::order wanted;
        if (e.kind == ir::op::reduce_sum && is_float(e.type.element)) wanted = {256, 4096, false};
        if (ir::is_contraction(e.kind)) wanted = {1, 256, fused};
        CHECK(e.sum == wanted);
      }
    }
  }
}

TEST_CASE("replaces an order that stands there already") {
  pass::record notes, again;
  const ir::graph once = pass::prepare_reductions(ir::parse(sums), which(true), false, notes), other = pass::prepare_reductions(once, which(false), false, again);
  CHECK(other.eqns[7].sum == ir::order{1, 256, false});
  CHECK(notes.changed.size() == 1);
  CHECK(again.changed.size() == 1);
}

TEST_CASE("keeps every bit of random graphs, and has nothing to do a second time") {
  check_bits(prepare, 8000, 200);
  check_settles(prepare, 8000, 200);
}
