#include "before_after.hpp"

#include <poot/pass/canonicalise.hpp>
#include <poot/pass/cse.hpp>

using namespace before_after;

namespace {
constexpr auto cse = [](ir::graph g, pass::record& notes) { return pass::cse(std::move(g), notes); };
constexpr auto canonical_cse = [](ir::graph g, pass::record& notes) {
  return pass::cse(pass::canonicalise(std::move(g), notes), notes);
};
}  // namespace

static_assert([] {
  pass::record notes;
  const ir::graph made = pass::cse(ir::parse("graph t {\n%a : i32[4] = iota {axis=0}\n%b : i32[4] = iota {axis=0}\n%c : i32[4] = add %a, %b\noutput \"y\" = %c\n}"), notes);
  return made.size() == 2 && notes.changed.size() == 1;
}());

TEST_CASE("merges equal equations, constants and tables") {
  const std::string x = "%x : f32[4,8] = input \"x\"\n";
  CHECK(after(cse, x + "%a : f32[4,8] = exp %x\n%b : f32[4,8] = exp %x\n%r : f32[4,8] = add %a, %b\noutput \"o\" = %r") ==
        normal(x + "%a : f32[4,8] = exp %x\n%r : f32[4,8] = add %a, %a\noutput \"o\" = %r"));
  CHECK(after(cse, "%a : f32[2] = constant {values=[1,2]}\n%b : f32[2] = constant {values=[1,2]}\n%r : f32[2] = add %a, %b\noutput \"o\" = %r") ==
        normal("%a : f32[2] = constant {values=[1,2]}\n%r : f32[2] = add %a, %a\noutput \"o\" = %r"));
  // a table from one recipe exists once, however many steps the recipe has
  CHECK(after(cse, "%i : f32[8] = iota {axis=0}\n%a : f32[8] = cos %i\n%j : f32[8] = iota {axis=0}\n%b : f32[8] = cos %j\n%r : f32[8] = mul %a, %b\noutput \"o\" = %r") ==
        normal("%i : f32[8] = iota {axis=0}\n%a : f32[8] = cos %i\n%r : f32[8] = mul %a, %a\noutput \"o\" = %r"));
  // two results of one value
  CHECK(after(cse, x + "%a : f32[4,8] = exp %x\n%b : f32[4,8] = exp %x\noutput \"o\" = %a\noutput \"p\" = %b") ==
        normal(x + "%a : f32[4,8] = exp %x\noutput \"o\" = %a\noutput \"p\" = %a"));
}

TEST_CASE("keeps apart what differs in op, operands, attributes, type or bits") {
  const std::string x = "%x : f32[4,4] = input \"x\"\n%y : f32[4,4] = input \"y\"\n";
  for (const char* equations : {
           "%a : f32[4,4] = exp %x\n%b : f32[4,4] = exp %y", "%a : f32[4,4] = sub %x, %y\n%b : f32[4,4] = sub %y, %x",
           "%a : f32[4,1] = reduce_sum %x {axis=1}\n%b : f32[1,4] = reduce_sum %x {axis=0}", "%a : f32[4,1] = reduce_sum %x {axis=1}\n%b : f32[4,1] = reduce_max %x {axis=1}",
           "%a : f32[4,4] = matmul %x, %y\n%b : f32[4,4] = matmul %x, %y {transpose_b=1}", "%a : f32[4,4] = matmul %x, %y\n%b : bf16[4,4] = matmul %x, %y",
           "%a : bf16[4,4] = cast %x\n%b : f16[4,4] = cast %x", "%a : f32[2,8] = reshape %x\n%b : f32[8,2] = reshape %x",
           "%a : f32[4,4] = mul %x, f32(0)\n%b : f32[4,4] = mul %x, f32(-0)", "%a : f32[2,4] = slice %x {start=[0,0] size=[2,4]}\n%b : f32[2,4] = slice %x {start=[2,0] size=[2,4]}",
           "%a : f32[4,4] = random_uniform u32(1), u32(2)\n%b : f32[4,4] = random_uniform u32(3), u32(4)"}) {
    INFO(std::string(equations));
    pass::record notes;
    CHECK(unchanged(cse, x + equations + "\noutput \"o\" = %a\noutput \"p\" = %b"));
  }
  // inputs, weights and states are named by the user, equal or not
  CHECK(unchanged(cse, x + "%z : f32[4,4] = weight \"z\"\n%s : f32[4,4] = state \"s\"\n%a : f32[4,4] = add %x, %y\noutput \"s\" = %a"));
}

TEST_CASE("keeps many equations apart that differ in attributes, operands or types only") {
  ir::graph g;
  const uint32 x = g.leaf(ir::op::input, type_of(f32, 2000), {}, "x");
  vec<uint32> parts;
  for (int64 start = 0; start < 1000; ++start) {
    const int64 at[3] = {start, 1 + start % 3, 1};
    parts.push_back(g.apply(ir::op::slice, {&x, 1}, {at, 3}));
    parts.push_back(g.literal(f32, static_cast<uint64>(start)));
    parts.push_back(g.apply(ir::op::neg, {&parts[parts.size() - 2], 1}));
    const dtype to[3] = {f64, i32, bf16};
    for (dtype t : to) parts.push_back(g.apply(ir::op::cast, {&parts[parts.size() - 1], 1}, {}, type_of(t)));
  }
  for (uint32 i = 0; i < parts.size(); ++i) g.add_output("y" + std::to_string(i), parts[i]);
  pass::record notes;
  const ir::graph made = pass::cse(g, notes);
  CHECK(made.size() == g.size());
  CHECK(notes.changed.empty());
}

TEST_CASE("keeps every bit of random graphs, and has nothing to do a second time") {
  check_bits(canonical_cse, 2000);
  check_settles(cse, 2000);
}

TEST_CASE("finds the commutative pairs that merging has reversed") {
  CHECK(after(canonical_cse, "%x : f32[8] = input \"x\"\n%a : f32[8] = neg %x\n%b : f32[8] = exp %x\n%c : f32[8] = neg %x\n%p : f32[8] = add %a, %b\n"
                             "%q : f32[8] = add %c, %b\n%r : f32[8] = mul %p, %q\noutput \"o\" = %r") ==
        normal("%x : f32[8] = input \"x\"\n%a : f32[8] = neg %x\n%b : f32[8] = exp %x\n%p : f32[8] = add %a, %b\n%r : f32[8] = mul %p, %p\noutput \"o\" = %r"));
}
