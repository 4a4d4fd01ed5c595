#include "before_after.hpp"

#include <poot/pass/fold_iota.hpp>

using namespace before_after;

namespace {
constexpr auto fold = [](ir::graph g, pass::record& notes) { return pass::fold_iota(std::move(g), notes); };
}

static_assert([] {
  pass::record notes;
  const ir::graph made = pass::fold_iota(ir::parse("graph t {\n%a : i32[1,8] = iota {axis=0}\noutput \"y\" = %a\n}"), notes);
  return made.eqns[0].kind == ir::op::constant && made.attr_pool[made.eqns[0].attrs.first] == 0;
}());

TEST_CASE("makes a constant of an iota along an extent of one") {
  for (const char* type : {"i32[1,8]", "f32[1,8]", "u32[1]", "bf16[1,2,3]"})
    CHECK(after(fold, std::string("%a : ") + type + " = iota {axis=0}\noutput \"y\" = %a") == normal(std::string("%a : ") + type + " = constant " + std::string(type).substr(0, std::string(type).find('[')) + "(0)\noutput \"y\" = %a"));
  CHECK(unchanged(fold, "%a : i32[1,8] = iota {axis=1}\noutput \"y\" = %a"));
  CHECK(after(fold, "%x : f32[L<=8] = input \"x\"\n%a : i32[1,L] = iota {axis=0}\noutput \"y\" = %a\noutput \"z\" = %x") ==
        normal("%x : f32[L<=8] = input \"x\"\n%a : i32[1,L] = constant i32(0)\noutput \"y\" = %a\noutput \"z\" = %x"));
  CHECK(unchanged(fold, "%x : f32[L<=8] = input \"x\"\n%a : i32[L] = iota {axis=0}\noutput \"y\" = %a\noutput \"z\" = %x"));
}

TEST_CASE("drops gathers that take every row in order") {
  for (int axis : {0, 1}) {
    const std::string x = "%x : f32[4,4] = input \"x\"\n%i : i32[4] = iota {axis=0}\n", gather = "%g : f32[4,4] = gather %x, %i {axis=" + std::to_string(axis) + "}\noutput \"y\" = %g";
    CHECK(after(fold, x + gather) == printed(parsed(x + "output \"y\" = %x")));
  }
  CHECK(unchanged(fold, "%x : f32[4,4] = input \"x\"\n%i : i32[3] = iota {axis=0}\n%g : f32[3,4] = gather %x, %i {axis=0}\noutput \"y\" = %g"));
  CHECK(unchanged(fold, "%x : f32[4,4] = input \"x\"\n%i : i32[4] = input \"i\"\n%g : f32[4,4] = gather %x, %i {axis=0}\noutput \"y\" = %g"));
  CHECK(unchanged(fold, "%x : f32[4] = input \"x\"\n%i : i32[4,1] = iota {axis=0}\n%g : f32[4,1] = gather %x, %i {axis=0}\noutput \"y\" = %g"));
}

TEST_CASE("adds no index of an extent of one") {
  const std::string x = "%x : i32[1] = input \"x\"\n", zero = "%z : i32[1] = iota {axis=0}\n";
  CHECK(after(fold, x + zero + "%y : i32[1] = add %x, %z\n%n : i32[1] = neg %y\noutput \"y\" = %n").find("add") == std::string::npos);
  CHECK(after(fold, x + zero + "%y : i32[1] = add %z, %x\n%n : i32[1] = neg %y\noutput \"y\" = %n").find("add") == std::string::npos);
  const std::string ranks = after(fold, "%x : i32[] = input \"x\"\n" + zero + "%y : i32[1] = add %x, %z\n%n : i32[1] = neg %y\noutput \"y\" = %n");
  CHECK(ranks.find("add") == std::string::npos);
  CHECK(ranks.find("reshape %x") != std::string::npos);
  // floats: −0 + 0 is 0; more elements than one; more than zeros
  for (const char* body : {"%x : f32[1] = input \"x\"\n%z : f32[1] = iota {axis=0}\n%y : f32[1] = add %x, %z\noutput \"y\" = %y",
                           "%x : i32[1] = input \"x\"\n%z : i32[1,4] = iota {axis=0}\n%y : i32[1,4] = add %x, %z\noutput \"y\" = %y",
                           "%x : i32[4] = input \"x\"\n%z : i32[4] = iota {axis=0}\n%y : i32[4] = add %x, %z\noutput \"y\" = %y",
                           "%x : i32[1] = input \"x\"\n%z : i32[1] = iota {axis=0}\n%y : i32[1] = sub %z, %x\noutput \"y\" = %y",
                           "%x : i32[1] = input \"x\"\n%y : i32[1] = add %x, %x\noutput \"y\" = %y"})
    CHECK(after(fold, body).find(std::string(body).find(" sub ") == std::string::npos ? " = add %" : " = sub %") != std::string::npos);
  CHECK(after(fold, "%x : f32[1] = input \"x\"\n%z : f32[1] = iota {axis=0}\n%y : f32[1] = add %x, %z\noutput \"y\" = %y").find("add") != std::string::npos);
}

TEST_CASE("takes the only row without asking the index") {
  const std::string index = "%i : i32[1] = input \"i\"\n";
  CHECK(after(fold, "%x : f32[1,4] = input \"x\"\n" + index + "%g : f32[1,4] = gather %x, %i {axis=0}\noutput \"y\" = %g").find("gather") == std::string::npos);
  CHECK(after(fold, "%x : f32[3,1] = input \"x\"\n%i : i32[1,1] = input \"i\"\n%g : f32[3,1,1] = gather %x, %i {axis=1}\noutput \"y\" = %g").find("reshape %x") != std::string::npos);
  for (const char* body : {"%x : f32[2,4] = input \"x\"\n%i : i32[1] = input \"i\"\n%g : f32[1,4] = gather %x, %i {axis=0}\noutput \"y\" = %g",
                           "%x : f32[1,4] = input \"x\"\n%i : i32[2] = input \"i\"\n%g : f32[2,4] = gather %x, %i {axis=0}\noutput \"y\" = %g"})
    CHECK(unchanged(fold, body));
}

TEST_CASE("keeps the bits") {
  poot_tests::draws d(4);
  for (const char* body : {"%x : bf16[4,3] = input \"x\"\n%i : i32[3] = iota {axis=0}\n%g : bf16[4,3] = gather %x, %i {axis=1}\n%z : i32[4,1] = iota {axis=1}\n%n : i32[4,1] = neg %z\noutput \"y\" = %g\noutput \"z\" = %n",
                           "%x : f32[1,3] = input \"x\"\n%i : i32[1] = iota {axis=0}\n%g : f32[1,3] = gather %x, %i {axis=0}\noutput \"y\" = %g",
                           "%x : f32[3,1] = input \"x\"\n%i : i32[1,1] = input \"i\"\n%g : f32[3,1,1] = gather %x, %i {axis=1}\noutput \"y\" = %g",
                           "%x : i32[1] = input \"x\"\n%i : i32[1,1] = iota {axis=0}\n%g : i32[1,1] = add %i, %x\noutput \"y\" = %g"}) {
    pass::record notes, again;
    const ir::graph g = parsed(body), made = pass::fold_iota(g, notes);
    CHECK(ir::verify(made));
    CHECK(same_values(g, made, d));
    CHECK(notes.changed.size() == 1);
    pass::fold_iota(made, again);
    CHECK(again.changed.empty());
  }
}
