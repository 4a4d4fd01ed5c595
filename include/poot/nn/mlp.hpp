#pragma once
/// Multi-layer perceptrons with weights in [N,K] order.

#include <poot/dsl/contraction.hpp>
#include <poot/nn/activation.hpp>

namespace poot::nn {

/// down(silu(gate(x)) · up(x))
template <dsl::handle X, dsl::handle Gate, dsl::handle Up, dsl::handle Down>
constexpr auto gated_mlp(X x, Gate gate, Up up, Down down) {
  return dsl::matmul_t(swiglu(dsl::matmul_t(x, gate), dsl::matmul_t(x, up)), down);
}
/// gelu(x · up + bias) · down + bias
template <dsl::handle X, dsl::handle Up, dsl::handle UpBias, dsl::handle Down, dsl::handle DownBias>
constexpr auto mlp(X x, Up up, UpBias up_bias, Down down, DownBias down_bias) {
  const auto hidden = gelu(dsl::matmul_t(x, up) + up_bias);
  return dsl::matmul_t(hidden, down) + down_bias;
}

}  // namespace poot::nn
