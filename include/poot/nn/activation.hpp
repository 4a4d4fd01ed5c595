#pragma once
/// Activations; numbers take the element type of x.

#include <poot/dsl/pointwise.hpp>

namespace poot::nn {

template <dsl::handle X>
constexpr auto relu(X x) {
  return dsl::max(x, number<0>);
}
template <dsl::handle X>
constexpr auto sigmoid(X x) {
  return dsl::recip(dsl::exp(-x) + number<1>);
}
/// x / (1 + exp(−x))
template <dsl::handle X>
constexpr auto silu(X x) {
  return x / (dsl::exp(-x) + number<1>);
}
/// x/2 · (1 + erf(x / sqrt 2))
template <dsl::handle X>
constexpr auto gelu(X x) {
  return x * number<0.5> * (dsl::erf(x * number<0.70710678118654752>) + number<1>);
}
/// x/2 · (1 + tanh(sqrt(2/pi) · (x + 0.044715 x³)))
template <dsl::handle X>
constexpr auto gelu_tanh(X x) {
  const auto inner = (x + x * x * x * number<0.044715>) * number<0.79788456080286536>;
  return x * number<0.5> * (dsl::tanh(inner) + number<1>);
}

/// cap · tanh(x / cap): within ±cap, and nearly x far from there
template <dsl::handle X, dsl::operand Cap>
constexpr auto softcap(X x, Cap cap) {
  return dsl::tanh(x / cap) * cap;
}

template <dsl::handle Gate, dsl::handle Up>
constexpr auto swiglu(Gate gate, Up up) {
  return silu(gate) * up;
}
template <dsl::handle Gate, dsl::handle Up>
constexpr auto geglu(Gate gate, Up up) {
  return gelu_tanh(gate) * up;
}

}  // namespace poot::nn
