// A user's op, defined in a file of the user's: through expression, text, plan, interpreter and host.
#include <poot/core/elementary.hpp>
#include <poot/ir/interpret.hpp>
#include <poot/ir/parse.hpp>
#include <poot/ir/print.hpp>
#include <poot/poot.hpp>
#include <poot/run/host/device.hpp>

#include <support/custom_ops.hpp>

#include <doctest/doctest.h>

#include <cstring>

using namespace poot;
using namespace poot_tests;

namespace {

float snake_of(float x, float a) {
  const float s = elementary::sin(ieee::mul(a, x));
  return ieee::add(x, ieee::div(ieee::mul(s, s), a));
}

constexpr auto activated = [](auto x, auto a) { return -custom<snake>(x * x, a) + x; };

constexpr auto y = output<"y">(block(activated, input<"x", f32, 6, 40>, weight<"a", f32, 40>));
static_assert(planned<y, targets::host>.dispatch_count() == 1);
static_assert(planned<y, targets::host>.bytes_moved() == (2 * 6 * 40 + 40) * 4);
static_assert(planned<y, targets::cuda_sm90a>.refusals().empty() && planned<y, targets::vulkan_lavapipe>.dispatch_count() == 1);

// What is recorded: the operands, then what was done with them.
static_assert(ir::custom_row_of<snake>.steps.size() == 2 + 5 && ir::custom_row_of<snake>.result == 6);
static_assert(ir::custom_row_of<snake>.steps[2] == ir::custom_step{ir::op::mul, 1, 0} && ir::custom_row_of<snake>.steps[3].kind == ir::op::sin);
static_assert(ir::custom_row_of<second_of_three>.steps.size() == 3 && ir::custom_row_of<second_of_three>.result == 1);
static_assert(ir::custom_row_of<nine>.steps[1] == ir::custom_step{ir::op::constant, 0x41100000u});
static_assert(ir::custom_row_of<leaky>.steps.empty() && ir::custom_row_of<half_square>.steps.empty());
static_assert(ir::custom_row_of<held>.hash != ir::custom_row_of<second_of_three>.hash);

const char* const graph_text =
    "graph g {\n  %x : f32[6,40] = input \"x\"\n  %a : f32[40] = weight \"a\"\n  %0 : f32[6,40] = mul %x, %x\n"
    "  %1 : f32[6,40] = snake %0, %a\n  %2 : f32[6,40] = neg %1\n  %3 : f32[6,40] = add %2, %x\n  output \"y\" = %3\n}\n";


vec<uint64> words_of(const float* first, size_t count) {
  vec<uint64> words(count);
  for (size_t i = 0; i < count; ++i) words[i] = std::bit_cast<uint32>(first[i]);
  return words;
}

}  // namespace

TEST_CASE("a user's op prints under its name and reads back where the reader knows it") {
  const ir::graph g = ir::parse(graph_text, custom_ops);
  CHECK(ir::print(g).str() == graph_text);
  CHECK(g.eqns[3].custom == &ir::custom_row_of<snake>);
  CHECK_THROWS_WITH_AS(ir::parse(graph_text), doctest::Contains("snake"), error);
  CHECK_THROWS_WITH_AS(ir::parse("graph g {\n  %x : f32[2] = input \"x\"\n  %0 : f32[2] = snake %x\n  output \"y\" = %0\n}\n", custom_ops),
                       doctest::Contains("2 operands"), error);
}

TEST_CASE("a user's op gives the same bits in the interpreter, fused and unfused on the host, and as written") {
  float x[240], a[40], fused[240], apart[240];
  for (int i = 0; i < 240; ++i) x[i] = static_cast<float>(i - 100) * 0.03125f;
  for (int i = 0; i < 40; ++i) a[i] = 0.25f + static_cast<float>(i) * 0.125f;
  auto run = host(1).load<y>();
  run(bind<"x">(x), bind<"a">(a), into<"y">(fused));
  plan::options unfused;
  unfused.fuse = false;
  const ir::graph g = ir::parse(graph_text, custom_ops);
  run::host::session s = host(1).load(compile(g, targets::host, unfused));
  CHECK(s.program().dispatch_count() == 4);
  s.bind("x", read_only(x, f32, 6, 40)).bind("a", read_only(a, f32, 40)).into("y", writable(apart, f32, 6, 40)).run();
  CHECK(std::memcmp(fused, apart, sizeof fused) == 0);
  const ir::named_tensor given[] = {{"x", {type_of(f32, 6, 40), words_of(x, 240)}}, {"a", {type_of(f32, 40), words_of(a, 40)}}};
  CHECK(ir::interpret(g, {given, 2}).outputs[0].value.bits == words_of(fused, 240));
  for (int i = 0; i < 240; ++i) {
    CHECK(fused[i] == -snake_of(x[i] * x[i], a[i % 40]) + x[i]);
  }
}

