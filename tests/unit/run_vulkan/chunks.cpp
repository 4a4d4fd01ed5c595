// Grids larger than a program's target starts at once run in chunks: the bits of the interpreter, and the dispatches of the plan.
#include "each_device.hpp"

#include <poot/ir/parse.hpp>

#include <device/session_machine.hpp>
#include <random/interpreted.hpp>

using namespace poot;
using poot_tests::on_each_device;

namespace {

// Rows of a dynamic extent, a product of them, an update in place of parts of words, and a table that is made at load.
constexpr std::string_view source =
    "graph t {\n  %x : f32[N<=50,16] = input \"x\"\n  %w : f32[24,16] = weight \"w\"\n  %k : f16[30,35] = state \"k\"\n  %u : f16[20,35] = input \"u\"\n"
    "  %at : i32[2] = input \"at\"\n  %b : f32[700] = input \"b\"\n  %t : f32[700] = iota {axis=0}\n  %0 : f32[N,16] = tanh %x\n  %1 : f32[N,1] = reduce_sum %0 {axis=1}\n"
    "  %2 : f32[N,16] = mul %x, %1\n  %3 : f32[N,24] = matmul %2, %w {transpose_b=1}\n  %4 : f16[30,35] = dynamic_update_slice %k, %u, %at\n"
    "  %5 : f32[700] = cos %t\n  %6 : f32[N,24] = neg %3\n  %7 : f32[700] = add %5, %b\n"
    "  output \"t\" = %7\n  output \"y\" = %6\n  output \"k\" = %4\n}\n";

}  // namespace

TEST_CASE("a program for a grid of 3 by 2 workgroups runs in chunks, with the bits of the interpreter") {
  on_each_device([](const run::vulkan::device& d) {
    target narrow = d.target();
    narrow.caps.max_groups_x = 3;
    narrow.caps.max_groups_y = 2;
    const plan::program p = compile(ir::parse(source), narrow);
    size_t chunked = 0;
    for (const plan::launch& l : p.launches) chunked += l.chunks > 1;
    CHECK(chunked == p.launches.size());
    REQUIRE(p.prologue.size() == 1);
    CHECK(p.prologue[0].chunks > 1);
    const poot_tests::runs given = poot_tests::draw_runs(5, p.graph, 3);
    const auto want = poot_tests::interpret_runs(p.graph, given, ir::outside::clamp, narrow.caps.flushes ? subnormals::flushed : subnormals::kept);
    poot_tests::session_machine<run::vulkan::session> machine(d.load(p));
    for (size_t k = 0; k < given.size(); ++k) {
      const auto before = d.counted().dispatches;
      CHECK(poot_tests::difference(want[k], machine.run(given[k])) == "");
      CHECK(d.counted().dispatches - before == p.dispatch_count());
    }
  });
}
