#include "before_after.hpp"

#include <poot/pass/canonicalise.hpp>

using namespace before_after;
using pass::inexact;

namespace {
constexpr auto canonicalise = [](ir::graph g, pass::record& notes) { return pass::canonicalise(std::move(g), notes); };

/// `%x`, `%y` of [4,8] and the equation(s), with result %r.
std::string over(dtype t, const std::string& equations) {
  const std::string n(name(t));
  return "%x : " + n + "[4,8] = input \"x\"\n%y : " + n + "[4,8] = input \"y\"\n" + equations + "\noutput \"o\" = %r";
}
std::string f(const std::string& equations) { return over(f32, equations); }
}  // namespace

static_assert([] {
  pass::record notes;
  const ir::graph g = ir::parse("graph t {\n%x : f32[8] = input \"x\"\n%1 : f32[8] = mul f32(1), %x\n%2 : f32[8] = neg %1\n%3 : f32[8] = neg %2\noutput \"y\" = %3\n}");
  const ir::graph made = pass::canonicalise(g, notes);
  return made.outputs[0].value == 0 && notes.changed.size() == 1;
}());

TEST_CASE("puts constants and later values second in commutative ops") {
  CHECK(after(canonicalise, f("%r : f32[4,8] = add f32(2), %x")) == normal(f("%r : f32[4,8] = add %x, f32(2)")));
  CHECK(after(canonicalise, f("%r : f32[4,8] = mul %y, %x")) == normal(f("%r : f32[4,8] = mul %x, %y")));
  CHECK(after(canonicalise, f("%r : i32[4,8] = eq %y, %x")) == normal(f("%r : i32[4,8] = eq %x, %y")));
  for (const char* op : {"sub", "div", "pow"}) CHECK(unchanged(canonicalise, f(std::string("%r : f32[4,8] = ") + op + " %y, %x")));
  CHECK(unchanged(canonicalise, f("%r : i32[4,8] = lt f32(2), %x")));
}

TEST_CASE("drops what changes no bit") {
  for (dtype t : {f32, f64, f16, bf16, i32, u32}) {
    const std::string n(name(t));
    const bool is_float_type = is_float(t);
    const auto gone = [&](const std::string& expression) {
      INFO(n << ' ' << expression);
      CHECK(after(canonicalise, over(t, "%r : " + n + "[4,8] = " + expression)) == printed(parsed("%x : " + n + "[4,8] = input \"x\"\n%y : " + n + "[4,8] = input \"y\"\noutput \"o\" = %x")));
    };
    gone("mul %x, " + n + "(1)");
    gone("mul " + n + "(1), %x");
    gone("div %x, " + n + "(1)");
    gone("sub %x, " + n + "(0)");
    gone(is_float_type ? "add %x, " + n + "(-0)" : "add %x, " + n + "(0)");
    gone("cast %x");
    CHECK(after(canonicalise, over(t, "%a : " + n + "[4,8] = neg %x\n%r : " + n + "[4,8] = neg %a")) ==
          printed(parsed("%x : " + n + "[4,8] = input \"x\"\n%y : " + n + "[4,8] = input \"y\"\n%a : " + n + "[4,8] = neg %x\noutput \"o\" = %x")));
  }
  CHECK(after(canonicalise, f("%a : f32[4,8] = abs %x\n%r : f32[4,8] = abs %a")) == normal("%x : f32[4,8] = input \"x\"\n%y : f32[4,8] = input \"y\"\n%a : f32[4,8] = abs %x\noutput \"o\" = %a"));
  CHECK(after(canonicalise, f("%a : f32[4,8] = neg %x\n%r : f32[4,8] = abs %a")) == normal(f("%a : f32[4,8] = neg %x\n%r : f32[4,8] = abs %x")));
}

