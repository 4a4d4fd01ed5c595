#pragma once
/// Multi-layer perceptrons with weights in [N,K] order.

#include <poot/dsl/contraction.hpp>
#include <poot/nn/activation.hpp>

namespace poot::nn {

/// What a gate goes through: silu, or gelu in its tanh form.
enum class gating : uint8 { silu, gelu_tanh };

/// down(act(gate(x)) · up(x))
template <gating By = gating::silu, dsl::handle X, dsl::handle Gate, dsl::handle Up, dsl::handle Down>
constexpr auto gated_mlp(X x, Gate gate, Up up, Down down) {
  const auto opened = dsl::matmul_t(x, gate);
  const auto value = dsl::matmul_t(x, up);
  if constexpr (By == gating::silu) return dsl::matmul_t(swiglu(opened, value), down);
  else return dsl::matmul_t(geglu(opened, value), down);
}
/// gelu(x · up + bias) · down + bias
template <dsl::handle X, dsl::handle Up, dsl::handle UpBias, dsl::handle Down, dsl::handle DownBias>
constexpr auto mlp(X x, Up up, UpBias up_bias, Down down, DownBias down_bias) {
  const auto hidden = gelu(dsl::matmul_t(x, up) + up_bias);
  return dsl::matmul_t(hidden, down) + down_bias;
}

}  // namespace poot::nn
