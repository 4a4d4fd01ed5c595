// Products that matrix units compute: which they are, what stays apart from them, and what a program says of them.
#include <poot/dsl/contraction.hpp>
#include <poot/fuse/check.hpp>
#include <poot/ir/parse.hpp>
#include <poot/plan/explain.hpp>
#include <poot/plan/parse.hpp>
#include <poot/plan/planned.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace poot;
using fuse::reason;
using plan::comparison;

namespace {

constexpr plan::options on{.matrix_units = true};

/// A Vulkan device that reports 16 × 16 × 16 of f16 with sums in f32.
constexpr target vulkan_f16 = [] {
  target t = targets::vulkan_lavapipe;
  t.caps.subgroup = 32;
  t.caps.matrix_f16 = true;
  return t;
}();

/// Y = A · W, and what stands in `more` behind it.
struct product {
  int64 m = 16, k = 16, n = 16;
  dtype element = bf16, result = f32;
  bool transposed = false;
  std::string_view more = "";

  constexpr text graph() const {
    text s("graph t {\n  %a : ");
    const auto shape = [&](dtype t, int64 rows, int64 columns) -> text& { return s << name(t) << '[' << rows << ',' << columns << ']'; };
    shape(element, m, k) << " = input \"a\"\n  %w : ";
    shape(element, transposed ? n : k, transposed ? k : n) << " = weight \"w\"\n  %p : ";
    shape(result, m, n) << " = matmul %a, %w" << (transposed ? " {transpose_b=1}\n" : "\n");
    return std::move(s << more << "  output \"p\" = %p\n}\n");
  }
};

constexpr plan::program program_of(const product& of, const target& where = targets::cuda_sm80, const plan::options& wanted = on) {
  return plan::compile(ir::parse(of.graph().str()), where, wanted);
}
constexpr comparison class_of(const product& of, const target& where = targets::cuda_sm80, const plan::options& wanted = on) {
  return program_of(of, where, wanted).comparison_class();
}
constexpr bool is_reordered(const product& of, const target& where = targets::cuda_sm80) { return class_of(of, where) == comparison::reordered; }

}  // namespace

// bf16 on the GPUs that have the unit, f16 on a Vulkan device that says so
static_assert(is_reordered({}) && is_reordered({}, targets::hip_gfx90a) && is_reordered({.element = f16}, vulkan_f16));
static_assert(is_reordered({}, targets::cuda_sm89) && is_reordered({}, targets::cuda_sm90a) && is_reordered({}, targets::cuda_sm100) && is_reordered({}, targets::cuda_sm120));
static_assert(is_reordered({.m = 48, .k = 80, .n = 112, .result = bf16, .transposed = true}) && is_reordered({.result = f16}));
// M, N and K in whole sixteens
static_assert(!is_reordered({.m = 24}) && !is_reordered({.k = 24}) && !is_reordered({.n = 24}) && !is_reordered({.m = 1}));
static_assert(!is_reordered({.m = 8, .transposed = true}) && !is_reordered({.k = 8, .transposed = true}) && !is_reordered({.n = 8, .transposed = true}));
// no unit, or none for these elements
static_assert(!is_reordered({}, targets::hip_gfx906) && !is_reordered({}, targets::hip_gfx1030) && !is_reordered({}, targets::host));
static_assert(!is_reordered({.element = f16}, targets::vulkan_lavapipe) && !is_reordered({.element = f16}, targets::vulkan_swiftshader));
static_assert(!is_reordered({.element = f16}) && !is_reordered({}, vulkan_f16) && !is_reordered({.element = f32}) && !is_reordered({}, targets::aie_npu2));
// typed models too
constexpr auto typed = output<"y">(matmul<f32>(input<"a", bf16, 16, 32>, weight<"w", bf16, 32, 16>));
static_assert(poot::planned<typed, targets::cuda_sm80, on>.comparison_class() == comparison::reordered);
static_assert(poot::planned<typed, targets::cuda_sm80>.comparison_class() == comparison::exact);
// exact is what a caller gets who asks for nothing, and who asks for it
static_assert(class_of({}, targets::cuda_sm80, {}) == comparison::exact);
static_assert(class_of({}, targets::cuda_sm80, {.strict = true, .matrix_units = true}) == comparison::exact);

namespace {
constexpr product with_chain{.more = "  %r : f32[16,16] = neg %p\n  output \"r\" = %r\n"};
}
// its chain is a dispatch of its own, and the decline says why; the exact product takes the chain
static_assert(program_of(with_chain).dispatch_count() == 2 && program_of(with_chain, targets::cuda_sm80, {}).dispatch_count() == 1);
static_assert(program_of(with_chain).declines().size() == 1 && program_of(with_chain).declines()[0] == fuse::decline{2, 3, reason::matrix_unit});
static_assert(program_of(with_chain).launches[0].compares == comparison::reordered && program_of(with_chain).launches[1].compares == comparison::exact);

TEST_CASE("products of one left operand, and rows before products, stay apart from matrix units") {
  const char siblings[] = R"(graph t {
  %a : bf16[16,32] = input "a"
  %v : bf16[32,16] = weight "v"
  %w : bf16[32,16] = weight "w"
  %p : f32[16,16] = matmul %a, %v
  %q : f32[16,16] = matmul %a, %w
  %r : f32[16,16] = mul %p, %q
  output "r" = %r
})";
  const auto dispatches = [](const char* source, const plan::options& o) { return plan::compile(ir::parse(source), targets::cuda_sm80, o).dispatch_count(); };
  CHECK(dispatches(siblings, {}) == 1);
  CHECK(dispatches(siblings, on) == 3);
  const plan::program p = plan::compile(ir::parse(siblings), targets::cuda_sm80, on);
  for (const fuse::decline& d : p.declines()) CHECK(d.why == reason::matrix_unit);
}