TEST_CASE("narrow operands are widened and the result is rounded once") {
  ir::graph g;
  const ir::value x = g.input("x", bf16, {40}), a = g.input("a", bf16, {1});
  g.output("y", custom<snake>(x, a));
  uint16 xs[40], scale[1] = {f32_to_bf16(0.75f)}, out[40];
  for (int i = 0; i < 40; ++i) xs[i] = f32_to_bf16(static_cast<float>(i - 20) * 0.25f);
  run::host::session s = host(1).load(compile(g, targets::host));
  s.bind("x", read_only(xs, bf16, 40)).bind("a", read_only(scale, bf16, 1)).into("y", writable(out, bf16, 40)).run();
  for (int i = 0; i < 40; ++i) {
    CHECK(out[i] == f32_to_bf16(snake_of(bf16_to_f32(xs[i]), 0.75f)));
  }
}

TEST_CASE("ops of one, two and three operands compute on the host, uniform operands among them") {
  float x[300], low[300], out[300], again[300];
  for (int i = 0; i < 300; ++i) x[i] = static_cast<float>(i - 150) * 0.0625f, low[i] = static_cast<float>(i % 7) - 5;
  low[17] = std::bit_cast<float>(0x7fc00000u);
  const float high[1] = {1.5f};
  ir::graph g = ir::parse("graph g {\n%x : f32[300] = input \"x\"\n%l : f32[300] = input \"l\"\n%h : f32[1] = input \"h\"\n"
                          "%0 : f32[300] = neg %x\n%1 : f32[300] = held %l, %0, %h\n%2 : f32[300] = add %1, %0\n%3 : f32[1] = held %h, %h, f32(-2)\n"
                          "%4 : f32[300] = second_of_three %h, %2, %3\n%5 : f32[300] = leaky %4\n%6 : f32[300] = half_square %5\n"
                          "%7 : f32[300] = nine %6\n%8 : f32[300] = mul %7, %6\noutput \"y\" = %8\n}\n", custom_ops);
  for (bool fuse : {true, false}) {
    plan::options wanted;
    wanted.fuse = fuse;
    run::host::session s = host(1).load(compile(g, targets::host, wanted));
    s.bind("x", read_only(x, f32, 300)).bind("l", read_only(low, f32, 300)).bind("h", read_only(high, f32, 1)).into("y", writable(fuse ? out : again, f32, 300)).run();
  }
  CHECK(std::memcmp(out, again, sizeof out) == 0);
  const ir::named_tensor given[] = {{"x", {type_of(f32, 300), words_of(x, 300)}}, {"l", {type_of(f32, 300), words_of(low, 300)}}, {"h", {type_of(f32, 1), words_of(high, 1)}}};
  CHECK(ir::interpret(g, {given, 3}).outputs[0].value.bits == words_of(out, 300));
  for (int i = 0; i < 300; ++i) {
    const float t = -x[i], held = t < low[i] ? low[i] : 1.5f < t ? 1.5f : t, sum = held + t, leak = sum < 0 ? sum * 0.125f : sum;
    CHECK(out[i] == 9.0f * (leak * leak * 0.5f));
  }
}

TEST_CASE("an op that could not be recorded is refused away from the host, by name") {
  for (const char* op : {"leaky", "half_square", "snake"}) {
    const ir::graph g = ir::parse("graph g {\n%x : f32[4] = input \"x\"\n%y : f32[4] = " + std::string(op) + " %x" + (op[0] == 's' ? ", %x" : "") +
                                  "\noutput \"y\" = %y\n}\n", custom_ops);
    CHECK(compile(g, targets::host).refusals().empty());
    const plan::program p = compile(g, targets::vulkan_lavapipe);
    if (op[0] == 's') {
      CHECK(p.refusals().empty());
      continue;
    }
    REQUIRE(p.refusals().size() == 1);
    CHECK(p.refusals()[0].missing == plan::capability::custom_functions);
    CHECK(p.graph.eqns[p.refusals()[0].equation].kind == ir::op::custom);
  }
}
