#pragma once
/// Kernels that break one rule, and what the verifier says of each.

#include "kernel_cases.hpp"

#include <poot/core/target.hpp>
#include <poot/kernel/values.hpp>
#include <poot/kernel/verify.hpp>

namespace kernel_cases {

inline constexpr device_caps caps = targets::cuda_sm80.caps;

inline std::string why(const pk::kernel& k, const device_caps& c = caps) {
  return refusal([&] { pk::verify(k, c); });
}

/// A kernel of 8 invocations with the shared array `s` of 64 words and the buffer `y`, written by `write(k, s, y)`.
template <class Write>
std::string sharing(Write write) {
  pk::builder k("sharing", 8);
  const pk::buffer_id y = k.writes("y", 0);
  const pk::shared_id s = k.shares("s", pk::type::word, 64);
  write(k, s, y);
  return why(k.finish());
}
inline constexpr const char* races = "another invocation may touch the same element of shared s";

}  // namespace kernel_cases
