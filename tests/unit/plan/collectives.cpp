// Plans of collectives: dispatches of their own, in a step, on the host.
#include <poot/ir/parse.hpp>
#include <poot/plan/explain.hpp>
#include <poot/plan/parse.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

using namespace poot;
using fuse::region_kind;

namespace {

constexpr std::string_view source =
    "graph split {\n  %x : f32[4,6] = input \"x\"\n  %c : f32[4,6] = constant f32(2)\n  %a : f32[4,6] = exp %x\n  %s : f32[4,6] = all_reduce_sum %a {group=\"tp\"}\n"
    "  %b : f32[4,6] = neg %s\n  %t : f32[4,6] = all_reduce_sum %a {group=\"dp\"}\n  %d : f32[4,6] = add %b, %t\n  %k : f32[4,12] = all_gather %c {group=\"tp\" axis=1}\n"
    "  %e : f32[4,12] = exp %k\n  output \"d\" = %d\n  output \"e\" = %e\n}\n";

std::string message_of(const std::string& text) {
  try {
    plan::parse(text);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a collective is a dispatch of its own, in a step, and devices refuse it") {
  const ir::graph g = ir::parse(source);
  for (const bool fuse : {true, false}) {
    const plan::program p = plan::compile(g, targets::host, {.fuse = fuse});
    CHECK(p.count(region_kind::collective) == 3);  // sums of two groups are two values
    CHECK(p.prologue.empty());                     // what is gathered of constants too
    CHECK(p.dispatch_count() == (fuse ? 6 : 7));
    CHECK(p.refused.empty());
    for (const plan::launch& l : p.launches) {
      if (l.kind != region_kind::collective) continue;
      CHECK(l.members.count == 1);
      CHECK(l.body == plan::origin::none);
    }
  }
  for (const target& where : {targets::vulkan_lavapipe, targets::cuda_sm80, targets::hip_gfx1030}) {
    const plan::program p = plan::compile(g, where);
    REQUIRE(p.refused.size() == 3);
    for (const plan::refusal& r : p.refused) {
      CHECK(ir::is_collective(p.graph.eqns[r.equation].kind));
      CHECK(r.missing == plan::capability::collectives);
    }
  }
}

TEST_CASE("collectives of other groups and ops have kernels of their own") {
  const plan::program p = plan::compile(ir::parse(source), targets::host);
  vec<uint32> kernels;
  for (const plan::launch& l : p.launches)
    if (l.kind == region_kind::collective) kernels.push_back(l.kernel);
  REQUIRE(kernels.size() == 3);
  CHECK((kernels[0] != kernels[1] && kernels[1] != kernels[2] && kernels[0] != kernels[2]));
}

TEST_CASE("a program with collectives is written, read back, and believed only as it is") {
  const plan::program p = plan::compile(ir::parse(source), targets::host);
  std::string text(plan::print(p).str());
  CHECK(plan::equal(plan::parse(text), p));
  CHECK(text.find("  launch collective none exact {") != std::string::npos);
  std::string other = text;
  other.replace(other.find("group=\"dp\""), 10, "group=\"dq\"");
  CHECK_FALSE(message_of(other).empty());  // its kernel is another
  const size_t at = text.find("group=\"dp\"");
  text.replace(at, 10, "group=\"\"");
  CHECK(message_of(text).find("a collective needs the name of its group") != std::string::npos);
  const auto explained = plan::explain(p);
  CHECK(explained.str().find("among the ranks of \"tp\", makes f32[4,12]: all_gather\n") != std::string_view::npos);
}

TEST_CASE("equal sums of one group are one") {
  const plan::program p = plan::compile(
      ir::parse("graph t {\n%x : f32[4] = input \"x\"\n%a : f32[4] = all_reduce_sum %x {group=\"g\"}\n%b : f32[4] = all_reduce_sum %x {group=\"g\"}\n%y : f32[4] = add %a, %b\noutput \"y\" = %y\n}\n"),
      targets::host);
  CHECK(p.count(region_kind::collective) == 1);
}
