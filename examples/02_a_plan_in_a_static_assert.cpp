/// Lesson 2: a plan in a static_assert. The compiler plans the model; how many dispatches it takes and how many bytes they
/// move are constants, so a change that costs more does not compile.

#include <poot/poot.hpp>
#include <poot/run/host/device.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

using namespace poot::literals;

inline constexpr auto rms_norm = [](auto x, auto gain) {
  return x * poot::rsqrt(poot::mean(x * x) + 1e-5_f) * poot::cast<poot::f32>(gain);
};

constexpr auto x = poot::input<"x", poot::f32, 8, 4096>;
constexpr auto gain = poot::weight<"gain", poot::bf16, 4096>;
constexpr auto y = poot::output<"y">(poot::block(rms_norm, x, gain));

constexpr auto& plan = poot::planned<y, poot::targets::host>;
static_assert(plan.dispatch_count() == 1);
static_assert(plan.bytes_moved() == 8 * 4096 * 4 * 2 + 4096 * 2);  // x and the gain are read, y is written: nothing else
static_assert(plan.count(poot::fuse::region_kind::row) == 1);       // a sum over the last axis and what stands around it
static_assert(plan.peak_transient_bytes() == 0);                    // every value in between stays in the caches
static_assert(plan.comparison_class() == poot::plan::comparison::exact);

int main() {
  std::printf("%zu dispatch, %lld bytes moved, %lld flops\n", plan.dispatch_count(), static_cast<long long>(plan.bytes_moved()),
              static_cast<long long>(plan.flops()));

  std::vector<float> xs(8 * 4096), out(xs.size());
  for (size_t i = 0; i < xs.size(); ++i) xs[i] = static_cast<float>(static_cast<int>(i * 37 % 201) - 100) / 64;
  const std::vector<poot::bf16_t> gains(4096, poot::bf16_t{0x3fc0});  // 1.5

  auto run = poot::host().load<y>();  // loads the plan above; nothing is planned now
  run(poot::bind<"x">(xs), poot::bind<"gain">(gains), poot::into<"y">(out));

  double worst = 0;
  for (size_t row = 0; row < 8; ++row) {
    double squares = 0;
    for (size_t i = 0; i < 4096; ++i) squares += double{xs[row * 4096 + i]} * double{xs[row * 4096 + i]};
    const double scale = 1.5 / std::sqrt(squares / 4096 + 1e-5);
    for (size_t i = 0; i < 4096; ++i)
      worst = std::fmax(worst, std::fabs(double{out[row * 4096 + i]} - double{xs[row * 4096 + i]} * scale));
  }
  std::printf("largest difference from f64: %.2g\n", worst);
  return worst < 1e-6 ? 0 : 1;
}
