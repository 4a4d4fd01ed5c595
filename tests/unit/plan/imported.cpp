// Which launches take a shipped kernel: a plan records it when it is made by the compiler, and at run time.
#include <doctest/doctest.h>

#include <poot/ir/parse.hpp>
#include <poot/plan/explain.hpp>
#include <poot/plan/parse.hpp>
#include <poot/poot.hpp>

#include <string>

using namespace poot;
using plan::device_class;
using plan::origin;
using plan::shipped;
using plan::shipped_kernel;

namespace {

constexpr auto x = input<"x", f32, 70, 64>;
constexpr auto w = weight<"w", f32, 64, 72>;
constexpr auto product = output<"y">(matmul(x, w));
constexpr auto with_steps = output<"y">(tanh(matmul(x, w)));
constexpr auto chain = output<"y">(exp(x) * x);

static_assert(planned<product, targets::vulkan_lavapipe>.launches[0].body == origin::imported);
static_assert(planned<product, targets::cuda_sm80>.launches[0].body == origin::imported);
static_assert(planned<with_steps, targets::vulkan_lavapipe>.launches[0].body == origin::generated);
static_assert(planned<chain, targets::vulkan_lavapipe>.launches[0].body == origin::generated);
static_assert(planned<product, targets::aie_npu1>.launches[0].body == origin::none);
static_assert(planned<product, targets::host>.launches[0].body == origin::imported);
static_assert(plan::shipped_of(planned<product, targets::cuda_sm80>, planned<product, targets::cuda_sm80>.launches[0]) ==
              shipped_kernel{shipped::gemm, device_class::gpu});

/// The name of the shipped kernel of the first launch; else its origin.
std::string body_of(const std::string& body, const target& where = targets::vulkan_lavapipe) {
  const plan::program p = plan::compile(ir::parse("graph t {\n" + body + "output \"y\" = %y\n}\n"), where);
  const shipped_kernel s = plan::shipped_of(p, p.launches[0]);
  CHECK((s.family != shipped::none) == (p.launches[0].body == origin::imported && where.kind != backend::host));
  return std::string(s.family != shipped::none ? plan::name(s).str() : plan::name(p.launches[0].body));
}
std::string matmul_of(const std::string& a, const std::string& b, const std::string& to, const char* with = "", const char* t = "f32") {
  return "%a : " + std::string(t) + "[" + a + "] = input \"a\"\n%b : f32[" + b + "] = weight \"b\"\n%y : f32[" + to + "] = matmul %a, %b " + with + "\n";
}

}  // namespace

TEST_CASE("takes shipped contractions for their extents only") {
  CHECK(body_of(matmul_of("1,64", "64,68", "1,68")) == "gemv_processor");
  CHECK(body_of(matmul_of("1,64", "64,68", "1,68"), targets::hip_gfx90a) == "gemv_gpu");
  CHECK(body_of(matmul_of("1,66", "66,68", "1,68")) == "generated");
  CHECK(body_of(matmul_of("1,64", "64,66", "1,66")) == "generated");
  CHECK(body_of(matmul_of("1,36", "36,68", "1,68"), targets::cuda_sm80) == "generated");
  CHECK(body_of(matmul_of("3,1,64", "3,64,68", "3,1,68")) == "batched_gemv_processor");
  CHECK(body_of(matmul_of("3,1,64", "64,68", "3,1,68")) == "generated");
  CHECK(body_of(matmul_of("5,64", "64,72", "5,72")) == "gemm_processor");
  CHECK(body_of(matmul_of("T<=9,64", "64,72", "T,72")) == "gemm_processor");
  CHECK(body_of(matmul_of("T<=4,64", "64,72", "T,72")) == "generated");
  CHECK(body_of(matmul_of("4,64", "64,72", "4,72")) == "generated");
  CHECK(body_of(matmul_of("5,64", "64,68", "5,68")) == "generated");
  CHECK(body_of(matmul_of("5,64", "72,64", "5,72", "{transpose_b=1}")) == "generated");
  CHECK(body_of(matmul_of("5,64", "64,72", "5,72", "", "bf16")) == "generated");
  CHECK(body_of("%a : f32[8,8] = input \"a\"\n%y : f32[8,8] = matmul %a, %a\n") == "generated");
  CHECK(body_of("%c : f32[2,16,64] = state \"c\"\n%a : f32[2,8,64] = slice %c {start=[0,3,0] size=[2,8,64] step=[1,1,1]}\n"
                "%b : f32[2,64,8] = input \"b\"\n%y : f32[2,8,8] = matmul %a, %b\n") == "generated");
}

