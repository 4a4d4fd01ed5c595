// Grids larger than the target's: how many chunks a launch has, and where a program says so.
#include <poot/ir/parse.hpp>
#include <poot/plan/explain.hpp>
#include <poot/plan/parse.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

using namespace poot;

namespace {

constexpr target narrow(int32 x, int32 y) {
  target t = targets::vulkan_lavapipe;
  t.caps.max_groups_x = x;
  t.caps.max_groups_y = y;
  return t;
}

// 1000 elements are 16 workgroups of 64 invocations; 7 rows are a workgroup each.
constexpr std::string_view source =
    "graph long {\n  %x : f32[1000] = input \"x\"\n  %r : f32[7,5] = input \"r\"\n  %a : f32[1000] = exp %x\n  %b : f32[1000] = neg %a\n"
    "  %s : f32[7,1] = reduce_sum %r {axis=1}\n  output \"b\" = %b\n  output \"s\" = %s\n}\n";

uint32 chunks_of(const plan::program& p, fuse::region_kind kind) {
  for (const plan::launch& l : p.launches)
    if (l.kind == kind) return l.chunks;
  return 0;
}

bool holds(std::string_view s, std::string_view part) { return s.find(part) != s.npos; }

std::string refusal(const std::string& program) {
  try {
    plan::parse(program);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a launch has as many chunks as its workgroups need, and a program counts them as dispatches") {
  const ir::graph g = ir::parse(source);
  using fuse::region_kind;
  struct expected {
    int32 x, y;
    uint32 pointwise, row;
  };
  for (const auto& [x, y, pointwise, row] : {expected{3, 2, 3, 2}, {16, 1, 1, 1}, {1, 1, 16, 7}, {5, 1, 4, 2}, {1, 7, 3, 1}, {65535, 65535, 1, 1}}) {
    const plan::program p = plan::compile(g, narrow(x, y));
    CHECK(chunks_of(p, region_kind::pointwise) == pointwise);
    CHECK(chunks_of(p, region_kind::row) == row);
    CHECK(p.dispatch_count() == pointwise + row);
  }
  target host = targets::host;
  host.caps.max_groups_x = host.caps.max_groups_y = 1;
  CHECK(plan::compile(g, host).dispatch_count() == 2);
}
static_assert(plan::compile(ir::parse(source), narrow(3, 2)).dispatch_count() == 5);

TEST_CASE("the text of a program says chunks where there are any, and is believed only where they follow") {
  const ir::graph g = ir::parse(source);
  CHECK_FALSE(holds(plan::print(plan::compile(g, targets::vulkan_lavapipe)).str(), "chunks"));
  const plan::program p = plan::compile(g, narrow(3, 2));
  std::string text(plan::print(p).str());
  CHECK(holds(text, " groups_x=3 groups_y=2 "));
  CHECK(holds(text, " chunks=3}\n"));
  CHECK(plan::equal(plan::parse(text), p));
  text.replace(text.find("chunks=3"), 8, "chunks=2");
  CHECK(holds(refusal(text), "its members make chunks 3, and 2 is written"));
  text.erase(text.find(" chunks=2"), 9);
  CHECK(holds(refusal(text), "its members make chunks 3, and 1 is written"));
}

TEST_CASE("launches in chunks and whole ones have kernels of their own") {
  const plan::program p = plan::compile(
      ir::parse("graph two {\n%x : f32[1000] = input \"x\"\n%y : f32[10] = input \"y\"\n%a : f32[1000] = exp %x\n%b : f32[10] = exp %y\noutput \"a\" = %a\noutput \"b\" = %b\n}\n"),
      narrow(3, 2));
  CHECK(p.kernels().size() == 2);
}

TEST_CASE("the table of a program says chunks, and counts what they take from what is saved") {
  const plan::program p = plan::compile(ir::parse(source), narrow(3, 2));
  const text t = plan::explain(p);
  const std::string_view s = t.str();
  CAPTURE(std::string(s));
  CHECK(holds(s, "5 dispatches of 2 distinct kernels"));
  CHECK(holds(s, "; in 3 chunks; saves 3 dispatches and 8.0 kB\n"));
  CHECK(holds(s, "dispatches                             8           5\n"));
}
