// A user's op, defined in a file of the user's: through expression, text, plan, interpreter and host.
#include <poot/core/elementary.hpp>
#include <poot/ir/interpret.hpp>
#include <poot/ir/parse.hpp>
#include <poot/ir/print.hpp>
#include <poot/poot.hpp>
#include <poot/run/host/device.hpp>

#include <doctest/doctest.h>

#include <cstring>

using namespace poot;

namespace {

/// x + sin²(a·x) / a
struct snake {
  static constexpr std::string_view name = "snake";
  static constexpr int arity = 2, flops = 24;
  static constexpr float evaluate(const float* in) {
    const float s = elementary::sin(ieee::mul(in[1], in[0]));
    return ieee::add(in[0], ieee::div(ieee::mul(s, s), in[1]));
  }
};

constexpr auto activated = [](auto x, auto a) { return -custom<snake>(x * x, a) + x; };

constexpr auto y = output<"y">(block(activated, input<"x", f32, 6, 40>, weight<"a", f32, 40>));
static_assert(planned<y, targets::host>.dispatch_count() == 1);
static_assert(planned<y, targets::host>.bytes_moved() == (2 * 6 * 40 + 40) * 4);

const char* const graph_text =
    "graph g {\n  %x : f32[6,40] = input \"x\"\n  %a : f32[40] = weight \"a\"\n  %0 : f32[6,40] = mul %x, %x\n"
    "  %1 : f32[6,40] = snake %0, %a\n  %2 : f32[6,40] = neg %1\n  %3 : f32[6,40] = add %2, %x\n  output \"y\" = %3\n}\n";

constexpr const ir::custom_row* rows[] = {&ir::custom_row_of<snake>};

vec<uint64> words_of(const float* first, size_t count) {
  vec<uint64> words(count);
  for (size_t i = 0; i < count; ++i) words[i] = std::bit_cast<uint32>(first[i]);
  return words;
}

}  // namespace

TEST_CASE("a user's op prints under its name and reads back where the reader knows it") {
  const ir::graph g = ir::parse(graph_text, {rows, 1});
  CHECK(ir::print(g).str() == graph_text);
  CHECK(g.eqns[3].custom == &ir::custom_row_of<snake>);
  CHECK_THROWS_WITH_AS(ir::parse(graph_text), doctest::Contains("snake"), error);
  CHECK_THROWS_WITH_AS(ir::parse("graph g {\n  %x : f32[2] = input \"x\"\n  %0 : f32[2] = snake %x\n  output \"y\" = %0\n}\n", {rows, 1}),
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
  const ir::graph g = ir::parse(graph_text, {rows, 1});
  run::host::session s = host(1).load(compile(g, targets::host, unfused));
  CHECK(s.program().dispatch_count() == 4);
  s.bind("x", read_only(x, f32, 6, 40)).bind("a", read_only(a, f32, 40)).into("y", writable(apart, f32, 6, 40)).run();
  CHECK(std::memcmp(fused, apart, sizeof fused) == 0);
  const ir::named_tensor given[] = {{"x", {type_of(f32, 6, 40), words_of(x, 240)}}, {"a", {type_of(f32, 40), words_of(a, 40)}}};
  CHECK(ir::interpret(g, {given, 2}).outputs[0].value.bits == words_of(fused, 240));
  for (int i = 0; i < 240; ++i) {
    const float in[2] = {x[i] * x[i], a[i % 40]};
    CHECK(fused[i] == -snake::evaluate(in) + x[i]);
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
    const float in[2] = {bf16_to_f32(xs[i]), 0.75f};
    CHECK(out[i] == f32_to_bf16(snake::evaluate(in)));
  }
}