TEST_CASE("takes other shipped kernels") {
  CHECK(body_of("%x : f32[2,512] = input \"x\"\n%y : i32[2,1] = reduce_argmax %x {axis=1}\n") == "argmax_processor");
  CHECK(body_of("%x : f32[2,260] = input \"x\"\n%y : i32[2,1] = reduce_argmax %x {axis=1}\n") == "generated");
  CHECK(body_of("%x : f32[2,260] = input \"x\"\n%y : i32[2,1] = reduce_argmax %x {axis=1}\n", targets::cuda_sm80) == "argmax_gpu");
  CHECK(body_of("%x : f32[512,2] = input \"x\"\n%y : i32[1,2] = reduce_argmax %x {axis=0}\n") == "generated");
  CHECK(body_of("%s : u32[] = input \"s\"\n%o : u32[] = input \"o\"\n%y : f32[3,5] = random_uniform %s, %o\n") == "random_uniform");
  CHECK(body_of("%s : u32[] = input \"s\"\n%o : u32[] = input \"o\"\n%y : f32[1] = random_uniform %s, %o\n") == "generated");
  CHECK(body_of("%s : u32[] = input \"s\"\n%y : f32[3] = random_uniform %s, %s\n") == "generated");
  const std::string gather = "%w : q8_0[6,64] = weight \"w\"\n%i : i32[4] = input \"i\"\n%g : q8_0[4,64] = gather %w, %i {axis=0}\n";
  CHECK(body_of(gather + "%y : f32[4,64] = cast %g\n") == "packed_gather_q8_0");
  CHECK(body_of(gather + "%y : bf16[4,64] = cast %g\n") == "generated");
  CHECK(body_of("%x : bf16[3,8] = input \"x\"\n%y : f32[3,8] = cast %x\n") == "widen_bf16");
  CHECK(body_of("%x : bf16[3,7] = input \"x\"\n%y : f32[3,7] = cast %x\n") == "generated");
  CHECK(body_of("%x : f16[3,8] = input \"x\"\n%y : f32[3,8] = cast %x\n") == "generated");
}

TEST_CASE("launches of one shipped kernel share it, whatever their extents") {
  const plan::program p = plan::compile(ir::parse("graph t {\n%a : f32[9,64] = input \"a\"\n%b : f32[64,72] = weight \"b\"\n%c : f32[72,8] = weight \"c\"\n"
                                                  "%y : f32[9,72] = matmul %a, %b\n%z : f32[9,8] = matmul %y, %c\noutput \"z\" = %z\n}\n"),
                                        targets::vulkan_lavapipe);
  REQUIRE(p.launches.size() == 2);
  CHECK(p.kernel_table.size() == 1);
}

TEST_CASE("is written, read back and explained") {
  const plan::program p = plan::instantiate<product, targets::vulkan_lavapipe>();
  const std::string s(plan::print(p).str());
  CHECK(s.find("launch contraction imported exact") != s.npos);
  CHECK(plan::equal(plan::parse(s), p));
  CHECK(plan::explain(p).str().find("; imported, gemm_processor") != std::string::npos);
  std::string claimed = s;
  claimed.replace(claimed.find("imported"), 8, "generated");
  CHECK_THROWS_WITH_AS(plan::parse(claimed), doctest::Contains("its members make origin "), error);
}

TEST_CASE("a launch that the target refuses has no body") {
  const plan::program p = plan::instantiate<product, targets::aie_npu1>();
  const std::string s(plan::print(p).str());
  CHECK(s.find("launch contraction none exact") != s.npos);
  CHECK(plan::equal(plan::parse(s), p));
  CHECK(plan::explain(p).str().find("; no kernel") != std::string::npos);
  CHECK(body_of("%x : f64[3] = input \"x\"\n%y : f64[3] = exp %x\n") == "none");
  CHECK(body_of("%x : f64[3] = input \"x\"\n%y : f64[3] = exp %x\n", targets::host) == "generated");
}
