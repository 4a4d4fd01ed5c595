// Rows behind products, which reduce runs of the result's columns: what a plan says of such a dispatch, and where they stay apart.
#include <poot/ir/parse.hpp>
#include <poot/plan/explain.hpp>
#include <poot/plan/parse.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace poot;
using fuse::reason;
using fuse::region_kind;

namespace {

/// A product of `rows` rows, the greatest of each run of its columns, and where in it what lies below stands first.
std::string product_and_runs(int64 rows, int64 columns, int64 run, const std::string& more = "", const std::string& step = "neg %a") {
  const auto type = [&](int64 last) { return "f32[" + std::to_string(rows) + "," + std::to_string(columns / run) + "," + std::to_string(last) + "]"; };
  const std::string m = std::to_string(rows), n = std::to_string(columns), y = "f32[" + m + "," + n + "]";
  return "graph t {\n%x : f32[" + m + ",64] = input \"x\"\n%w : bf16[" + n + ",64] = weight \"w\"\n%a : " + y + " = matmul %x, %w {transpose_b=1}\n%b : " + y + " = " + step +
         "\n%r : " + type(run) + " = reshape %b\n%m : " + type(1) + " = reduce_max %r {axis=2}\n%d : " + type(run) + " = sub %m, %r\n%i : i32" +
         type(1).substr(3) + " = reduce_argmax %d {axis=2}\noutput \"m\" = %m\noutput \"i\" = %i\n" + more + "}\n";
}
plan::program planned(const std::string& source, const target& where = targets::cuda_sm80, const plan::options& wanted = {}) {
  return plan::compile(ir::parse(source), where, wanted);
}
bool declines(const plan::program& p, reason why) {
  for (const fuse::decline& d : p.declines())
    if (d.why == why && p.graph.eqns[d.consumer].kind == ir::op::reduce_max) return true;
  return false;
}
bool holds(const text& t, std::string_view part) { return t.str().find(part) != std::string_view::npos; }

/// The token with the greatest of `columns` logits.
constexpr size_t dispatches_of_token(const char* source, const target& where) { return plan::compile(ir::parse(source), where).dispatch_count(); }
constexpr char token[] = R"(graph t {
  %x : f32[1,8]      = input "x"
  %w : q8_0[8448,32] = weight "w"
  %u : f32[8,32]     = weight "u"
  %h : f32[1,32]     = matmul %x, %u
  %q : f32[1,32]     = mul %h, %h
  %s : f32[1,1]      = reduce_sum %q {axis=1}
  %n : f32[1,32]     = div %h, %s
  %a : f32[1,8448]   = matmul %n, %w {transpose_b=1}
  %i : i32[1,1]      = reduce_argmax %a {axis=1}
  output "i" = %i
})";

}  // namespace

// a product before, the head behind its norm with the greatest of each run, and the greatest of all
static_assert(dispatches_of_token(token, targets::cuda_sm90a) == 3);
static_assert(dispatches_of_token(token, targets::vulkan_lavapipe) == 3);

TEST_CASE("one dispatch reads operands, stores what is reduced, keeps the result nowhere, and counts its work once") {
  for (const target& where : {targets::cuda_sm80, targets::hip_gfx90a, targets::vulkan_lavapipe, targets::vulkan_swiftshader}) {
    const plan::program p = planned(product_and_runs(1, 192, 64), where);
    REQUIRE(p.dispatch_count() == 1);
    const plan::program_view v = p;
    const plan::launch& l = v.launches[0];
    CHECK(l.kind == region_kind::contraction);
    CHECK(l.outputs.count == 2);
    CHECK(l.bytes == 64 * 4 + 192 * 64 * 2 + 3 * 4 + 3 * 4);
    CHECK(p.arena_bytes == 0);
    plan::options apart;
    apart.fuse = false;
    CHECK(l.flops == planned(product_and_runs(1, 192, 64), where, apart).flops());
  }
}

TEST_CASE("a result that others read too is stored") {
  const plan::program p = planned(product_and_runs(1, 192, 64, "%t : f32[2,192] = concat %b, %b {axis=0}\noutput \"t\" = %t\n"));
  REQUIRE(p.dispatch_count() == 2);
  CHECK(p.view_of().launches[0].outputs.count == 3);
  CHECK(p.view_of().launches[0].bytes == 64 * 4 + 192 * 64 * 2 + 3 * 4 + 3 * 4 + 192 * 4);
}

