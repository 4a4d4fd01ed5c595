#include "small_kernel.hpp"

#include <poot/emit/hip.hpp>

#include <doctest/doctest.h>

using namespace poot;
using poot_tests::contains;

static_assert(contains(emit::hip(poot_tests::twice(), {}).write().str(), "poot_kernel(\n    const uint* b0,  // x\n"));

TEST_CASE("numbers are added by the operator") {
  const text written = emit::hip(poot_tests::twice(), {}).write();
  CHECK(!contains(written.str(), "poot_fadd"));
  CHECK(contains(written.str(), " + v"));
}
