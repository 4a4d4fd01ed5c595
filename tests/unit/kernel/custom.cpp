// Users' ops in generated kernels: the bits are those of the interpreter, on devices that fuse, do not, and flush.
#include <poot/ir/parse.hpp>
#include <poot/plan/compile.hpp>

#include <support/custom_ops.hpp>

#include <doctest/doctest.h>

#include "../../device/kernel_machine.hpp"
#include "../../random/interpreted.hpp"

#include <string>

using namespace poot_tests;

namespace {

/// The first difference between the kernels of `body` and the interpreter, in words.
std::string disagreement(std::string body, const std::string& element) {
  for (size_t at = 0; (at = body.find('T', at)) != std::string::npos; at += element.size()) body.replace(at, 1, element);
  const ir::graph g = ir::parse("graph t {\n" + body + "}\n", custom_ops);
  for (const target& where : {targets::cuda_sm80, targets::vulkan_lavapipe, targets::vulkan_swiftshader})
    for (bool fuse : {true, false}) {
      plan::options wanted;
      wanted.fuse = fuse;
      kernel_machine machine(plan::compile(g, where, wanted));
      const runs given = draw_runs(11, g, 2);
      const auto small = where.caps.flushes ? subnormals::flushed : subnormals::kept;
      const std::vector<ir::interpretation> want = interpret_runs(machine.program().graph, given, ir::outside::clamp, small);
      for (size_t k = 0; k < given.size(); ++k)
        if (const std::string d = difference(want[k], machine.run(given[k])); !d.empty())
          return std::string(name(where.kind)) + (fuse ? ", fused, " : ", unfused, ") + d;
    }
  return {};
}

}  // namespace

TEST_CASE("users' ops of one, two and three operands, in every float type, with broadcast operands and numbers") {
  for (const char* t : {"f32", "f16", "bf16"}) {
    CHECK(disagreement("%x : T[1033] = input \"x\"\n%y : T[1033] = every_function %x\noutput \"y\" = %y\n", t) == "");
    CHECK(disagreement("%x : T[7,40] = input \"x\"\n%a : T[40] = weight \"a\"\n%0 : T[7,40] = mul %x, %x\n%1 : T[7,40] = snake %0, %a\n"
                       "%2 : T[7,40] = sub %1, %x\noutput \"y\" = %2\n", t) == "");
    CHECK(disagreement("%x : T[3,5] = input \"x\"\n%h : T[3,1] = input \"h\"\n%0 : T[3,5] = held T(-0.5), %x, %h\n"
                       "%1 : T[3,5] = second_of_three %h, %0, %x\n%2 : T[3,5] = nine %1\n%3 : T[3,5] = add %2, %1\noutput \"y\" = %3\n", t) == "");
  }
}

TEST_CASE("a user's op in a row and behind a contraction") {
  CHECK(disagreement("%x : f32[6,50] = input \"x\"\n%0 : f32[6,50] = every_function %x\n%1 : f32[6,1] = reduce_max %0 {axis=1}\n"
                     "%2 : f32[6,50] = snake %x, %1\n%w : f32[9,50] = weight \"w\"\n%3 : f32[6,9] = matmul %2, %w {transpose_b=1}\n"
                     "%4 : f32[6,9] = snake %3, f32(0.75)\noutput \"y\" = %4\n", "f32") == "");
}

TEST_CASE("kernels of ops that differ in their steps are not shared") {
  const ir::graph g = ir::parse("graph t {\n%x : f32[5] = input \"x\"\n%y : f32[7] = input \"y\"\n%z : f32[9] = input \"z\"\n%0 : f32[5] = held %x, %x, %x\n"
                                "%1 : f32[7] = held %y, %y, %y\n%2 : f32[9] = second_of_three %z, %z, %z\noutput \"a\" = %0\noutput \"b\" = %1\noutput \"c\" = %2\n}\n",
                                custom_ops);
  CHECK(plan::compile(g, targets::cuda_sm80).kernels().size() == 2);
}