TEST_CASE("rows that read the result of a matrix unit are one dispatch, as behind any other") {
  const plan::program p = plan::compile(ir::parse(R"(graph t {
  %a : bf16[16,32] = input "a"
  %w : bf16[16,32] = weight "w"
  %p : f32[16,16] = matmul %a, %w {transpose_b=1}
  %m : f32[16,1] = reduce_max %p {axis=1}
  %d : f32[16,16] = sub %p, %m
  %e : f32[16,16] = exp %d
  output "e" = %e
})"), targets::cuda_sm80, on);
  CHECK(p.dispatch_count() == 2);
  CHECK(p.count(fuse::region_kind::row) == 1);
}

TEST_CASE("operands that are widened before the product are read as they lie, and take matrix units too") {
  const plan::program p = plan::compile(ir::parse(R"(graph t {
  %a : bf16[16,32] = input "a"
  %w : bf16[16,32] = weight "w"
  %x : f32[16,32] = cast %a
  %y : f32[16,32] = cast %w
  %p : f32[16,16] = matmul %x, %y {transpose_b=1}
  output "p" = %p
})"), targets::hip_gfx90a, on);
  CHECK(p.dispatch_count() == 1);
  CHECK(p.comparison_class() == comparison::reordered);
}

TEST_CASE("fused and unfused plans leave the same products to matrix units") {
  plan::options apart = on;
  apart.fuse = false;
  const plan::program fused = program_of(with_chain), unfused = program_of(with_chain, targets::cuda_sm80, apart);
  CHECK(fused.graph.eqns[2].sum == ir::order{1, 256, true, true});
  CHECK(unfused.graph.eqns[2].sum == fused.graph.eqns[2].sum);
  CHECK(unfused.launches[0].kernel == fused.launches[0].kernel);
  CHECK(plan::unfused_plan(fused).comparison_class() == comparison::reordered);
  CHECK(program_of({}).kernels()[0].hash != program_of({}, targets::cuda_sm80, {}).kernels()[0].hash);  // another kernel
}

TEST_CASE("the checker of partitions refuses company for them, whatever the options") {
  const plan::program p = program_of(with_chain);
  const fuse::rules widest = plan::region_rules(targets::cuda_sm80, {.fuse_narrow_casts = true});
  constexpr uint32 none = fuse::grouping::none;
  const uint32 together[] = {none, none, 0, 0}, apart[] = {none, none, 0, 1};
  CHECK(fuse::check_partition(p.graph, {together, 4}, widest).why == reason::matrix_unit);
  CHECK(fuse::check_partition(p.graph, {apart, 4}, widest).legal());
}

TEST_CASE("programs with them are printed, read again and explained") {
  const plan::program p = program_of(with_chain);
  const std::string once(plan::print(p).str());
  CHECK(once.find("launch contraction generated reordered {") != std::string::npos);
  CHECK(once.find("attention=1 matrix_bf16=1 matrix_f16=0}") != std::string::npos);
  CHECK(once.find("order={lanes=1 chunk=256 fused=1 hardware=1}") != std::string::npos);
  CHECK(once.find("matrix_unit\n") != std::string::npos);
  const plan::program again = plan::parse(once);
  CHECK(plan::first_difference(p, again) == "");
  CHECK(plan::print(again) == plan::print(p));
  const std::string told(plan::explain(p).str());
  CHECK(told.find("values are reordered") != std::string::npos);
  CHECK(told.find("matmul by matrix units to f32[16,16]") != std::string::npos);
  CHECK(told.find("matrix_unit: ") != std::string::npos);
}

TEST_CASE("a text that leaves a product to a unit that the target has not, or that takes it as exact, is refused") {
  const std::string once(plan::print(program_of(with_chain)).str());
  const auto refusal = [&](std::string_view from, std::string_view to) {
    std::string s = once;
    s.replace(s.find(from), from.size(), to);
    try {
      plan::parse(s);
    } catch (const error& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  CHECK(refusal("matrix_bf16=1", "matrix_bf16=0").find("equation %2 has the order of a matrix unit, and the target has none for it") != std::string::npos);
  CHECK(refusal("generated reordered", "generated exact").find("comparison class reordered, and exact is written") != std::string::npos);
  CHECK(refusal(" hardware=1", "").find("comparison class exact, and reordered is written") != std::string::npos);
  CHECK(refusal(" hardware=1", " hardware=2") != "accepted");
}

TEST_CASE("an order of a matrix unit that comes with a graph is kept or refused, and never dropped") {
  const ir::graph asks = program_of({}).graph;
  REQUIRE(asks.eqns[2].sum.hardware);
  const auto refusal = [&](const target& where, const plan::options& wanted) -> std::string {
    try {
      (void)plan::compile(ir::parse(ir::print(asks).str()), where, wanted);
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  CHECK(refusal(targets::cuda_sm80, on) == "");
  CHECK(refusal(targets::cuda_sm80, {}) == "%2 (matmul): its order says hardware=1, and options::matrix_units is off");
  CHECK(refusal(targets::cuda_sm80, {.strict = true, .matrix_units = true}) == "%2 (matmul): its order says hardware=1, and options::matrix_units is off");
  CHECK(refusal(targets::host, on) == "%2 (matmul): its order says hardware=1, and the target has no matrix unit for it");
}
