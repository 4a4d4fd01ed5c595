/// Lesson 3: one function, three ways. A model is a generic function; free nodes, typed tensors inside a block, and values
/// whose shapes are known only at run time all go through it, and one graph and one program come out.

#include <poot/plan/equal.hpp>
#include <poot/poot.hpp>
#include <poot/run/host/device.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

inline constexpr auto feed_forward = [](auto x, auto gain, auto up, auto down) {
  const auto h = poot::nn::rms_norm(x, gain);
  return x + poot::matmul_t(poot::nn::silu(poot::matmul_t(h, up)), down);
};

constexpr auto x = poot::input<"x", poot::f32, 4, 64>;
constexpr auto gain = poot::weight<"gain", poot::f32, 64>;
constexpr auto up = poot::weight<"up", poot::bf16, 96, 64>;
constexpr auto down = poot::weight<"down", poot::bf16, 64, 96>;

// 1. Free nodes: the whole expression is spelt in the type of the result.
constexpr auto spelt = poot::output<"y">(feed_forward(x, gain, up, down));
// 2. A block: one node that names only the function and its arguments. The function sees typed tensors.
constexpr auto block = poot::output<"y">(poot::block(feed_forward, x, gain, up, down));

static_assert(poot::ir::structurally_equal(poot::frozen<spelt>.view(), poot::frozen<block>.view()));
static_assert(poot::plan::equal(poot::planned<spelt, poot::targets::host>, poot::planned<block, poot::targets::host>));

// 3. Values: shapes come from a file, say.
poot::graph at_run_time(poot::int64 rows, poot::int64 width, poot::int64 hidden) {
  poot::graph g("model");
  const auto tokens = g.input("x", poot::f32, {rows, width});
  const auto norm = g.weight("gain", poot::f32, {width});
  const auto first = g.weight("up", poot::bf16, {hidden, width});
  const auto second = g.weight("down", poot::bf16, {width, hidden});
  g.output("y", feed_forward(tokens, norm, first, second));
  return poot::dsl::in_order_of_outputs(g);
}

int main() {
  const poot::graph g = at_run_time(4, 64, 96);
  poot::plan::program program = poot::compile(g, poot::targets::host);
  const auto& typed = poot::planned<block, poot::targets::host>;
  const bool same_graph = poot::ir::structurally_equal(g, poot::frozen<block>.view());
  const bool same_program = poot::plan::equal(program, typed);
  std::printf("graphs are %s, programs are %s: %zu dispatches, %lld bytes\n", same_graph ? "equal" : "DIFFERENT",
              same_program ? "equal" : "DIFFERENT", typed.dispatch_count(), static_cast<long long>(typed.bytes_moved()));

  std::vector<float> xs(4 * 64), gains(64, 1.25f), a(xs.size()), b(xs.size());
  std::vector<poot::bf16_t> ups(96 * 64), downs(ups.size());
  for (size_t i = 0; i < xs.size(); ++i) xs[i] = static_cast<float>(i % 17) / 8 - 1;
  for (size_t i = 0; i < ups.size(); ++i) ups[i].bits = static_cast<poot::uint16>(0x3d00 + i % 113), downs[i].bits = static_cast<poot::uint16>(0xbd00 + i % 97);

  auto run = poot::host().load<block>();
  run(poot::bind<"x">(xs), poot::bind<"gain">(gains), poot::bind<"up">(ups), poot::bind<"down">(downs), poot::into<"y">(a));
  auto session = poot::host().load(std::move(program));
  session.bind("x", poot::read_only(xs.data(), poot::f32, 4, 64)).bind("gain", poot::read_only(gains.data(), poot::f32, 64));
  session.bind("up", poot::read_only(ups.data(), poot::bf16, 96, 64)).bind("down", poot::read_only(downs.data(), poot::bf16, 64, 96));
  session.into("y", poot::writable(b.data(), poot::f32, 4, 64)).run();
  const bool same_bits = std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0 && a[0] != xs[0];
  std::printf("results are %s\n", same_bits ? "equal bit for bit" : "DIFFERENT");
  return same_graph && same_program && same_bits ? 0 : 1;
}
