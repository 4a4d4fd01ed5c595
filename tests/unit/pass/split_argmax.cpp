#include "before_after.hpp"

#include <poot/pass/split_argmax.hpp>
#include <poot/plan/compile.hpp>

#include <limits>
#include <utility>

using namespace before_after;

namespace {

constexpr auto split = [](ir::graph g, pass::record& notes) { return pass::split_argmax(std::move(g), targets::vulkan_lavapipe, notes); };

std::string argmax_of(const std::string& type, int axis, const std::string& result) {
  return "%x : " + type + " = input \"x\"\n%i : i32[" + result + "] = reduce_argmax %x {axis=" + std::to_string(axis) + "}\noutput \"i\" = %i";
}

}  // namespace

TEST_CASE("splits few long rows of floats") {
  CHECK(after(split, argmax_of("f32[1,16384]", 1, "1,1")) ==
        normal("%x : f32[1,16384] = input \"x\"\n%1 : f32[1,4,4096] = reshape %x\n%2 : f32[1,4,1] = reduce_max %1 {axis=2}\n"
               "%3 : i32[1,4,4096] = eq %1, %2\n%4 : i32[1,4,4096] = ne %1, %1\n%5 : i32[1,4,4096] = or %3, %4\n"
               "%6 : f32[1,4,4096] = cast %5\n%7 : i32[1,4,1] = reduce_argmax %6 {axis=2}\n%8 : i32[1,4] = reshape %7\n"
               "%9 : f32[1,4] = reshape %2\n%10 : i32[1,1] = reduce_argmax %9 {axis=1}\n%11 : i32[4] = iota {axis=0}\n"
               "%12 : i32[] = constant i32(4096)\n%13 : i32[4] = mul %11, %12\n%14 : i32[1,4] = add %13, %8\n"
               "%15 : i32[1,4] = eq %11, %10\n%16 : i32[1,4] = mul %15, %14\n%17 : f32[1,4] = cast %16\n"
               "%18 : f32[1,1] = reduce_sum %17 {axis=1}\n%19 : i32[1,1] = cast %18\noutput \"i\" = %19"));
  for (const char* kept : {"f32[1,8192]", "f32[64,16384]", "i32[1,16384]", "f32[1,16411]"})
    CHECK(unchanged(split, argmax_of(kept, 1, std::string(kept).find("64,") != std::string::npos ? "64,1" : "1,1")));
  CHECK(unchanged(split, argmax_of("f32[16384,1]", 0, "1,1")));
  CHECK(unchanged(split, "%x : f32[1,V<=16384] = input \"x\"\n%i : i32[1,1] = reduce_argmax %x {axis=1}\noutput \"i\" = %i"));
}

TEST_CASE("parts the row of a product by the columns that a workgroup computes") {
  const auto parts = [](int64 rows, int64 length, const target& where, const char* step = "") {
    const std::string m = std::to_string(rows), n = std::to_string(length), y = "f32[" + m + "," + n + "]";
    const ir::graph g = parsed("%x : f32[" + m + ",8] = input \"x\"\n%w : f32[" + n + ",8] = weight \"w\"\n%a : " + y + " = matmul %x, %w {transpose_b=1}\n%u : " + y +
                               " = input \"u\"\n%b : " + y + " = " + (*step ? step : "add %a, %u") + "\n%i : i32[" + m + ",1] = reduce_argmax %b {axis=1}\noutput \"i\" = %i");
    pass::record notes;
    const ir::graph made = pass::split_argmax(g, where, notes);
    for (const ir::eqn& e : made.eqns)
      if (e.kind == ir::op::reshape) return e.type.last().code;
    return int64{0};
  };
  CHECK(parts(1, 32000, targets::cuda_sm80) == 64);
  CHECK(parts(1, 32000, targets::vulkan_lavapipe) == 256);
  CHECK(parts(1, 128256, targets::hip_gfx90a) == 64);
  CHECK(parts(1, 151936, targets::vulkan_lavapipe) == 128);
  CHECK(parts(1, 32004, targets::cuda_sm80) == 63);
  CHECK(parts(1, 29 * 1733, targets::cuda_sm80) == 1733);         // no divisor from 32 to 64
  CHECK(parts(2, 32000, targets::cuda_sm80) == 4000);             // more rows than one
  CHECK(parts(1, 32000, targets::cuda_sm80, "neg %u") == 4000);   // the row of no product
}

TEST_CASE("leaves rows whole that are reduced before, and joins their region") {
  const auto behind = [](const char* step) {
    return std::string("%x : f32[1,32000] = input \"x\"\n%u : f32[1,1] = input \"u\"\n%g : f32[1,1] = reduce_max %x {axis=1}\n%a : f32[1,1] = mul %g, %u\n%b : f32[1,32000] = ") + step +
           "\n%i : i32[1,1] = reduce_argmax %b {axis=1}\noutput \"i\" = %i\noutput \"g\" = %g";
  };
  CHECK(unchanged(split, behind("sub %x, %a")));
  CHECK_FALSE(unchanged(split, behind("sub %x, %u")));
  CHECK(plan::compile(parsed(behind("sub %x, %a")), targets::vulkan_lavapipe).dispatch_count() == 1);
}

TEST_CASE("two dispatches on devices, one on the host") {
  const ir::graph g = parsed(argmax_of("f32[2,128256]", 1, "2,1"));
  CHECK(plan::compile(g, targets::vulkan_lavapipe).dispatch_count() == 2);
  CHECK(plan::compile(g, targets::cuda_sm90a).dispatch_count() == 2);
  CHECK(plan::compile(g, targets::host).dispatch_count() == 1);
}

TEST_CASE("keeps the index: of the greatest, of the first of equals, of a NaN, of rows of nothing but infinities") {
  poot_tests::draws d(5);
  for (const char* t : {"f32", "f16", "bf16"}) {
    const ir::graph g = parsed(argmax_of(std::string(t) + "[3,16640]", 1, "3,1"));
    pass::record notes;
    const ir::graph made = pass::split_argmax(g, targets::vulkan_lavapipe, notes);
    REQUIRE(notes.changed.size() == 1);
    for (int i = 0; i < 3; ++i) CHECK(same_values(g, made, d));  // drawn values tie often and hold NaNs, infinities and zeros
  }
  const ir::graph g = parsed(argmax_of("f32[3,16640]", 1, "3,1"));
  pass::record notes;
  const ir::graph made = pass::split_argmax(g, targets::vulkan_lavapipe, notes);
  const auto check = [&](float everywhere, std::initializer_list<std::pair<size_t, float>> somewhere) {
    ir::tensor x(g.eqns[0].type);
    for (uint64& bits : x.bits) bits = ieee::to_bits(everywhere);
    for (const auto& [at, value] : somewhere) x.bits[at] = ieee::to_bits(value);
    const vec<ir::named_tensor> given{{"x", x}};
    const auto of = [&](const ir::graph& graph) { return ir::interpret(graph, given, {ir::arithmetic::exact, ir::outside::clamp}).outputs[0].value.bits; };
    CHECK(of(g) == of(made));
  };
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  check(0.0f, {});
  check(-0.0f, {{700, 0.0f}, {600, 0.0f}});
  check(-infinity, {});
  check(1.0f, {{16639, 2.0f}, {16640 + 4095, 2.0f}, {16640 + 4096, 2.0f}});
  check(1.0f, {{9000, nan}, {5000, infinity}, {16640, nan}});
  check(nan, {{3, 1.0f}});
}
