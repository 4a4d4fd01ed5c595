// Caches in pages through generated kernels: the bits of a cache in one piece.
#include <doctest/doctest.h>

#include <device/kernel_machine.hpp>
#include <unit/nn/paged_decoder.hpp>

#include <memory>

using namespace poot;

TEST_CASE("sequences in pages of any order have the bits of caches of their own, on devices of each kind") {
  for (const target& where : {targets::cuda_sm80, targets::vulkan_lavapipe, targets::vulkan_swiftshader}) {
    int compared = 0;
    CHECK(paged_decoder::different_rows(where, [](const plan::program& p) { return std::make_unique<poot_tests::kernel_machine>(p); }, compared) == 0);
    CHECK(compared == 27);
  }
}
