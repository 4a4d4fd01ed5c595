#include <doctest/doctest.h>

#include <poot/ir/equal.hpp>
#include <poot/ir/interpret.hpp>
#include <poot/ir/parse.hpp>
#include <poot/ir/print.hpp>
#include <poot/plan/compile.hpp>
#include <poot/plan/equal.hpp>
#include <poot/plan/parse.hpp>
#include <poot/plan/print.hpp>

#include <support/fusion_draws.hpp>

#include <set>
#include <string>
#include <vector>

using namespace poot;
using fuse::region_kind;
using plan::program;

namespace {

constexpr program planned(std::string_view text, plan::options o = {}, target where = targets::host) { return plan::compile(ir::parse(text), where, o); }
program planned_body(const std::string& body, plan::options o = {}) { return planned("graph t {\n" + body + "\n}\n", o); }
constexpr plan::options unfused = [] {
  plan::options o;
  o.fuse = false;
  return o;
}();

constexpr char chain[] = R"(graph t {
  %x : f32[4,8] = input "x"
  %y : f32[4,8] = input "y"
  %a : f32[4,8] = mul %x, %y
  %b : f32[4,8] = add %a, f32(1)
  %c : f32[4,8] = exp %b
  output "z" = %c
})";
constexpr char rms_norm[] = R"(graph rms_norm {
  %x    : f32[8,4096]  = input "x"
  %gain : bf16[4096]   = weight "gain"
  %0    : f32[8,4096]  = mul %x, %x
  %1    : f32[8,1]     = reduce_sum %0 {axis=1}
  %2    : f32[8,1]     = mul %1, f32(0x1p-12)
  %3    : f32[8,1]     = add %2, f32(1e-5)
  %4    : f32[8,1]     = sqrt %3
  %5    : f32[8,1]     = recip %4
  %6    : f32[8,4096]  = mul %x, %5
  %7    : f32[4096]    = cast %gain
  %8    : f32[8,4096]  = mul %6, %7
  output "y" = %8
})";

}  // namespace

static_assert(planned(chain).dispatch_count() == 1 && planned(chain, unfused).dispatch_count() == 3);
static_assert(planned(chain).bytes_moved() == 3 * 128 && planned(chain, unfused).bytes_moved() == (3 + 2 + 2) * 128);
static_assert(planned(chain).flops() == 32 * (1 + 1 + 12) && planned(chain, unfused).flops() == planned(chain).flops());
static_assert(planned(rms_norm).dispatch_count() == 1 && planned(rms_norm).count(region_kind::row) == 1);
static_assert(planned(rms_norm).bytes_moved() == 8 * 4096 * 4 * 2 + 4096 * 2);  // as in design.md
static_assert(planned(rms_norm).comparison_class() == plan::comparison::exact);
static_assert(planned(rms_norm).refusals().empty() && planned(rms_norm).peak_transient_bytes() == 0);

