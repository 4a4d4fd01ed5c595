#include "small_kernel.hpp"

#include <poot/emit/embed.hpp>
#include <poot/poot.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace poot::literals;
using poot_tests::contains;
namespace targets = poot::targets;

namespace {

constexpr auto x = poot::input<"x", poot::f32, 8, 64>;
constexpr auto y = poot::output<"y">(poot::block([](auto t) { return t * t + 1_f; }, x));
constexpr auto shifted = poot::output<"z">(poot::block([](auto t) { return poot::transpose<1, 0>(t * t + 1_f); }, x));

constexpr auto swish = poot::output<"s">(poot::block([](auto t) { return t / (poot::exp(-t) + 1_f); }, x));

}  // namespace

static_assert(poot::embed<y, targets::host>.size() == 1 && poot::embed<shifted, targets::host>.size() == 2);
static_assert(contains(poot::embed<y, targets::host>[0], "extern \"C\" void poot_kernel("));
static_assert(poot::embed<y, targets::vulkan_lavapipe>[0].starts_with("#version 450\n// pointwise\nlayout(local_size_x = 64) in;\n"));
static_assert(contains(poot::embed<y, targets::cuda_sm90a>[0], "extern \"C\" __global__ void __launch_bounds__(64, 1) poot_kernel("));
static_assert(contains(poot::embed<y, targets::cuda_sm90a>[0], "= poot_fmul(v"));
static_assert(contains(poot::embed<y, targets::hip_gfx90a>[0], "extern \"C\" __global__ void __launch_bounds__(64, 1) poot_kernel("));
static_assert(contains(poot::embed<y, targets::vulkan_swiftshader>[0], "poot_fless(") && !contains(poot::embed<y, targets::vulkan_lavapipe>[0], "poot_fless("));
static_assert(poot::embed<y, targets::cuda_sm80>[0] == poot::embed<y, targets::cuda_sm90a>[0]);
// elementary functions come with it
static_assert(contains(poot::embed<swish, targets::cuda_sm90a>[0], "__device__ inline float poot_exp(float p0)") &&
              contains(poot::embed<swish, targets::vulkan_lavapipe>[0], "float poot_exp(float p0)"));
// constants of one evaluation are of their exact size
static_assert(poot::embed<y, targets::cuda_sm80>[0].ends_with("}\n") && poot::embed<y, targets::cuda_sm80>[0].size() < 4096);

namespace {

template <auto Model, poot::target Where>
void check_written() {
  const poot::plan::program p = poot::plan::compile(poot::frozen<Model>.view(), Where);
  const poot::plan::program_view v = p.view_of();
  const auto& texts = poot::embed<Model, Where>;
  constexpr poot::emit::options o = poot::emit::options_of(Where.caps);  // in a constant: clang 19 takes a wrong address of parts of Where
  REQUIRE(texts.size() == v.kernel_table.size() + v.prologue.size());
  for (size_t k = 0; k < texts.size(); ++k) {
    const poot::plan::launch& l = k < v.kernel_table.size() ? v.launches[v.kernel_table[k].first_launch] : v.prologue[k - v.kernel_table.size()];
    CHECK(texts[k] == poot::emit::write(poot::kernel::generate(v, l), poot::emit::dialect_of(Where.kind), o).str());
  }
}

}  // namespace

TEST_CASE("texts in the program are those of the program planned at run time") {
  check_written<y, targets::host>();
  check_written<shifted, targets::vulkan_swiftshader>();
  check_written<shifted, targets::cuda_sm120>();
  check_written<shifted, targets::hip_gfx1030>();
  check_written<swish, targets::cuda_sm90a>();
}
