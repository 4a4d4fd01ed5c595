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

TEST_CASE("keeps the bits") {
  poot_tests::draws d(4);
  for (const char* body : {"%x : bf16[4,3] = input \"x\"\n%i : i32[3] = iota {axis=0}\n%g : bf16[4,3] = gather %x, %i {axis=1}\n%z : i32[4,1] = iota {axis=1}\n%n : i32[4,1] = neg %z\noutput \"y\" = %g\noutput \"z\" = %n",
                           "%x : f32[1,3] = input \"x\"\n%i : i32[1] = iota {axis=0}\n%g : f32[1,3] = gather %x, %i {axis=0}\noutput \"y\" = %g"}) {
    pass::record notes, again;
    const ir::graph g = parsed(body), made = pass::fold_iota(g, notes);
    CHECK(ir::verify(made));
    CHECK(same_values(g, made, d));
    CHECK(notes.changed.size() == 1);
    pass::fold_iota(made, again);
    CHECK(again.changed.empty());
  }
}
