#pragma once
/// Convolution with batch norm and ReLU.

#include <poot/dsl/contraction.hpp>
#include <poot/dsl/movement.hpp>
#include <poot/nn/activation.hpp>

namespace poot::nn {

namespace detail {
struct per_channel {  // [C] to [C,1,1]
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const {
    a.declared = in[0];
    while (a.declared.rank < 3) a.declared.extents[a.declared.rank++] = extent(1);
  }
};
template <dsl::handle X>
constexpr auto along_channels(X x) {
  return dsl::apply<ir::op::reshape>(per_channel{}, x);
}
}  // namespace detail

/// relu((conv(x, w) − mean) / sqrt(variance + eps) · gain + bias), with gain, bias, mean and variance of [C]. Folding the
/// norm into the weights would change the rounding, so it is not done here.
template <dsl::handle X, dsl::handle W, dsl::handle Gain, dsl::handle Bias, dsl::handle Mean, dsl::handle Variance,
          dsl::conv_options O = dsl::conv_options{}, dsl::operand Eps = dsl::number_<1e-5>>
constexpr auto conv_bn_relu(X x, W w, Gain gain, Bias bias, Mean mean, Variance variance, dsl::conv_<O> options = {}, Eps eps = {}) {
  const auto centred = dsl::conv2d(x, w, options) - detail::along_channels(mean);
  const auto normal = centred / dsl::sqrt(detail::along_channels(variance) + eps);
  return relu(normal * detail::along_channels(gain) + detail::along_channels(bias));
}

}  // namespace poot::nn
