// Fragments of a matrix unit: what kernels may do with them, and what two that race are told.
#include <poot/kernel/parse.hpp>
#include <poot/kernel/values.hpp>
#include <poot/kernel/verify.hpp>

#include <doctest/doctest.h>

#include "kernel_cases.hpp"

using namespace kernel_cases;
using pk::opcode;
using pk::type;

namespace {

/// One tile of sums for each of two subgroups, of one left operand; members break it.
struct tiles {
  bool waits_for_operands = true, waits_for_sums = true, waits_for_store = true;
  bool parts_lanes = false;         ///< the product is taken by some invocations only
  bool index_by_lane = false;       ///< the left operand lies elsewhere for each invocation
  uint32 step = 256;                ///< between the sums of the subgroups
  uint32 rows = 16, subgroup = 32;  ///< rows of the left operand that are written

  constexpr pk::kernel build(opcode unit = opcode::mma_bf16) const {
    pk::builder k("tiles", 64);
    k.take_subgroups(subgroup);
    k.count_groups();
    const auto x = k.reads("x", 0), y = k.writes("y", 1);
    const auto a = k.shares("a", type::quad, 40), sums = k.shares("sums", type::number, 512);
    const pk::word lane = k.lane();
    k.if_(below(lane, 2 * rows), [&] { k.store(a, lane, k.load_quad(x, lane)); });
    if (waits_for_operands) k.barrier();
    const auto multiply = [&] {
      const auto left = k.load_fragment<type::left>(a, index_by_lane ? lane & 1u : pk::word(0u), 2);
      const auto right = k.load_fragment<type::right>(a, 0u, 2);
      const auto sum = k.multiply_add(unit, left, right, k.no_sums());
      k.store_fragment(sums, k.subgroup() * pk::word(step), sum);
    };
    if (parts_lanes) k.if_(below(lane, 32u), multiply);
    else multiply();
    if (waits_for_sums) k.barrier();
    k.for_(lane, 512u, 64u, [&](pk::word i) { k.store(y, i, to_bits(k.load<pk::number>(sums, i))); });
    if (waits_for_store) k.barrier();
    k.store(sums, lane ^ pk::word(1u), pk::number(0.0f));
    return k.finish();
  }
};

std::string verified(const pk::kernel& k, const target& t = targets::cuda_sm80) {
  return refusal([&] { pk::verify(k, t.caps); });
}
/// All operands are 1: the sums are 16.
std::string interpreted(const pk::kernel& k) {
  run r{k, {vec<uint32>(160, 0x3f803f80u), vec<uint32>(512)}};
  const std::string why = r.why();
  if (why != "accepted") return why;
  for (uint32 bits : r.memory[1])
    if (bits != ieee::to_bits(16.0f)) return "the sums are others";
  return why;
}

}  // namespace

static_assert(pk::check_form(tiles{}.build()));

TEST_CASE("fragments may be loaded, multiplied, added up and stored") {
  CHECK(verified(tiles{}.build()) == "accepted");
  CHECK(interpreted(tiles{}.build()) == "accepted");
  CHECK(interpreted(tiles{.subgroup = 64}.build()) != "accepted");  // one subgroup writes one tile
}

TEST_CASE("what touches a fragment's elements with no barrier between is refused") {
  for (const tiles& t : {tiles{.waits_for_operands = false}, tiles{.waits_for_sums = false}, tiles{.waits_for_store = false}, tiles{.step = 128}}) {
    CHECK(holds(verified(t.build()), "with no barrier between"));
    if (t.waits_for_operands) CHECK(holds(interpreted(t.build()), "with no barrier between"));
  }
}

TEST_CASE("the invocations of a workgroup come together, and those of a subgroup agree where a fragment lies") {
  CHECK(holds(verified(tiles{.parts_lanes = true}.build()), "not every invocation gets here"));
  CHECK(holds(interpreted(tiles{.parts_lanes = true}.build()), "only 32 of 64 invocations get here"));
  CHECK(holds(verified(tiles{.index_by_lane = true}.build()), "may not agree on the index"));
  CHECK(holds(interpreted(tiles{.index_by_lane = true}.build()), "does not agree on the index"));
}

TEST_CASE("a fragment lies inside its array, and was written") {
  CHECK(holds(interpreted(tiles{.rows = 15}.build()), "is read before it is written"));
  CHECK(holds(interpreted(tiles{.step = 257}.build()), "is outside"));
}

TEST_CASE("the device has the unit, and subgroups of that size") {
  CHECK(holds(verified(tiles{}.build(), targets::hip_gfx90a), "subgroups of 32 invocations, the device's are of 64"));
  CHECK(holds(verified(tiles{}.build(), targets::hip_gfx1030), "no matrix unit for it"));
  CHECK(holds(verified(tiles{}.build(opcode::mma_f16)), "no matrix unit for it"));
  pk::kernel k = tiles{}.build();
  k.subgroup = 0;
  CHECK(holds(verified(k), "no size of subgroups"));
  k.subgroup = 48;
  CHECK(holds(verified(k), "which are of 32 or 64"));
}

TEST_CASE("operands and arrays are of their types") {
  pk::kernel k = tiles{}.build();
  for (pk::instruction& i : k.code) {
    if (i.code != opcode::mma_bf16) continue;
    std::swap(i.a, i.b);
    CHECK(holds(verified(k), "operand a is a right, not a left"));
    std::swap(i.a, i.b);
  }
  k.shared[0].kind = type::sums;
  CHECK(holds(verified(k), "shared a holds values of type sums"));
  k = tiles{}.build();
  k.shared[1].kind = type::word;
  CHECK(holds(verified(k), "shared sums holds values of type word, not number"));
  k = tiles{}.build();
  k.functions.push_back({text("f"), {type::left}, type::word, {{opcode::parameter, type::left}, {opcode::literal_word, type::word}, {opcode::result, type::none, 1}}});
  CHECK(holds(verified(k), "function f takes or gives fragments"));
}

TEST_CASE("kernels with fragments are printed and read again") {
  const pk::kernel k = tiles{}.build();
  const text once = pk::print(k);
  CHECK(holds(std::string(once.str()), "  workgroup 64 subgroup 32 by_group\n"));
  const pk::kernel again = pk::parse(once.str());
  CHECK(again.subgroup == 32);
  CHECK(again.code == k.code);
  CHECK(pk::print(again) == once);
}
