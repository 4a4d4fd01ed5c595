// What a row region behind products may not do, where groups are joined in other orders than a planner's; and the same of partitions.
#include <poot/fuse/check.hpp>
#include <poot/ir/parse.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace poot;
using fuse::reason;
using ir::op;

namespace {

constexpr uint32 none = fuse::grouping::none;

/// A norm of x, products of it (a by w, s by w too), the view of one of them by runs, and the greatest of each run.
std::string graph_of(const std::string& rest, int columns = 16) {
  const std::string n = std::to_string(columns);
  return "graph t {\n%x : f32[1,16] = input \"x\"\n%w : f32[16," + n + "] = weight \"w\"\n%t : f32[1,1] = reduce_sum %x {axis=1}\n%h : f32[1,16] = mul %x, %t\n%a : f32[1," + n +
         "] = matmul %h, %w\n" + rest + "}\n";
}
constexpr char runs_of_a[] = "%r : f32[2,8] = reshape %a\n%b : f32[2,1] = reduce_max %r {axis=1}\noutput \"y\" = %b\n";

/// A graph whose equations can be named by op, the first of each.
struct joined {
  explicit joined(const std::string& source, const fuse::rules& r = {}) : g(ir::parse(source)), groups(g), legal(groups, r) {}
  uint32 first(op o, uint32 from = 0) const {
    for (uint32 id = from; id < g.size(); ++id)
      if (g.eqns[id].kind == o) return id;
    return none;
  }
  bool join(uint32 a, uint32 b) { return legal.join(groups.root(a), groups.root(b)).legal(); }
  reason epilogue(uint32 reduction) { return legal.check_epilogue(groups.root(reduction), fuse::runs_of_products(groups, groups.root(reduction))).why; }
  /// Every equation that computes, and the views that are told, in one region.
  reason together() const {
    std::vector<uint32> of(g.size(), none);
    for (uint32 id = 0; id < g.size(); ++id)
      if (groups.grouped(id) || g.eqns[id].kind == op::reshape) of[id] = 0;
    return fuse::check_partition(g, {of.data(), of.size()}, legal.allowed).why;
  }

  ir::graph g;
  fuse::grouping groups;
  fuse::legality legal;
};

}  // namespace

TEST_CASE("rows before and the run behind share the memory of a workgroup") {
  for (int64 bytes : {4 * (16 + 8) - 1, 4 * (16 + 8)}) {
    fuse::rules r;
    r.max_prologue_bytes = bytes;
    joined j(graph_of(runs_of_a), r);
    CHECK(j.join(j.first(op::reduce_sum), j.first(op::mul)));
    CHECK(j.legal.join_epilogue(j.first(op::reduce_max), j.first(op::reshape)).legal());
    const reason expected = bytes % 4 ? reason::shared_exceeded : reason::none;
    CHECK(j.legal.check_prologue(j.groups.root(j.first(op::mul)), j.groups.root(j.first(op::matmul))).why == expected);
    CHECK(j.together() == expected);
  }
}

TEST_CASE("siblings stay apart from products whose runs are reduced, whichever come first") {
  const std::string siblings = graph_of(std::string("%s : f32[1,16] = matmul %h, %w\noutput \"s\" = %s\n") + runs_of_a);
  joined later(siblings), sooner(siblings);
  const uint32 a = later.first(op::matmul), s = later.first(op::matmul, a + 1);
  CHECK(later.legal.join_epilogue(later.first(op::reduce_max), later.first(op::reshape)).legal());
  CHECK(later.legal.check(later.groups.root(a), later.groups.root(s)).why == reason::two_heads);
  CHECK(sooner.join(a, s));
  CHECK(sooner.epilogue(sooner.first(op::reduce_max)) == reason::two_heads);
  CHECK(sooner.together() == reason::two_heads);
}

TEST_CASE("what is reduced is a product's, not the rows before it, and has its extents") {
  joined rows(graph_of("%r : f32[2,8] = reshape %h\n%b : f32[2,1] = reduce_max %r {axis=1}\noutput \"y\" = %b\noutput \"a\" = %a\n"));
  CHECK(rows.join(rows.first(op::reduce_sum), rows.first(op::mul)));
  CHECK(rows.legal.join_prologue(rows.groups.root(rows.first(op::mul)), rows.first(op::matmul)).legal());
  CHECK(rows.epilogue(rows.first(op::reduce_max)) == reason::two_heads);
  CHECK(rows.together() != reason::none);
  joined other(graph_of("%u : f32[1,16] = input \"u\"\n%r : f32[2,8] = reshape %u\n%b : f32[2,1] = reduce_max %r {axis=1}\noutput \"y\" = %b\noutput \"a\" = %a\n"));
  CHECK(other.together() == reason::head_space);

  fuse::rules r;
  r.small_outputs = true;
  joined small(graph_of("%c : f32[16] = weight \"c\"\n%e : f32[16] = exp %c\n%f : f32[1,16] = add %a, %e\n%r : f32[2,8] = reshape %e\n%b : f32[2,1] = reduce_max %r {axis=1}\noutput \"y\" = %b\noutput \"f\" = %f\n"), r);
  CHECK(small.join(small.first(op::matmul), small.first(op::add)));
  CHECK(small.join(small.first(op::exp), small.first(op::add)));
  CHECK(small.epilogue(small.first(op::reduce_max)) == reason::head_space);
}

TEST_CASE("rows are those of the view, read nothing else of the product, and wait for nothing that it is made into") {
  joined wider(graph_of("%u : f32[3,2,8] = input \"u\"\n%r : f32[2,8] = reshape %a\n%v : f32[3,2,8] = add %r, %u\n%b : f32[3,2,1] = reduce_max %v {axis=2}\noutput \"y\" = %b\n"));
  CHECK(wider.join(wider.first(op::add), wider.first(op::reduce_max)));
  CHECK(wider.epilogue(wider.first(op::reduce_max)) == reason::row_space);

  joined twice(graph_of("%r : f32[1,1,8] = reshape %a\n%v : f32[1,1,8] = sub %r, %a\n%b : f32[1,1,1] = reduce_max %v {axis=2}\noutput \"y\" = %b\n", 8));
  CHECK(twice.join(twice.first(op::sub), twice.first(op::reduce_max)));
  CHECK(twice.epilogue(twice.first(op::reduce_max)) == reason::read_elsewhere);
  CHECK(twice.together() != reason::none);
  joined back(graph_of("%r : f32[16] = reshape %a\n%b : f32[1] = reduce_max %r {axis=0}\n%c : f32[1,16] = add %a, %b\noutput \"y\" = %c\n"));
  CHECK(back.together() == reason::read_elsewhere);

  joined around(graph_of("%k : f32[16,8] = weight \"k\"\n%m : f32[1,8] = matmul %a, %k\n%r : f32[2,8] = reshape %a\n%v : f32[2,8] = add %r, %m\n%b : f32[2,1] = reduce_max %v {axis=1}\noutput \"y\" = %b\n"));
  CHECK(around.join(around.first(op::add), around.first(op::reduce_max)));
  CHECK(around.epilogue(around.first(op::reduce_max)) == reason::cycle);
}
