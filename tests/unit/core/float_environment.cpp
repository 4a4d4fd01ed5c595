#include <doctest/doctest.h>

#include <poot/core/float_environment.hpp>
#include <poot/core/ieee.hpp>
#include <poot/ir/interpret.hpp>
#include <poot/ir/parse.hpp>
#include <poot/pass/canonicalise.hpp>

#include <cfenv>

using namespace poot;

namespace {

/// What a caller, or the start-up object of -Ofast, may have set.
struct disturbed {
  disturbed() {
    std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u);
#endif
  }
  ~disturbed() {
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() & ~0x8040u);
#endif
    std::fesetround(FE_TONEAREST);
  }
};

bool rounds_to_nearest_and_keeps_subnormals() {
  const float half = ieee::mul(ieee::opaque(0x1p-126f), 0.5f), next = ieee::add(ieee::opaque(1.0f), 0x1p-25f);
  return ieee::to_bits(half) == 0x00400000u && ieee::to_bits(next) == 0x3f800000u;
}

constexpr bool usable_in_constant_expressions() {
  const float_environment ieee;
  return true;
}
static_assert(usable_in_constant_expressions());

}  // namespace

TEST_CASE("rounds to nearest and keeps subnormals, and leaves the caller's environment as it was") {
  const disturbed caller;
  CHECK_FALSE(rounds_to_nearest_and_keeps_subnormals());
  {
    const float_environment ieee;
    CHECK(rounds_to_nearest_and_keeps_subnormals());
  }
  CHECK_FALSE(rounds_to_nearest_and_keeps_subnormals());
}

TEST_CASE("the interpreter and the folding of constants do not depend on the caller's environment") {
  const ir::graph g = ir::parse("graph g {\n  %x : f32[1] = input \"x\"\n  %0 : f32[1] = mul %x, f32(0.5)\n"
                                "  %1 : f32[] = constant f32(0x1p-126)\n  %2 : f32[] = mul %1, f32(0.5)\n"
                                "  %3 : f32[1] = broadcast %2\n  output \"y\" = %0\n  output \"z\" = %3\n}\n");
  ir::tensor least(type_of(f32, int64{1}));
  least.bits[0] = 0x00800000u;
  const ir::named_tensor x{"x", least};
  const disturbed caller;
  const ir::interpretation made = ir::interpret(g, {&x, 1});
  CHECK(made.outputs[0].value.bits[0] == 0x00400000u);
  CHECK(made.outputs[1].value.bits[0] == 0x00400000u);
  pass::record notes;
  const ir::graph folded = pass::canonicalise(g, notes);
  const ir::graph_view v = folded;
  bool found = false;
  for (uint32 id = 0; id < v.size(); ++id) found = found || (v[id].kind == ir::op::constant && v.attrs(id)[0] == 0x00400000);
  CHECK(found);
}
