#include "small_kernel.hpp"

#include <poot/emit/cpp.hpp>

#include <doctest/doctest.h>

using namespace poot;
using namespace poot::kernel;
using poot_tests::contains;

static_assert(contains(emit::cpp(poot_tests::twice(), {}).write().str(),
                       "extern \"C\" void poot_kernel(const poot_invocation* at, uint* const* buffers, const uint* meta) {\n"
                       "  const uint* const b0 = buffers[0];  // x\n"
                       "  uint* const b1 = buffers[1];  // y\n"));

TEST_CASE("memory of the workgroup comes from whoever runs it") {
  builder k("k", 64);
  const shared_id a = k.shares("a", type::number, 8), b = k.shares("b", type::flag, 4);
  k.store(a, 0u, number(1.0f));
  k.store(b, 0u, flag(true));
  const text written = emit::cpp(k.finish(), {}).write();
  CHECK(contains(written.str(), "struct poot_shared {\n  float s0[8];  // a\n  bool s1[4];  // b\n};\n"));
  CHECK(contains(written.str(), "  auto& s1 = static_cast<poot_shared*>(at->shared)->s1;\n"));
  CHECK(contains(written.str(), "  s1[0u] = true;\n"));
}
