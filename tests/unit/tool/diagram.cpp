// The page that draws a plan: every dispatch once in each drawing, with what it reads.
#include "../../../examples/tool/diagram.cpp"

#include <poot/ir/parse.hpp>

#include <doctest/doctest.h>

using namespace poot;

namespace {

size_t count(const std::string& in, const std::string& what) {
  size_t n = 0;
  for (size_t at = 0; (at = in.find(what, at)) != in.npos; at += what.size()) ++n;
  return n;
}

constexpr char two_paths[] = R"(graph two_paths {
  %x : f32[8,16] = input "x<&>"
  %w : f32[16,16] = weight "w"
  %a : f32[8,16] = matmul %x, %w
  %t : f32[16,8] = transpose %a {perm=[1,0]}
  %u : f32[8,16] = reshape %t
  %b : f32[8,16] = add %a, %u
  output "y" = %b
})";

}  // namespace

TEST_CASE("draws each dispatch once, with a line from each that it reads, through views too") {
  const ir::graph g = ir::parse(two_paths);
  plan::options unfused;
  unfused.fuse = false;
  const plan::program fused = plan::compile(g, targets::host), apart = plan::compile(g, targets::host, unfused);
  REQUIRE(fused.launches.size() == 3);
  const std::string page = tool::diagram_page(apart.view_of(), fused.view_of());
  CHECK(count(page, "<g class=") == fused.launches.size() + apart.launches.size());
  CHECK(count(page, "<path ") == 2 * 3);  // matmul to transpose and add, transpose to add
  CHECK(count(page, "<svg class=") == 2);
  CHECK(count(page, "3 dispatches, ") == 2);
  CHECK(count(page, "x&lt;&amp;&gt;") == 2);
  CHECK(count(page, "x<&>") == 0);
}

TEST_CASE("refuses what no page can show") {
  ir::graph g("long");
  uint32 at = g.leaf(ir::op::input, type_of(f32, 2, 3), {}, "x");
  for (int i = 0; i < 4001; ++i) {
    const int64 axis[1] = {0};
    at = g.apply(ir::op::reduce_max, {&at, 1}, {axis, 1});
  }
  g.add_output("y", at);
  const plan::program p = plan::compile(g, targets::host);
  REQUIRE(p.launches.size() > 4000);
  CHECK_THROWS_WITH(tool::diagram_page(p.view_of(), p.view_of()), "--html: 4001 dispatches are more than the 4000 that a page can show");
}
