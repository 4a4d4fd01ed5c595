#pragma once
/// The pointwise chains of `poot bench`: of free nodes and of run-time values.

#include <poot/dsl/literal.hpp>
#include <poot/dsl/pointwise.hpp>

#include <functional>

namespace poot::tool {

/// Eight ops, none of them a function.
inline constexpr auto chain = [](auto x) {
  using namespace poot::literals;
  return dsl::max(((x * 1.5_f + 0.25_f) * x - 0.75_f) * x + 0.5_f, 0.0_f) * 0.9_f;
};
/// Eight ops, two of them functions.
inline constexpr auto chain_tanh_exp = [](auto x) {
  using namespace poot::literals;
  return dsl::exp(dsl::tanh(x * 0.5_f + 0.1_f) * x - 1.0_f) * 0.7_f + 0.2_f;
};

/// A typed program between memory of its declared size, loaded and ready to run.
using typed_run = std::function<void()> (*)(const float* from, float* to, int threads);
std::function<void()> typed_chain_16M(const float* from, float* to, int threads);
std::function<void()> typed_chain_64k(const float* from, float* to, int threads);
std::function<void()> typed_chain_tanh_exp_16M(const float* from, float* to, int threads);
std::function<void()> typed_chain_tanh_exp_64k(const float* from, float* to, int threads);

}  // namespace poot::tool
