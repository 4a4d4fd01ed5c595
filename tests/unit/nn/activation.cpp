#include <poot/nn/activation.hpp>

#include <unit/dsl/three_callers.hpp>

#include <poot/dsl/leaf.hpp>
#include <poot/ir/interpret.hpp>

#include <cmath>

using poot::bf16, poot::f32;

namespace {
constexpr auto x = poot::input<"x", f32, 41>;
constexpr auto gate = poot::input<"gate", bf16, 3>;
constexpr auto up = poot::input<"up", bf16, 3>;

/// f of −5, −4.75, … 5, run by the interpreter.
template <class F, class Reference>
void compare(F f, Reference reference) {
  const poot::graph g = poot::trace(poot::output<"y">(f(x)));
  poot::ir::tensor in(poot::type_of(f32, 41));
  for (int i = 0; i < 41; ++i) in.bits[static_cast<size_t>(i)] = std::bit_cast<poot::uint32>(static_cast<float>(i - 20) / 4);
  poot::vec<poot::ir::named_tensor> inputs;
  inputs.push_back({"x", in});
  const auto out = poot::ir::interpret(g, inputs);
  const poot::ir::tensor* y = poot::ir::find(out.outputs, "y");
  REQUIRE(y);
  for (int i = 0; i < 41; ++i) {
    const double v = (i - 20) / 4.0;
    const double got = std::bit_cast<float>(static_cast<poot::uint32>(y->bits[static_cast<size_t>(i)]));
    CHECK(std::fabs(got - reference(v)) <= 2e-6 * (1 + std::fabs(reference(v))));
  }
}
}  // namespace

TEST_CASE("activations give their functions") {
  compare([](auto v) { return poot::nn::relu(v); }, [](double v) { return v > 0 ? v : 0; });
  compare([](auto v) { return poot::nn::sigmoid(v); }, [](double v) { return 1 / (1 + std::exp(-v)); });
  compare([](auto v) { return poot::nn::silu(v); }, [](double v) { return v / (1 + std::exp(-v)); });
  compare([](auto v) { return poot::nn::gelu(v); }, [](double v) { return v / 2 * (1 + std::erf(v / std::sqrt(2.0))); });
  compare([](auto v) { return poot::nn::gelu_tanh(v); },
          [](double v) { return v / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))); });
}

TEST_CASE("activations are the same for all callers") {
  three_callers::check([](auto v) { return poot::nn::relu(poot::nn::sigmoid(poot::nn::gelu(poot::nn::gelu_tanh(v)))); }, "", x);
  three_callers::check([](auto a, auto b) { return poot::nn::swiglu(a, b); }, R"(
    %gate : bf16[3] = input "gate"
    %up : bf16[3] = input "up"
    %0 : bf16[3] = neg %gate
    %1 : bf16[3] = exp %0
    %2 : bf16[3] = add %1, bf16(1)
    %3 : bf16[3] = div %gate, %2
    %4 : bf16[3] = mul %3, %up
    output "y" = %4)", gate, up);
  three_callers::check([](auto a, auto b) { return poot::nn::geglu(a, b); }, "", gate, up);
}

TEST_CASE("a softcap keeps values within its bounds") {
  three_callers::check([](auto v) { return poot::nn::softcap(v, poot::number<30>); }, R"(
    %x : f32[2,8] = input "x"
    %0 : f32[2,8] = div %x, f32(30)
    %1 : f32[2,8] = tanh %0
    %2 : f32[2,8] = mul %1, f32(30)
    output "y" = %2)", poot::input<"x", poot::f32, 2, 8>);
}