// x+0 turns −0 to +0; x·0 and x−x are NaN for some x; a narrowing cast loses bits.
TEST_CASE("keeps what would change a bit") {
  for (const char* equations : {
           "%r : f32[4,8] = add %x, f32(0)", "%r : f32[4,8] = sub %x, f32(-0)", "%r : f32[4,8] = mul %x, f32(0)", "%r : f32[4,8] = mul %x, f32(-1)",
           "%r : f32[4,8] = sub %x, %x", "%r : f32[4,8] = div %x, %x", "%r : f32[4,8] = sub f32(0), %x", "%r : f32[4,8] = div f32(1), %x",
           "%r : f32[4,8] = max %x, %x", "%r : f32[4,8] = pow %x, f32(1)", "%r : f32[4,8] = pow %x, f32(2)",
           "%a : bf16[4,8] = cast %x\n%r : f32[4,8] = cast %a", "%a : f16[4,8] = cast %x\n%r : f32[4,8] = cast %a",
           "%a : f64[4,8] = cast %x\n%r : f32[4,8] = cast %a", "%a : i32[4,8] = cast %x\n%r : f32[4,8] = cast %a",
           "%a : f32[4,8] = recip %x\n%r : f32[4,8] = recip %a", "%a : f32[4,8] = exp %x\n%r : f32[4,8] = log %a",
           "%a : f32[4,8] = recip %y\n%r : f32[4,8] = mul %x, %a", "%a : f32[4,8] = mul %x, f32(2)\n%r : f32[4,8] = mul %a, f32(0.5)",
           "%a : f32[4,8] = add %x, f32(1)\n%r : f32[4,8] = sub %a, f32(1)",
           "%a : f32[4,8] = add %x, %y\n%r : f32[4,8] = sub %a, %y", "%r : i32[4,8] = eq %x, %x", "%r : i32[4,8] = le %x, %x"}) {
    INFO(equations);
    CHECK(unchanged(canonicalise, f(equations)));
  }
  for (const char* equations : {"%a : f32[4,8] = cast %x\n%r : i32[4,8] = cast %a", "%r : i32[4,8] = div %x, %x", "%a : i8[4,8] = cast %x\n%r : i32[4,8] = cast %a",
                                "%r : i32[4,8] = add %x, i32(1)"}) {
    INFO(equations);
    CHECK(unchanged(canonicalise, over(i32, equations)));
  }
  // a constant that broadcasts the value is no identity
  CHECK(unchanged(canonicalise, "%x : f32[8] = input \"x\"\n%c : f32[4,8] = constant f32(1)\n%r : f32[4,8] = mul %x, %c\noutput \"o\" = %r"));
  CHECK(unchanged(canonicalise, f("%c : f32[8] = constant {values=[1,1,1,1,1,1,1,2]}\n%r : f32[4,8] = mul %x, %c")));
}

TEST_CASE("drops movement that moves nothing") {
  const std::string x = "%x : f32[4,8] = input \"x\"\n%y : f32[4,8] = input \"y\"\n";
  const std::string nothing = printed(parsed(x + "output \"o\" = %x"));
  for (const char* expression : {"reshape %x", "broadcast %x", "transpose %x {perm=[0,1]}", "concat %x {axis=0}", "slice %x {start=[0,0] size=[4,8]}"}) {
    INFO(expression);
    CHECK(after(canonicalise, f(std::string("%r : f32[4,8] = ") + expression)) == nothing);
  }
  CHECK(after(canonicalise, f("%a : f32[32] = reshape %x\n%r : f32[2,16] = reshape %a")) == normal(f("%a : f32[32] = reshape %x\n%r : f32[2,16] = reshape %x")));
  CHECK(after(canonicalise, "%x : f32[4,1,8] = input \"x\"\n%r : f32[1,4,8] = transpose %x {perm=[1,0,2]}\noutput \"o\" = %r") ==
        normal("%x : f32[4,1,8] = input \"x\"\n%r : f32[1,4,8] = reshape %x\noutput \"o\" = %r"));
  // transpositions of transpositions are one, or none, or a reshape
  const std::string cube = "%x : f32[4,1,8] = input \"x\"\n%a : f32[8,1,4] = transpose %x {perm=[2,1,0]}\n", end = "\noutput \"o\" = %r";
  CHECK(after(canonicalise, f("%a : f32[8,4] = transpose %x {perm=[1,0]}\n%r : f32[4,8] = transpose %a {perm=[1,0]}")) ==
        normal("%x : f32[4,8] = input \"x\"\n%y : f32[4,8] = input \"y\"\n%a : f32[8,4] = transpose %x {perm=[1,0]}\noutput \"o\" = %x"));
  CHECK(after(canonicalise, cube + "%r : f32[1,4,8] = transpose %a {perm=[1,2,0]}" + end) == normal(cube + "%r : f32[1,4,8] = reshape %x" + end));
  CHECK(after(canonicalise, "%x : f32[2,3,4] = input \"x\"\n%a : f32[3,2,4] = transpose %x {perm=[1,0,2]}\n%r : f32[4,3,2] = transpose %a {perm=[2,0,1]}" + end) ==
        normal("%x : f32[2,3,4] = input \"x\"\n%a : f32[3,2,4] = transpose %x {perm=[1,0,2]}\n%r : f32[4,3,2] = transpose %x {perm=[2,1,0]}" + end));
  for (const char* equations : {"%r : f32[8,4] = transpose %x {perm=[1,0]}", "%r : f32[3,8] = slice %x {start=[1,0] size=[3,8]}",
                                "%r : f32[2,8] = slice %x {start=[0,0] size=[2,8] step=[2,1]}", "%r : f32[8,8] = concat %x, %y {axis=0}", "%r : f32[2,4,8] = broadcast %x"})
    CHECK(unchanged(canonicalise, f(equations)));
}

