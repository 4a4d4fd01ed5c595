#include <poot/kernel/elementary.hpp>
#include <poot/kernel/interpret.hpp>

#include <doctest/doctest.h>

using namespace poot;
namespace pk = poot::kernel;

namespace {

constexpr pk::kernel exp_kernel() {
  pk::builder k("exp_of", 4);
  const pk::buffer_id x = k.reads("x", 0), y = k.writes("y", 1);
  const pk::word i = k.invocation();
  k.if_(pk::below(i, k.meta({})), [&] { k.store(y, i, pk::to_bits(pk::exp(pk::from_bits(k.load(x, i))))); });
  return k.finish();
}

constexpr uint32 exp_of(float x) {
  uint32 given[7] = {}, made[7] = {};
  given[6] = ieee::to_bits(x);
  const pk::words buffers[] = {{given, 7}, {made, 7}};
  const uint32 metadata[] = {7};
  pk::interpret(exp_kernel(), {buffers, 2}, {metadata, 1}, 2);
  return made[6];
}
static_assert(exp_of(1.0f) == ieee::to_bits(elementary::exp(1.0f)));

}  // namespace

TEST_CASE("a kernel runs") { CHECK(exp_of(2.5f) == ieee::to_bits(elementary::exp(2.5f))); }
