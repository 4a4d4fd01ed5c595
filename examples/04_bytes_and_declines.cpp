/// Lesson 4: bytes and declines. What fusion saves is counted in bytes; what was not fused, and what was not rewritten
/// because it would change a rounding, is a list with reasons.

#include <poot/plan/explain.hpp>
#include <poot/poot.hpp>
#include <poot/run/host/device.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

using namespace poot::literals;

// Two layers with a rounding to bf16 between them, and a scale that is divided out at the end.
inline constexpr auto layers = [](auto x, auto scale, auto up, auto down) {
  const auto hidden = poot::nn::gelu(poot::matmul_t(x, up));
  const auto narrow = poot::cast<poot::bf16>(hidden);
  const auto y = poot::matmul_t(poot::cast<poot::f32>(narrow) * 3_f, down);
  return y * poot::recip(scale) + x;
};

constexpr auto x = poot::input<"x", poot::f32, 16, 64>;
constexpr auto y = poot::output<"y">(poot::block(layers, x, poot::input<"scale", poot::f32, 16, 1>,
                                                 poot::weight<"up", poot::f32, 256, 64>, poot::weight<"down", poot::f32, 64, 256>));
constexpr auto& plan = poot::planned<y, poot::targets::host>;

// Both are readable here too: this is the reason why the second contraction does not take the multiplication by 3 in.
static_assert(plan.declines().size() > 0);
static_assert(plan.numerical_declines().size() == 2);
static_assert(plan.numerical_declines()[0].reason == poot::pass::inexact::factor_scalar);
static_assert(plan.numerical_declines()[1].reason == poot::pass::inexact::reciprocal_division);

int main() {
  // The whole report: each dispatch with what it saves, then declines, rewrites not made, and totals.
  const poot::plan::program unfused = poot::compile(poot::frozen<y>.view(), poot::targets::host, {.fuse = false});
  const poot::text report = poot::plan::explain(plan, unfused);
  std::printf("%.*s\n", static_cast<int>(report.str().size()), report.str().data());

  // The same lists, for a program that wants to act on them: values are numbered as in the report.
  for (const poot::fuse::decline& d : plan.declines()) {
    const std::string_view op = poot::ir::name(plan.graph[d.producer].kind), reason = poot::fuse::explain(d.why);
    std::printf("%%%u (%.*s) goes through memory; %.*s\n", d.producer, static_cast<int>(op.size()), op.data(),
                static_cast<int>(reason.size()), reason.data());
  }

  // Fewer bytes, and not one bit of the result differs.
  std::vector<float> xs(16 * 64), scale(16, 3.0f), ups(256 * 64), downs(ups.size()), one_by_one(xs.size()), fused(xs.size());
  for (size_t i = 0; i < xs.size(); ++i) xs[i] = static_cast<float>(i % 23) / 16 - 0.7f;
  for (size_t i = 0; i < ups.size(); ++i) ups[i] = static_cast<float>(i % 29) / 64 - 0.2f, downs[i] = static_cast<float>(i % 31) / 99 - 0.15f;
  auto run = poot::host().load<y>();
  run(poot::bind<"x">(xs), poot::bind<"scale">(scale), poot::bind<"up">(ups), poot::bind<"down">(downs), poot::into<"y">(fused));
  auto slow = poot::host().load<y, poot::options{.fuse = false}>();
  slow(poot::bind<"x">(xs), poot::bind<"scale">(scale), poot::bind<"up">(ups), poot::bind<"down">(downs), poot::into<"y">(one_by_one));
  const bool same = std::memcmp(fused.data(), one_by_one.data(), fused.size() * sizeof(float)) == 0;
  std::printf("results are %s\n", same ? "equal bit for bit" : "DIFFERENT");
  return same && plan.bytes_moved() < unfused.bytes_moved() && fused[1] != xs[1] ? 0 : 1;
}