TEST_CASE("moves the bytes that the formulas say") {
  const auto bytes = [](const std::string& body) { return planned_body(body).bytes_moved(); };
  // a region: what it reads once, what it writes once; immediates are no bytes
  CHECK(bytes("%x : f32[4,8] = input \"x\"\n%a : f32[4,8] = mul %x, %x\n%b : f32[4,8] = add %a, f32(2)\noutput \"y\" = %b") == 256);
  CHECK(bytes("%x : bf16[4,8] = input \"x\"\n%a : f32[4,8] = cast %x\n%b : f32[4,8] = exp %a\noutput \"y\" = %b") == 64 + 128);
  CHECK(bytes("%x : f32[4,8] = input \"x\"\n%w : bf16[3,8] = weight \"w\"\n%a : f32[4,3] = matmul %x, %w {transpose_b=1}\noutput \"y\" = %a") == 128 + 48 + 48);
  CHECK(bytes("%x : f32[4,32] = input \"x\"\n%w : q8_0[3,32] = weight \"w\"\n%a : f32[4,3] = matmul %x, %w {transpose_b=1}\noutput \"y\" = %a") == 512 + 3 * 34 + 48);
  // gathers read the rows that they take, and the index
  CHECK(bytes("%x : f32[100,8] = input \"x\"\n%i : i32[3] = input \"i\"\n%a : f32[3,8] = gather %x, %i {axis=0}\noutput \"y\" = %a") == 96 + 12 + 96);
  CHECK(bytes("%x : q8_0[100,32] = weight \"x\"\n%i : i32[3] = input \"i\"\n%g : q8_0[3,32] = gather %x, %i {axis=0}\n%a : f32[3,32] = cast %g\noutput \"y\" = %a") == 3 * 34 + 12 + 3 * 128);
  // slices read what they take
  CHECK(bytes("%x : f32[100,8] = input \"x\"\n%a : f32[3,8] = slice %x {start=[5,0] size=[3,8]}\noutput \"y\" = %a") == 96 + 96);
  // routed experts read at most one matrix a row
  CHECK(bytes("%x : f32[2,8] = input \"x\"\n%i : i32[2] = input \"i\"\n%w : f32[6,4,8] = weight \"w\"\n%a : f32[2,4] = indexed_matmul %x, %w, %i\noutput \"y\" = %a") ==
        64 + 8 + 2 * 128 + 32);
  // an update in place touches the part it writes
  CHECK(bytes("%s : f32[100,8] = state \"s\"\n%r : f32[1,8] = input \"r\"\n%at : i32[2] = input \"at\"\n%u : f32[100,8] = dynamic_update_slice %s, %r, %at\noutput \"s\" = %u") == 32 + 8 + 32);
  // a copy reads and writes
  CHECK(bytes("%x : f32[4,8] = input \"x\"\noutput \"y\" = %x") == 256);
  // dynamic extents stand at their bound; views and the prologue are free
  CHECK(bytes("%x : f32[L<=10,8] = input \"x\"\n%a : f32[L,8] = exp %x\noutput \"y\" = %a") == 640);
  CHECK(bytes("%i : f32[4,8] = iota {axis=0}\n%t : f32[4,8] = exp %i\n%x : f32[4,8] = input \"x\"\n%a : f32[4,8] = mul %x, %t\noutput \"y\" = %a") == 384);
}

// An update that is not in place writes the whole result, and reads the whole of what it does not overwrite.
TEST_CASE("an update into another buffer moves all of it") {
  const std::string cache = "%s : f32[100,8] = state \"s\"\n%r : f32[1,8] = input \"r\"\n%at : i32[2] = input \"at\"\n";
  const std::string update = "%u : f32[100,8] = dynamic_update_slice %s, %r, %at\n";
  constexpr int64 elsewhere = (3200 - 32) + 32 + 8 + 3200;
  CHECK(planned_body(cache + update + "output \"y\" = %u").bytes_moved() == elsewhere);
  // the old value is a result too, so that the new one is made in the arena, and copied to the state
  CHECK(planned_body(cache + update + "output \"s\" = %u\noutput \"old\" = %s").bytes_moved() == elsewhere + 2 * (3200 + 3200));
  // of two updates that lead to one state, both are in place
  CHECK(planned_body(cache + update + "%v : f32[100,8] = dynamic_update_slice %u, %r, %at\noutput \"s\" = %v").bytes_moved() == 2 * (32 + 8 + 32));
}

// What ends a tail writes nothing of what the update keeps: storage has to find it in place.
TEST_CASE("refuses tails that end with an update into another buffer") {
  const std::string tail = "%s : f32[100,8] = state \"s\"\n%x : f32[8,1] = input \"x\"\n%at : i32[2] = input \"at\"\n%t : f32[1,8] = transpose %x {perm=[1,0]}\n"
                           "%n : f32[1,8] = neg %t\n%u : f32[100,8] = dynamic_update_slice %s, %n, %at\noutput \"s\" = %u\n";
  const auto graph = [&](const std::string& more) { return ir::parse("graph t {\n" + tail + more + "}\n"); };
  const auto regions = [&] { return plan::choose_regions(graph(""), targets::vulkan_lavapipe, {}); };
  CHECK(plan::plan_regions(graph(""), targets::vulkan_lavapipe, regions()).dispatch_count() == 1);
  CHECK_THROWS_WITH_AS(plan::plan_regions(graph("output \"old\" = %s\n"), targets::vulkan_lavapipe, regions()),
                       "plan: update %5 ends a tail, and is not in place", error);
}

