#include <poot/core/target.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace poot;

static_assert(targets::cuda_sm90a.arch.view() == "sm_90a" && targets::hip_gfx1030.caps.subgroup == 32);
static_assert(!(targets::cuda_sm80 == targets::cuda_sm89) && targets::cuda_sm80.caps == targets::cuda_sm89.caps);
// every device limits what a region holds; only arrays of tiles have tiles
static_assert(targets::cuda_sm80.caps.max_members == 160 && targets::vulkan_lavapipe.caps.max_members == 160 && targets::host.caps.max_members == 1024);
static_assert(targets::aie_npu1.kind == backend::aie && targets::aie_npu1.arch.view() == "npu1" && targets::aie_npu1.tiles.columns == 4);
static_assert(targets::aie_npu2.tiles.columns == 8 && targets::aie_npu2.tiles.rows == 4 && targets::aie_npu2.tiles.tile_bytes == 65536);
static_assert(targets::aie_npu1.caps.max_workgroup == 0 && !targets::aie_npu1.caps.fma_fused && targets::cuda_sm80.tiles == aie_caps{});
static_assert(targets::host.arch.view().empty() && targets::vulkan_swiftshader.caps.flushes);

TEST_CASE("named targets have names and are different") {
  for (const targets::named_target& a : targets::named) {
    CHECK(std::string(a.name).starts_with(std::string(name(a.is.kind))));
    for (const targets::named_target& b : targets::named) CHECK((a.name == b.name) == (a.is == b.is));
  }
}

TEST_CASE("an architecture's name is cut at its limit") {
  CHECK(architecture("0123456789abcdefgh").view() == "0123456789abcde");
  CHECK(architecture("gfx90a") == architecture(std::string_view("gfx90a")));
}
