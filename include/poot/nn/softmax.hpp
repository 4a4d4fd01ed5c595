#pragma once
/// Softmax along an axis, in the order that stays finite: the greatest is taken away first.

#include <poot/dsl/reduction.hpp>

namespace poot::nn {

template <int Axis = -1, dsl::handle X>
constexpr auto softmax(X x) {
  const auto e = dsl::exp(x - dsl::max<Axis>(x));
  return e / dsl::sum<Axis>(e);
}

template <int Axis = -1, dsl::handle X>
constexpr auto log_softmax(X x) {
  const auto shifted = x - dsl::max<Axis>(x);
  return shifted - dsl::log(dsl::sum<Axis>(dsl::exp(shifted)));
}

}  // namespace poot::nn
