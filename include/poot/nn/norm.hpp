#pragma once
/// Norms over the last axis. They compute in f32 and return the element type of x; gains and biases may be narrower.

#include <poot/dsl/reduction.hpp>

namespace poot::nn {

/// x · 1/sqrt(mean(x²) + eps) · gain
template <dsl::handle X, dsl::handle Gain, dsl::operand Eps = dsl::number_<1e-5>>
constexpr auto rms_norm(X x, Gain gain, Eps eps = {}) {
  const auto h = dsl::cast_unless<f32>(x);
  return dsl::cast_like(h * dsl::rsqrt(dsl::mean(h * h) + eps) * dsl::cast_unless<f32>(gain), x);
}

/// (x − mean) / sqrt(mean((x − mean)²) + eps) · gain + bias
template <dsl::handle X, dsl::handle Gain, dsl::handle Bias, dsl::operand Eps = dsl::number_<1e-5>>
constexpr auto layer_norm(X x, Gain gain, Bias bias, Eps eps = {}) {
  const auto h = dsl::cast_unless<f32>(x);
  const auto centred = h - dsl::mean(h);
  const auto normal = centred / dsl::sqrt(dsl::mean(centred * centred) + eps);
  return dsl::cast_like(normal * dsl::cast_unless<f32>(gain) + dsl::cast_unless<f32>(bias), x);
}

}  // namespace poot::nn
