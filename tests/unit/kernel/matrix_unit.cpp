// Kernels of matrix units: their values, in the interpreter and as C++ that lays fragments out as the hardware does, against f64.
#include <device/kernel_machine.hpp>
#include <support/command.hpp>
#include <support/cpp_text.hpp>

#include <poot/core/hash.hpp>
#include <poot/ir/parse.hpp>
#include <poot/plan/compile.hpp>
#include <poot/run/hiprtc.hpp>
#include <poot/run/nvrtc.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

using namespace poot;
using namespace poot_tests;

namespace {

/// A Vulkan device that reports 16 × 16 × 16 of f16 with sums in f32.
constexpr target vulkan_f16 = [] {
  target t = targets::vulkan_lavapipe;
  t.caps.subgroup = 32;
  t.caps.matrix_f16 = true;
  return t;
}();

struct product {
  std::string a, b, result;  ///< extents
  int64 m, k, n;
  dtype element = bf16, rounds_to = f32;
  bool transposed = false;

  plan::program planned(const target& where) const {
    const std::string in(name(element)), out(name(rounds_to));
    const std::string text = "graph t {\n  %a : " + in + a + " = input \"a\"\n  %b : " + in + b + " = input \"b\"\n  %y : " + out + result +
                             " = matmul %a, %b" + (transposed ? " {transpose_b=1}" : "") + "\n  output \"y\" = %y\n}\n";
    return plan::compile(ir::parse(text), where, {.matrix_units = true});
  }
};

/// Whole tiles of a workgroup, parts of one, K that ends within a stage, batches, each kind of b and of result.
const product products[] = {
    {"[64,32]", "[32,64]", "[64,64]", 64, 32, 64},
    {"[16,16]", "[16,16]", "[16,16]", 16, 16, 16},
    {"[80,48]", "[48,112]", "[80,112]", 80, 48, 112},
    {"[80,48]", "[112,48]", "[80,112]", 80, 48, 112, bf16, bf16, true},
    {"[2,3,32,64]", "[3,64,16]", "[2,3,32,16]", 32, 64, 16, bf16, f16},
    {"[2,16,16]", "[2,48,16]", "[2,16,48]", 16, 16, 48, bf16, f32, true},
};

float value_of(dtype t, uint64 bits) {
  const auto half = static_cast<uint16>(bits);
  return t == f32 ? ieee::from_bits(static_cast<uint32>(bits)) : t == bf16 ? bf16_to_f32(half) : f16_to_f32(half);
}

/// Values of both signs and many sizes; `small`: whole numbers from -8 to 8, whose sums are exact.
ir::tensor drawn(const tensor_type& t, uint64 seed, bool small) {
  ir::tensor made(t);
  for (size_t i = 0; i < made.bits.size(); ++i) {
    const uint64 h = mix(seed, i);
    const auto draw = static_cast<float>(static_cast<int>(h >> 32 & 0xffff) - 0x8000);
    const float x = small ? static_cast<float>(static_cast<int>(h % 17) - 8) : std::ldexp(draw, static_cast<int>(h & 7) - 18);
    made.bits[i] = t.element == bf16 ? f32_to_bf16(x) : f32_to_f16(x);
  }
  return made;
}

/// Number of the matrix of `t` that batch `at` of result `y` reads.
int64 matrix_of(const tensor_type& t, const tensor_type& y, int64 at) {
  int64 number = 0, step = 1;
  for (int axis = y.rank - 3, own = t.rank - 3; axis >= 0; --axis, --own) {
    const int64 extent = y.extents[axis].code;
    if (own >= 0 && t.extents[own].code != 1) number += at % extent * step, step *= extent;
    at /= extent;
  }
  return number;
}

/// The first element that is further from the product in f64 than the class allows, in words; `exact`: than nothing.
std::string wrong(const product& of, const ir::tensor& a, const ir::tensor& b, const ir::tensor& y, bool exact) {
  for (size_t i = 0; i < y.bits.size(); ++i) {
    const auto at = static_cast<int64>(i), batch = at / (of.m * of.n), row = at / of.n % of.m, column = at % of.n;
    const int64 left = (matrix_of(a.type, y.type, batch) * of.m + row) * of.k, right = matrix_of(b.type, y.type, batch) * of.k * of.n;
    double sum = 0, terms = 0;
    for (int64 k = 0; k < of.k; ++k) {
      const int64 other = right + (of.transposed ? column * of.k + k : k * of.n + column);
      const double term = double{value_of(of.element, a.bits[static_cast<size_t>(left + k)])} * value_of(of.element, b.bits[static_cast<size_t>(other)]);
      sum += term;
      terms += std::abs(term);
    }
    const double got = value_of(of.rounds_to, y.bits[i]), rounding = of.rounds_to == f32 ? 0 : of.rounds_to == bf16 ? 0x1p-8 : 0x1p-11;
    const double bound = exact ? 0 : 2 * static_cast<double>(of.k) * 0x1p-24 * terms + rounding * std::abs(sum);
    if (!(std::abs(got - sum) <= bound))
      return "element " + std::to_string(i) + " is " + std::to_string(got) + ", in f64 " + std::to_string(sum);
  }
  return "";
}

}  // namespace