TEST_CASE("launches read and write what their members need and others read") {
  for (uint64 seed = 0; seed < 1500; ++seed) {
    poot_tests::fusion_draws d(800000 + seed);
    plan::options o;
    o.fuse = seed % 4 != 0;
    o.with_broadcast = seed % 3 != 0;
    o.fuse_narrow_casts = seed % 5 == 0;
    const program p = plan::compile(d.make(4 + d.below(30), seed % 2), targets::host, o);
    const plan::program_view v = p.view_of();
    const ir::graph_view g = p.graph;
    INFO("seed " << seed << "\n" << std::string(ir::print(g).str()));
    CHECK(ir::verify(g));
    std::vector<int> launch_of(g.size(), -1);
    int index = 0;
    size_t members = 0;
    for (const vec<plan::launch>* list : {&p.prologue, &p.launches})
      for (const plan::launch& l : *list) {
        for (uint32 id : v(l.members)) launch_of[id] = index, ++members;
        ++index;
      }
    index = 0;
    for (const vec<plan::launch>* list : {&p.prologue, &p.launches})
      for (const plan::launch& l : *list) {
        std::set<uint32> inputs, outputs;
        for (uint32 id : v(l.members)) {
          for (uint32 in : g.operands(id))
            if (launch_of[in] != index) inputs.insert(in);
          bool leaves = false;
          for (uint32 user = 0; user < g.size(); ++user)
            for (uint32 in : g.operands(user)) leaves = leaves || (in == id && launch_of[user] != index);
          for (const ir::graph_output& out : g.outputs) leaves = leaves || out.value == id;
          if (leaves) outputs.insert(id);
        }
        std::set<uint32> listed;
        for (uint32 in : v(l.inputs)) {
          CHECK(listed.insert(in).second);
          CHECK(inputs.count(in));
        }
        for (uint32 in : inputs) CHECK((listed.count(in) || g.is_scalar_constant(in)));
        const view<uint32> written = v(l.outputs);
        CHECK(std::set<uint32>(written.begin(), written.end()) == outputs);
        CHECK(written.size() == outputs.size());
        ++index;
      }
    size_t needed = 0;
    for (uint32 id = 0; id < g.size(); ++id) needed += launch_of[id] >= 0;
    CHECK(needed == members);
  }
}

TEST_CASE("fusing never launches more, nor moves more bytes while updates stay in place") {
  // Regions run in another order, so that an update may come before another reader of what it overwrites: it copies then.
  const auto copying = [](const program& p) {
    size_t n = 0;
    for (uint32 id = 0; id < p.graph.size(); ++id)
      n += p.graph.eqns[id].kind == ir::op::dynamic_update_slice && p.placements[id].where != plan::place::state;
    return n;
  };
  int more_copies = 0;
  for (uint64 seed = 0; seed < 1000; ++seed) {
    poot_tests::fusion_draws d(900000 + seed);
    const ir::graph g = d.make(4 + d.below(30), seed % 2);
    const program fused = plan::compile(g, targets::host), apart = plan::compile(g, targets::host, unfused);
    INFO("seed " << seed << "\n" << std::string(ir::print(g).str()));
    CHECK(fused.dispatch_count() <= apart.dispatch_count());
    const bool copies = copying(fused) > copying(apart);
    more_copies += copies;
    if (!copies) CHECK(fused.bytes_moved() <= apart.bytes_moved());
    CHECK(ir::structurally_equal(fused.graph, apart.graph));  // fusion is no rewrite
  }
  CHECK(more_copies < 20);
}

TEST_CASE("runs what depends on constants only in the prologue") {
  const program p = planned_body("%i : f32[4,8] = iota {axis=0}\n%t : f32[4,8] = exp %i\n%x : f32[4,8] = input \"x\"\n%a : f32[4,8] = mul %x, %t\noutput \"y\" = %a");
  CHECK(p.prologue.size() == 1);
  CHECK(p.launches.size() == 1);
  CHECK(p.dispatch_count() == 1);
  CHECK(p.placements[1].where == plan::place::table);
}

