#include "small_kernel.hpp"

#include <poot/emit/cuda.hpp>

#include <doctest/doctest.h>

using namespace poot;
using poot_tests::contains;

static_assert(contains(emit::cuda(poot_tests::twice(), {}).write().str(),
                       "extern \"C\" __global__ void __launch_bounds__(64, 1) poot_kernel(\n"
                       "    const uint* b0,  // x\n"
                       "    const uint* meta,\n"
                       "    uint* b1) {  // y\n"));

TEST_CASE("numbers are added by a function that is never contracted") {
  CHECK(contains(emit::cuda(poot_tests::twice(), {}).write().str(), " = poot_fadd("));
  CHECK(contains(emit::cuda_prelude, "return __fadd_rn(a, b);"));
}

TEST_CASE("the metadata is the last parameter where nothing is written") {
  kernel::builder k("k", 64);
  k.reads("x", 0);
  CHECK(contains(emit::cuda(k.finish(), {}).write().str(), "    const uint* b0,  // x\n    const uint* meta) {\n}\n"));
}