TEST_CASE("folds pointwise equations over scalar constants") {
  CHECK(after(canonicalise, f("%a : f32[] = mul f32(3), f32(0.5)\n%r : f32[4,8] = add %x, %a")) == normal(f("%r : f32[4,8] = add %x, f32(1.5)")));
  CHECK(after(canonicalise, f("%a : f32[] = div f32(1), f32(0)\n%r : f32[4,8] = add %x, %a")) == normal(f("%r : f32[4,8] = add %x, f32(inf)")));
  CHECK(after(canonicalise, f("%a : bf16[] = cast f32(1.00390625)\n%b : f32[] = cast %a\n%r : f32[4,8] = add %x, %b")) == normal(f("%r : f32[4,8] = add %x, f32(1)")));
  CHECK(after(canonicalise, over(i32, "%a : i32[] = div i32(-7), i32(2)\n%r : i32[4,8] = add %x, %a")) == normal(over(i32, "%r : i32[4,8] = add %x, i32(-3)")));
  CHECK(after(canonicalise, over(i32, "%a : i32[] = lt f32(1), f32(2)\n%r : i32[4,8] = mul %x, %a")) ==
        printed(parsed("%x : i32[4,8] = input \"x\"\n%y : i32[4,8] = input \"y\"\noutput \"o\" = %x")));
}

TEST_CASE("records the rewrites that would change rounding, and keeps the original") {
  pass::record notes;
  const std::string reciprocal = "%a : f32[4,8] = recip %y\n%r : f32[4,8] = mul %x, %a";
  CHECK(after(canonicalise, f(reciprocal), &notes) == normal(f(reciprocal)));
  REQUIRE(notes.numerical_declines.size() == 1);
  CHECK(notes.numerical_declines[0].reason == inexact::reciprocal_division);

  notes = {};
  const std::string scaled = "%w : f32[8,4] = input \"w\"\n%a : f32[4,8] = mul %x, f32(0.125)\n%r : f32[4,4] = matmul %a, %w";
  CHECK(after(canonicalise, f(scaled), &notes) == normal(f(scaled)));
  REQUIRE(notes.numerical_declines.size() == 1);
  CHECK(notes.numerical_declines[0].reason == inexact::factor_scalar);

  notes = {};  // a factor of one is no rewrite to decline: it is gone
  CHECK(after(canonicalise, f("%w : f32[8,4] = input \"w\"\n%a : f32[4,8] = mul %x, f32(1)\n%r : f32[4,4] = matmul %a, %w"), &notes) ==
        normal(f("%w : f32[8,4] = input \"w\"\n%r : f32[4,4] = matmul %x, %w")));
  CHECK(notes.numerical_declines.empty());

  notes = {};
  after(canonicalise, f("%r : f32[4,8] = mul %x, %y"), &notes);
  CHECK(notes.numerical_declines.empty());
  CHECK(notes.changed.empty());
}

TEST_CASE("names the equation of the traced graph in a numerical decline") {
  ir::graph g = parsed(f("%z : f32[4,8] = mul f32(1), %y\n%a : f32[4,8] = recip %z\n%r : f32[4,8] = mul %a, %x"));
  for (uint32 id = 0; id < g.size(); ++id) g.eqns[id].origin = id;
  pass::record notes;
  pass::canonicalise(g, notes);
  REQUIRE(notes.numerical_declines.size() == 1);
  CHECK(notes.numerical_declines[0].origin == g.outputs[0].value);
}

TEST_CASE("keeps every bit of random graphs") { check_bits(canonicalise, 1000); }

TEST_CASE("select between equal branches is that branch") {
  CHECK(after(canonicalise, f("%c : i32[4,8] = input \"c\"\n%r : f32[4,8] = select %c, %x, %x")) ==
        normal("%x : f32[4,8] = input \"x\"\n%y : f32[4,8] = input \"y\"\n%c : i32[4,8] = input \"c\"\noutput \"o\" = %x"));
  CHECK(unchanged(canonicalise, "%x : f32[8] = input \"x\"\n%c : i32[4,8] = input \"c\"\n%r : f32[4,8] = select %c, %x, %x\noutput \"o\" = %r"));
}

// |−x| is |x| for floats and signed integers only: an unsigned −x wraps, and | · | of it is itself.
TEST_CASE("keeps the bits of abs after neg for every element type") {
  for (dtype t : {f32, f64, f16, bf16, i32, i8, u32, u8}) {
    const std::string n(name(t));
    const ir::graph g = parsed(over(t, "%a : " + n + "[4,8] = neg %x\n%r : " + n + "[4,8] = abs %a"));
    pass::record notes;
    poot_tests::draws d(7);
    INFO(n);
    CHECK(same_values(g, pass::canonicalise(g, notes), d));
  }
}

TEST_CASE("leaves nothing to a second run where one rewrite makes room for another") {
  for (const char* equations : {"%a : f32[4,8] = abs %x\n%b : f32[4,8] = neg %a\n%r : f32[4,8] = abs %b",
                                "%a : f32[1,4,8] = reshape %x\n%r : f32[4,1,8] = transpose %a {perm=[1,0,2]}",
                                "%a : f32[4,8] = neg %y\n%b : f32[4,8] = neg %a\n%r : f32[4,8] = add %b, %x"}) {
    pass::record notes, again;
    const ir::graph once = pass::canonicalise(parsed(f(equations)), notes), twice = pass::canonicalise(once, again);
    INFO(std::string(equations));
    CHECK(again.changed.empty());
    CHECK(printed(once) == printed(twice));
  }
}