TEST_CASE("lists the passes, the numerical declines and the declines") {
  const program p = planned_body("%x : f32[8,8] = input \"x\"\n%o : f32[8,8] = mul %x, f32(1)\n%a : f32[8,8] = recip %o\n%b : f32[8,8] = mul %x, %a\n"
                                 "%t : f32[8,8] = transpose %b {perm=[1,0]}\n%c : f32[8,8] = add %b, %t\noutput \"y\" = %c");
  REQUIRE(p.passes().size() >= 2);
  CHECK(p.passes()[0] == pass::pass_id::canonicalise);
  REQUIRE(p.numerical_declines().size() == 1);
  CHECK(p.numerical_declines()[0].reason == pass::inexact::reciprocal_division);
  REQUIRE(p.declines().size() == 1);
  CHECK(p.declines()[0].why == fuse::reason::cycle);
}

TEST_CASE("lists an edge once, however often its consumer reads the value") {
  const program p = planned_body("%x : f32[8,8] = input \"x\"\n%w : f32[8,8] = weight \"w\"\n%a : f32[8,8] = exp %x\n%b : f32[8,8] = matmul %a, %w\n"
                                 "%c : f32[8,8] = matmul %b, %b\n%i : i32[8,8] = cast %x\n%d : f32[8,8] = select %i, %b, %b\noutput \"c\" = %c\noutput \"d\" = %d");
  for (size_t i = 0; i < p.declined.size(); ++i)
    for (size_t j = 0; j < i; ++j) CHECK((p.declined[i].producer != p.declined[j].producer || p.declined[i].consumer != p.declined[j].consumer));
  const auto reads = [&](ir::op producer, ir::op consumer) {
    int n = 0;
    for (const fuse::decline& d : p.declined) n += p.graph.eqns[d.producer].kind == producer && p.graph.eqns[d.consumer].kind == consumer;
    return n;
  };
  CHECK(reads(ir::op::exp, ir::op::matmul) == 1);
  CHECK(reads(ir::op::matmul, ir::op::matmul) == 1);
}

TEST_CASE("refuses values and elementary functions of f64 away from the host, and names the equation") {
  constexpr char text[] = "graph t {\n%x : f64[4] = input \"x\"\n%a : f64[4] = exp %x\n%b : f32[4] = cast %a\noutput \"y\" = %b\n}";
  CHECK(planned(text).refusals().empty());
  const program p = planned(text, {}, targets::cuda_sm80);
  REQUIRE(p.refusals().size() == 2);
  CHECK(p.graph.eqns[p.refusals()[0].equation].kind == ir::op::input);
  CHECK(p.refusals()[0].missing == plan::capability::f64_values);
  CHECK(p.graph.eqns[p.refusals()[1].equation].kind == ir::op::exp);
  CHECK(p.refusals()[1].missing == plan::capability::f64_functions);
}

TEST_CASE("a region holds at most the equations that the target allows") {
  std::string body = "%x : f32[64] = input \"x\"\n%0 : f32[64] = neg %x\n";
  for (int i = 1; i < 300; ++i) {
    const std::string at = std::to_string(i), before = std::to_string(i - 1);
    body += "%" + at + " : f32[64] = add %" + before + ", %x\n";
  }
  const std::string graph = "graph t {\n" + body + "output \"y\" = %299\n}";
  for (const target& where : {targets::host, targets::cuda_sm80, targets::vulkan_lavapipe, targets::vulkan_swiftshader, targets::aie_npu1}) {
    const auto most = static_cast<size_t>(where.caps.max_members);
    CHECK(planned(graph.c_str(), {}, where).dispatch_count() == (300 + most - 1) / most);
  }
  target few = targets::cuda_sm80;
  few.caps.max_members = 7;
  for (const plan::launch& l : planned(graph.c_str(), {}, few).launches) CHECK(l.members.count <= 7);
}

