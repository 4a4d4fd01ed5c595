#include <doctest/doctest.h>

#include <poot/dsl/output.hpp>
#include <poot/ir/equal.hpp>
#include <poot/nn/mlp.hpp>
#include <poot/nn/norm.hpp>
#include <poot/nn/softmax.hpp>
#include <poot/plan/equal.hpp>
#include <poot/plan/planned.hpp>

#include <unit/dsl/three_callers.hpp>

using namespace poot;

namespace {
constexpr auto x = input<"x", f32, 8, 4096>;
constexpr auto gain = weight<"gain", bf16, 4096>;
constexpr auto norm = output<"y">(block([](auto v, auto g) { return nn::rms_norm(v, g); }, x, gain));

constexpr auto scores = input<"scores", f32, 8, 256>;
constexpr auto softmax = output<"y">(block([](auto v) { return nn::softmax(v); }, scores));

constexpr auto gate = input<"gate", f32, 8, 256>;
constexpr auto up = input<"up", f32, 8, 256>;
constexpr auto swiglu = output<"y">(block([](auto g, auto u) { return nn::silu(g) * u; }, gate, up));

constexpr plan::options unfused = [] {
  plan::options o;
  o.fuse = false;
  return o;
}();
}  // namespace

static_assert(planned<norm, targets::host>.dispatch_count() == 1);
static_assert(planned<norm, targets::host>.bytes_moved() == 8 * 4096 * 4 * 2 + 4096 * 2);
static_assert(planned<norm, targets::host>.count(fuse::region_kind::row) == 1);
static_assert(planned<norm, targets::aie_npu1>.dispatch_count() == 1 && planned<norm, targets::aie_npu1>.refusals().size() == 1);
static_assert(planned<norm, targets::aie_npu1>.refusals()[0].missing == plan::capability::execution);
static_assert(planned<norm, targets::vulkan_lavapipe>.refusals().empty());
static_assert(planned<softmax, targets::host>.dispatch_count() == 1);
static_assert(planned<softmax, targets::host>.bytes_moved() == 8 * 256 * 4 * 2);
static_assert(planned<swiglu, targets::host>.dispatch_count() == 1);
static_assert(planned<swiglu, targets::host>.bytes_moved() == 8 * 256 * 4 * 3);
static_assert(planned<swiglu, targets::host>.count(fuse::region_kind::pointwise) == 1);
static_assert(planned<swiglu, targets::host, unfused>.dispatch_count() > 1);
static_assert(planned<norm, targets::host>.declines().empty() && planned<norm, targets::host>.refusals().empty());
static_assert(planned<norm, targets::host>.peak_transient_bytes() == 0);
static_assert(planned<norm, targets::host>.comparison_class() == plan::comparison::exact);

namespace {
constexpr auto feed_forward = [](auto v, auto g, auto w1, auto w2) {
  const auto h = nn::rms_norm(v, g);
  return v + matmul_t(nn::silu(matmul_t(h, w1)), w2);
};
constexpr auto v = input<"v", f32, 4, 64>;
constexpr auto g = weight<"g", f32, 64>;
constexpr auto w1 = weight<"w1", bf16, 96, 64>;
constexpr auto w2 = weight<"w2", bf16, 64, 96>;
constexpr auto spelt = output<"y">(feed_forward(v, g, w1, w2));
constexpr auto typed = output<"y">(block(feed_forward, v, g, w1, w2));

graph of_values() {
  graph made("model");
  output<"y">(feed_forward(three_callers::value_of(made, v), three_callers::value_of(made, g), three_callers::value_of(made, w1), three_callers::value_of(made, w2)));
  return dsl::in_order_of_outputs(made);
}
}  // namespace

static_assert(planned<typed, targets::host>.dispatch_count() == 2);  // each product with what follows it, the first one behind the norm
static_assert(plan::equal(planned<spelt, targets::host>, planned<typed, targets::host>));

TEST_CASE("equals the plan made at run time, however the model was traced") {
  const graph at_run_time = of_values();
  for (bool fuse : {true, false}) {
    plan::options o;
    o.fuse = fuse;
    const plan::program p = plan::compile(at_run_time, targets::host, o);
    const plan::program_view constant = fuse ? planned<typed, targets::host> : planned<typed, targets::host, unfused>;
    const std::string difference(plan::first_difference(p.view_of(), constant));
    CHECK(difference == "");
    CHECK(plan::equal(plan::compile(trace(spelt), targets::host, o), constant));
    CHECK(plan::equal(plan::compile(trace(typed), targets::host, o), constant));
  }
}

TEST_CASE("differs where the model, the target or an option does") {
  plan::options o;
  o.with_broadcast = false;
  const plan::program_view constant = planned<norm, targets::host>;
  CHECK_FALSE(plan::equal(plan::compile(trace(norm), targets::host, o), constant));
  CHECK_FALSE(plan::equal(plan::compile(trace(softmax), targets::host), constant));
  target no_fma = targets::host;
  no_fma.caps.fma_fused = false;
  CHECK(plan::first_difference(plan::compile(trace(norm), no_fma), constant) == "target");
}

TEST_CASE("a program from a constant plan is that plan") {
  CHECK(plan::equal(plan::instantiate<typed, targets::host>(), planned<typed, targets::host>));
}
