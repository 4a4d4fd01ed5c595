// Rows before the products that read them: what a plan says of such a dispatch, and where they stay apart.
#include <poot/ir/parse.hpp>
#include <poot/plan/explain.hpp>
#include <poot/plan/parse.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace poot;
using fuse::reason;
using fuse::region_kind;

namespace {

/// A norm of `rows` rows of `depth`, and two products of it, one with a residual.
std::string norm_and_products(int64 rows, int64 depth, const std::string& more = "") {
  const std::string m = std::to_string(rows), k = std::to_string(depth);
  const std::string whole = "f32[" + m + "," + k + "]", one = "f32[" + m + ",1]";
  return "graph t {\n%x : " + whole + " = input \"x\"\n%g : f32[" + k + "] = weight \"g\"\n%w : f32[" + k + "," + k + "] = weight \"w\"\n%v : bf16[16," + k +
         "] = weight \"v\"\n%q : " + whole + " = mul %x, %x\n%s : " + one + " = reduce_sum %q {axis=1}\n%t : " + one + " = sqrt %s\n%d : " + whole +
         " = div %x, %t\n%h : " + whole + " = mul %d, %g\n%a : " + whole + " = matmul %h, %w\n%y : " + whole + " = add %a, %x\n%z : f32[" + m +
         ",16] = matmul %h, %v {transpose_b=1}\noutput \"y\" = %y\noutput \"z\" = %z\n" + more + "}\n";
}
plan::program planned(const std::string& source, const target& where = targets::host, const plan::options& wanted = {}) {
  return plan::compile(ir::parse(source), where, wanted);
}
bool declines(const plan::program& p, reason why) {
  for (const fuse::decline& d : p.declines())
    if (d.why == why && ir::is_contraction(p.graph.eqns[d.consumer].kind)) return true;
  return false;
}
bool holds(const text& t, std::string_view part) { return t.str().find(part) != std::string_view::npos; }

}  // namespace

TEST_CASE("one dispatch reads the rows' inputs, keeps the rows nowhere, and counts their work once") {
  for (const target& where : {targets::host, targets::cuda_sm80, targets::hip_gfx90a}) {
    const plan::program p = planned(norm_and_products(4, 64), where);
    REQUIRE(p.dispatch_count() == 1);
    const plan::program_view v = p;
    const plan::launch& l = v.launches[0];
    CHECK(l.kind == region_kind::contraction);
    CHECK(l.inputs.count == 4);
    CHECK(l.bytes == 4 * 64 * 4 + 64 * 4 + 64 * 64 * 4 + 16 * 64 * 2 + 4 * 64 * 4 + 4 * 16 * 4);
    CHECK(p.arena_bytes == 0);
    CHECK(p.unshared_bytes == 0);
    for (uint32 id : v(l.members)) {
      const bool is_output = p.placements[id].where == plan::place::output;
      CHECK((is_output || p.placements[id].where == plan::place::none));
    }
    plan::options apart;
    apart.fuse = false;
    CHECK(l.flops == planned(norm_and_products(4, 64), where, apart).flops());
  }
}

TEST_CASE("what others read of the rows is a result of the dispatch") {
  const plan::program p = planned(norm_and_products(4, 64, "%m : f32[64,4] = transpose %h {perm=[1,0]}\noutput \"m\" = %m\noutput \"s\" = %s\n"));
  REQUIRE(p.dispatch_count() == 2);
  const plan::program_view v = p;
  CHECK(v.launches[0].outputs.count == 4);
  CHECK(v.launches[0].bytes == 4 * 64 * 4 + 64 * 4 + 64 * 64 * 4 + 16 * 64 * 2 + 4 * 64 * 4 + 4 * 16 * 4 + 4 * 64 * 4 + 4 * 4);
  CHECK(p.arena_bytes == 4 * 64 * 4);
  const text t = plan::print(p);
  CHECK(plan::first_difference(plan::parse(t.str()).view_of(), p.view_of()) == "");
}

TEST_CASE("its text is parsed back and believed, and says what is done") {
  for (const target& where : {targets::host, targets::cuda_sm80}) {
    const plan::program p = planned(norm_and_products(2, 64), where);
    const text t = plan::print(p);
    CHECK(plan::first_difference(plan::parse(t.str()).view_of(), p.view_of()) == "");
    CHECK(holds(plan::explain(p), "5 steps row by row over f32[2,64], then 2 products of %8 with 1 step on each tile: mul reduce_sum sqrt div mul matmul add matmul"));
  }
}

TEST_CASE("rows stay apart where the options, their number, another reader, a workgroup's memory or their cost say so") {
  plan::options wanted;
  wanted.document_rules = true;
  CHECK(planned(norm_and_products(4, 64), targets::host, wanted).count(region_kind::row) == 1);
  wanted = {};
  wanted.horizontal = false;
  CHECK(planned(norm_and_products(4, 64), targets::host, wanted).count(region_kind::row) == 1);

  CHECK(planned(norm_and_products(8, 64)).dispatch_count() == 1);
  CHECK(planned(norm_and_products(9, 64)).dispatch_count() == 2);
  CHECK(declines(planned(norm_and_products(9, 64)), reason::many_rows));
  CHECK(planned(norm_and_products(1, 64), targets::vulkan_lavapipe).dispatch_count() == 1);
  CHECK(planned(norm_and_products(2, 64), targets::vulkan_lavapipe).dispatch_count() == 2);
  CHECK(declines(planned(norm_and_products(2, 64), targets::vulkan_lavapipe), reason::many_rows));
  std::string residual = norm_and_products(4, 64);  // a step behind the product reads the rows
  residual.replace(residual.find("add %a, %x"), 10, "add %a, %h");
  CHECK(declines(planned(residual), reason::read_elsewhere));

  // 32 KiB of rows: more than lavapipe's workgroups have beside what reduces, less than CUDA's
  CHECK(planned(norm_and_products(1, 8192), targets::cuda_sm80).dispatch_count() == 1);
  CHECK(planned(norm_and_products(1, 8192), targets::vulkan_lavapipe).dispatch_count() == 2);
  CHECK(declines(planned(norm_and_products(1, 8192), targets::vulkan_lavapipe), reason::shared_exceeded));
  CHECK(planned(norm_and_products(1, 7680), targets::vulkan_lavapipe).dispatch_count() == 1);

  std::string dear = norm_and_products(4, 64);
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"mul %x, %x", "tanh %x"}, {"div %x, %t", "pow %x, %t"}}) dear.replace(dear.find(from), from.size(), to);
  CHECK(planned(dear).dispatch_count() == 2);
  CHECK(declines(planned(dear), reason::recompute_cost));
}