TEST_CASE("refuses values beyond a buffer's reach, where their extents are known, and names each once") {
  target small = targets::vulkan_lavapipe;
  small.caps.buffer_bytes = 256;
  const program p = planned("graph t {\n%x : f32[65] = input \"x\"\n%w : f32[64] = weight \"w\"\n%a : f32[65] = neg %x\n%b : f32[65] = exp %x\n"
                            "%s : f32[1,65] = reshape %b\n%c : f32[64] = neg %w\noutput \"y\" = %a\noutput \"z\" = %s\noutput \"c\" = %c\n}", {}, small);
  REQUIRE(p.refusals().size() == 3);  // %x, %a and %b, which %s shows
  for (const plan::refusal& r : p.refusals()) CHECK(r.missing == plan::capability::buffer_bytes);
  CHECK(p.graph.view_of().name_of(p.refusals()[0].equation) == "x");
  constexpr char dynamic[] = "graph t {\n%x : f32[L<=65] = input \"x\"\n%a : f32[L] = neg %x\noutput \"y\" = %a\n}";
  CHECK(planned(dynamic, {}, small).refusals().empty());
  small.caps.buffer_bytes = 260;
  CHECK(planned("graph t {\n%x : f32[65] = input \"x\"\n%a : f32[65] = neg %x\noutput \"y\" = %a\n}", {}, small).refusals().empty());
  small.kind = backend::host;
  small.caps.buffer_bytes = 1;
  CHECK(planned(dynamic, {}, small).refusals().empty());
}

TEST_CASE("refuses an equation that alone reads more buffers than a kernel binds") {
  std::string source = "graph t {\n", operands;
  for (int i = 0; i < 31; ++i) {
    source += "%x" + std::to_string(i) + " : f32[2] = input \"x" + std::to_string(i) + "\"\n";
    operands += (i ? ", %x" : "%x") + std::to_string(i);
  }
  source += "%a : f32[62] = concat " + operands + " {axis=0}\noutput \"y\" = %a\n}";
  CHECK(planned(source.c_str()).refusals().empty());
  const program p = planned(source.c_str(), {}, targets::vulkan_lavapipe);  // 31 inputs and the output, and it binds 31
  REQUIRE(p.refusals().size() == 1);
  CHECK(p.graph.eqns[p.refusals()[0].equation].kind == ir::op::concat);
  CHECK(p.refusals()[0].missing == plan::capability::max_buffers);
}

TEST_CASE("programs of AI Engine tiles are planned, printed and read again, and refuse execution") {
  constexpr char text[] = "graph t {\n%x : f32[4] = input \"x\"\n%a : f32[4] = exp %x\n%b : f32[4] = neg %a\noutput \"y\" = %b\n}";
  const program p = planned(text, {}, targets::aie_npu2);
  CHECK(p.dispatch_count() == 1);
  REQUIRE(p.refusals().size() == 1);
  CHECK(p.refusals()[0].missing == plan::capability::execution);
  CHECK(p.graph.eqns[p.refusals()[0].equation].kind == ir::op::exp);
  const std::string printed(plan::print(p).str());
  CHECK(printed.find("target aie npu2 {buffers=16 members=32 ") != std::string::npos);
  CHECK(printed.find(" columns=8 rows=4 tile_bytes=65536 program_bytes=16384 memory_tile_bytes=524288 vector_bits=512}") != std::string::npos);
  CHECK(std::string(plan::first_difference(plan::parse(printed), p)) == "");
}

TEST_CASE("refuses graphs that are not well formed") {
  ir::graph g = ir::parse("graph t {\n%x : f32[4] = input \"x\"\n%a : f32[4] = exp %x\noutput \"y\" = %a\n}");
  g.eqns[1].type.extents[0] = extent(5);
  CHECK_THROWS_AS(plan::compile(g, targets::host), error);
}

TEST_CASE("an empty graph is a program without launches") {
  const program p = planned_body("%x : f32[4] = input \"x\"");
  CHECK(p.dispatch_count() == 0);
  CHECK(p.bytes_moved() == 0);
}