TEST_CASE("its text is parsed back and believed where the target has such dispatches, and says what is done") {
  const plan::program p = planned(product_and_runs(1, 192, 64));
  const text t = plan::print(p);
  CHECK(plan::first_difference(plan::parse(t.str()).view_of(), p.view_of()) == "");
  CHECK(holds(plan::explain(p), "matmul to f32[1,192] with 1 step on each tile, then 3 steps run by run over f32[1,3,64]: matmul neg reshape reduce_max sub reduce_argmax"));
  std::string for_host(t.str());
  const size_t workgroup = for_host.find("workgroup=");
  for_host.replace(workgroup, for_host.find(',', workgroup) - workgroup, "workgroup=0");
  CHECK_THROWS_AS(plan::parse(for_host), error);
}

TEST_CASE("kernels of one structure and one run are shared, of another run they are not") {
  const auto kernels = [](int64 columns, int64 run) {
    const plan::program p = planned(product_and_runs(1, columns, run));
    return p.kernel_table[0].hash;
  };
  CHECK(kernels(192, 64) != kernels(192, 48));
  CHECK(kernels(192, 64) == kernels(192, 64));
}

TEST_CASE("a workgroup for each run, in as many chunks as the target's grid asks for") {
  target narrow = targets::vulkan_lavapipe;
  narrow.caps.max_groups_x = 5;
  narrow.caps.max_groups_y = 1;
  CHECK(planned(product_and_runs(1, 192, 64), narrow).dispatch_count() == 1);
  CHECK(planned(product_and_runs(1, 192, 8), narrow).dispatch_count() == 5);
  CHECK(planned(product_and_runs(1, 192, 1), narrow).dispatch_count() == 39);
}

TEST_CASE("rows stay apart where the options, the target, their number, their length, another reader or a narrowing cast say so") {
  plan::options wanted;
  wanted.document_rules = true;
  CHECK(planned(product_and_runs(1, 192, 64), targets::cuda_sm80, wanted).dispatch_count() == 2);
  wanted = {};
  wanted.horizontal = false;
  CHECK(planned(product_and_runs(1, 192, 64), targets::cuda_sm80, wanted).count(region_kind::row) == 1);
  CHECK(planned(product_and_runs(1, 192, 64), targets::host).dispatch_count() > 1);
  CHECK(planned(product_and_runs(1, 192, 64), targets::host).declines().empty());

  CHECK(planned(product_and_runs(2, 192, 64)).dispatch_count() > 1);
  CHECK(declines(planned(product_and_runs(2, 192, 64)), reason::many_rows));
  CHECK(planned(product_and_runs(1, 192, 96), targets::vulkan_lavapipe).dispatch_count() == 1);
  CHECK(declines(planned(product_and_runs(1, 192, 96)), reason::long_run));
  for (const std::string& apart : {product_and_runs(2, 192, 64), product_and_runs(1, 192, 96), product_and_runs(1, 192, 64, "output \"r\" = %r\n")}) {
    const text printed = plan::print(planned(apart));
    CHECK(plan::print(plan::parse(printed.str())) == printed);  // who reads the runs is named, not the view, which is no dispatch's
  }
  CHECK(declines(planned(product_and_runs(1, 192, 64, "output \"r\" = %r\n")), reason::read_elsewhere));
  CHECK(declines(planned(product_and_runs(1, 192, 64, "%e : f32[1,6,64] = concat %r, %r {axis=1}\noutput \"e\" = %e\n")), reason::read_elsewhere));
  std::string narrow = product_and_runs(1, 192, 64, "", "cast %a");
  for (size_t at; (at = narrow.find("%b : f32")) != std::string::npos;) narrow.replace(at, 8, "%b : bf16");
  for (const char* name : {"%r", "%m", "%d"})
    if (const size_t at = narrow.find(std::string(name) + " : f32"); at != std::string::npos) narrow.replace(at, 8, std::string(name) + " : bf16");
  CHECK(declines(planned(narrow), reason::narrow_cast));
  wanted = {};
  wanted.fuse_narrow_casts = true;
  CHECK(planned(narrow, targets::cuda_sm80, wanted).dispatch_count() == 1);
}