TEST_CASE("products by matrix units are within their class of f64, and exact where sums are") {
  for (product of : products)
    for (const target& where : {targets::cuda_sm80, targets::hip_gfx90a, vulkan_f16}) {
      of.element = where.caps.matrix_f16 ? f16 : bf16;
      const plan::program p = of.planned(where);
      REQUIRE(p.comparison_class() == plan::comparison::reordered);
      kernel_machine m(p);
      for (bool small : {true, false}) {
        const ir::tensor a = drawn(p.graph.eqns[0].type, 1, small), b = drawn(p.graph.eqns[1].type, 2, small), y = m.run({{"a", a}, {"b", b}}).outputs[0].value;
        CHECK_MESSAGE(wrong(of, a, b, y, small && of.rounds_to == f32) == "", of.a << of.b << " on " << where.arch.view());
      }
    }
}

TEST_CASE("operands are read where they lie: windows of others, and one value on both sides") {
  const auto result = [](const std::string& body, const ir::tensor& x) {
    const plan::program p = plan::compile(ir::parse("graph t {\n  %x : bf16[96,48] = input \"x\"\n" + body + "  output \"y\" = %y\n}\n"), targets::cuda_sm80, {.matrix_units = true});
    REQUIRE(p.comparison_class() == plan::comparison::reordered);
    REQUIRE(p.dispatch_count() == 1);
    kernel_machine m(p);
    return m.run({{"x", x}}).outputs[0].value;
  };
  const ir::tensor x = drawn(type_of(bf16, 96, 48), 5, false);
  const ir::tensor all = result("  %y : f32[96,96] = matmul %x, %x {transpose_b=1}\n", x);
  const ir::tensor part = result("  %a : bf16[32,48] = slice %x {start=[16,0] size=[32,48]}\n  %b : bf16[16,48] = slice %x {start=[64,0] size=[16,48]}\n"
                                 "  %y : f32[32,16] = matmul %a, %b {transpose_b=1}\n", x);
  size_t differ = 0;
  for (size_t row = 0; row < 32; ++row)
    for (size_t column = 0; column < 16; ++column) differ += part.bits[row * 16 + column] != all.bits[(16 + row) * 96 + 64 + column];
  CHECK(differ == 0);
  CHECK(wrong({"", "", "", 96, 48, 96, bf16, f32, true}, x, x, all, false) == "");
}

TEST_CASE("the C++ text emulates how the hardware lays fragments out, and has the interpreter's bits") {
  if (!is_at_hand("g++")) {
    MESSAGE("[SKIP] g++ is not on PATH");
    return;
  }
  const scratch_folder folder;
  int number = 0;
  for (product of : {products[2], products[3]})
    for (const target& where : {targets::cuda_sm80, targets::hip_gfx90a, vulkan_f16}) {
      of.element = where.caps.matrix_f16 ? f16 : bf16;
      const plan::program p = of.planned(where);
      std::unique_ptr<cpp_library> library;
      kernel_machine interpreter(p), compiled(p, [&](const kernel::kernel& k) {
        const text written = emit::write(k, emit::dialect::cpp);
        library = std::make_unique<cpp_library>(written.str(), "g++ -O1 -w", (folder.path / std::to_string(number++)).string());
        return [k, entry = (*library)["poot_kernel"]](view<kernel::words> buffers, view<uint32> metadata, uint32 groups) {
          run_compiled(entry, k, buffers, metadata, groups);
        };
      });
      const ir::tensor a = drawn(p.graph.eqns[0].type, 3, false), b = drawn(p.graph.eqns[1].type, 4, false);
      const ir::tensor y = interpreter.run({{"a", a}, {"b", b}}).outputs[0].value, z = compiled.run({{"a", a}, {"b", b}}).outputs[0].value;
      size_t differ = 0;
      for (size_t i = 0; i < y.bits.size(); ++i) differ += y.bits[i] != z.bits[i];
      CHECK(differ == 0);
      CHECK(wrong(of, a, b, z, false) == "");
    }
}

namespace {

/// Compiles kernels of each kind of b and of result for a target, given compile(text).
template <class Compile>
void compile_products(const target& where, emit::dialect d, Compile compile) {
  for (product of : {products[2], products[3], products[4]}) {
    of.element = where.caps.matrix_f16 ? f16 : bf16;
    const plan::program p = of.planned(where);
    compile(std::string(emit::write(kernel::generate(p, p.launches[0]), d).str()));
  }
}
template <class Compiler>
void compile_for(std::initializer_list<target> all, emit::dialect d) {
  std::optional<Compiler> compiler;
  try {
    compiler.emplace();
  } catch (const error& e) {
    MESSAGE("[SKIP] " << e.what());
    return;
  }
  for (const target& where : all)
    compile_products(where, d, [&](const std::string& text) { CHECK_NOTHROW(compiler->compile("product", text, where.arch.view())); });
}

}  // namespace

TEST_CASE("the texts are taken by the compilers of all devices that have the unit") {
  compile_for<run::nvrtc>({targets::cuda_sm80, targets::cuda_sm89, targets::cuda_sm90a, targets::cuda_sm100, targets::cuda_sm120}, emit::dialect::cuda);
  compile_for<run::hiprtc>({targets::hip_gfx90a}, emit::dialect::hip);
  if (!is_at_hand("glslc") || !is_at_hand("spirv-val")) {
    MESSAGE("[SKIP] glslc or spirv-val is not on PATH");
    return;
  }
  const scratch_folder folder;
  compile_products(vulkan_f16, emit::dialect::glsl, [&](const std::string& text) {
    const std::string file = (folder.path / "product").string();
    std::ofstream(file + ".comp") << text;
    CHECK(std::system(("glslc --target-env=vulkan1.1 -fshader-stage=compute -O -o " + file + ".spv " + file + ".comp && spirv-val --target-env vulkan1.1 " +
                       file + ".spv").c_str()) == 0);
  });
}
