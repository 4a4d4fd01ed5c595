#pragma once
/// Softmax along an axis, in the order that stays finite: the greatest is taken away first.

#include <poot/dsl/pointwise.hpp>
#include <poot/dsl/reduction.hpp>

namespace poot::nn {

template <int Axis = -1, dsl::handle X>
constexpr auto softmax(X x) {
  const auto e = dsl::exp(x - dsl::max<Axis>(x));
  return e / dsl::sum<Axis>(e);
}

/// The softmax of x and of one more score, `sink`, whose weight is left out: rows sum to less than 1. The sink broadcasts into x with
/// an extent of 1 along the axis. (Attention sinks: "Efficient Streaming Language Models with Attention Sinks", arXiv 2309.17453.)
template <int Axis = -1, dsl::handle X, dsl::operand Sink>
constexpr auto softmax_with_sink(X x, Sink sink) {
  const auto greatest = dsl::max(dsl::max<Axis>(x), sink);
  const auto e = dsl::exp(x - greatest);
  return e / (dsl::sum<Axis>(e) + dsl::exp(sink - greatest));
}

template <int Axis = -1, dsl::handle X>
constexpr auto log_softmax(X x) {
  const auto shifted = x - dsl::max<Axis>(x);
  return shifted - dsl::log(dsl::sum<Axis>(dsl::exp(shifted)));
}

}  // namespace poot::nn
