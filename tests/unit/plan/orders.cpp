// The order of a sum that a graph or a program says, where programs add in another.
#include <poot/ir/parse.hpp>
#include <poot/plan/parse.hpp>
#include <poot/plan/print.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace poot;

TEST_CASE("a graph whose order no target keeps is refused, by the passes and in a program's text") {
  const auto planned_with = [](const std::string& line, const std::string& order, const target& where) {
    return plan::compile(ir::parse("graph g {\n%x : f32[4,600] = input \"x\"\n%n : i32[4,600] = input \"n\"\n%y : " + line + order + "}\noutput \"y\" = %y\n}\n"), where);
  };
  const std::string lines[] = {"f32[4,1] = reduce_sum %x {axis=1", "f32[4,4] = matmul %x, %x {transpose_b=1", "i32[4,1] = reduce_sum %n {axis=1"};
  for (const target& where : {targets::host, targets::vulkan_lavapipe, targets::cuda_sm90a})
    for (int which : {0, 1, 2}) {
      const std::string given[] = {" order={lanes=256 chunk=4096}", " order={lanes=1 chunk=256}", " order={lanes=1 chunk=256 fused=1}", " order={lanes=1 chunk=4096}",
                                   " order={lanes=256 chunk=256}", " order={lanes=3 chunk=7}", " order={lanes=1 chunk=0}", " order={lanes=0 chunk=33}"};
      for (const std::string& order : given) {
        const bool is_kept = which == 0 ? order == given[0] : which == 1 ? order == given[1] || order == given[2] : false;
        CAPTURE(lines[which] + order);
        if (is_kept) CHECK_NOTHROW(planned_with(lines[which], order, where));
        else CHECK_THROWS_WITH_AS(planned_with(lines[which], order, where), doctest::Contains("%2 (" ), error);
      }
      if (which == 2) continue;
      const std::string told(plan::print(planned_with(lines[which], "", where)).str());
      const std::string order = which == 0 ? "order={lanes=256 chunk=4096" : "order={lanes=1 chunk=256";
      const size_t at = told.find(order);
      REQUIRE(at != std::string::npos);
      CHECK_NOTHROW(plan::parse(told));
      for (const char* other : {"order={lanes=256 chunk=33", "order={lanes=1 chunk=33", "order={lanes=4 chunk=256", "order={lanes=256 chunk=4096 fused=1"}) {
        std::string changed = told;
        changed.replace(at, order.size(), other);
        if (const size_t twice = changed.find("fused=1 fused=1"); twice != std::string::npos) changed.erase(twice, 8);
        CHECK_THROWS_WITH_AS(plan::parse(changed), doctest::Contains("has an order that the target does not add in"), error);
      }
    }
}
