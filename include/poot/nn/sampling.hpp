#pragma once
/// The next token from its logits, inside the program: the same tokens from the same seed on every executor.

#include <poot/dsl/leaf.hpp>
#include <poot/dsl/reduction.hpp>

namespace poot::nn {

namespace detail {
/// The extents of a type for random_uniform.
struct uniform_like {
  tensor_type of;
  constexpr void operator()(dsl::attributes& a, const tensor_type*) const {
    a.declared = of;
    a.declared.element = dtype::f32;
  }
};
template <tensor_type T>
struct uniform_of_type {
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const { uniform_like{T}(a, in); }
};
template <dsl::handle X, dsl::handle Seed, dsl::handle Offset>
constexpr auto uniform_as(X x, Seed seed, Offset offset) {
  if constexpr (dsl::run_time<X>) return dsl::apply<ir::op::random_uniform>(uniform_like{x.type()}, seed, offset);
  else if constexpr (std::same_as<X, dsl::poison>) return x;
  else return dsl::apply<ir::op::random_uniform>(uniform_of_type<X::result>{}, seed, offset);
}
}  // namespace detail

/// −log(−log(u)) of the extents of `x`, u uniform in (0, 1) from a seed and an offset (u32 scalars); see numerics.md. An
/// offset gives its numbers once: count it up from step to step.
template <dsl::handle X, dsl::handle Seed, dsl::handle Offset>
constexpr auto gumbel_noise(X x, Seed seed, Offset offset) {
  const auto u = detail::uniform_as(x, seed, offset) + dsl::number_<0x1p-25>{};
  return -dsl::log(-dsl::log(u));
}

/// The most likely token of each row of logits[…, V]: i32[…, 1].
template <dsl::handle Logits>
constexpr auto greedy(Logits logits) {
  return dsl::argmax(logits);
}

/// A token of each row of logits[…, V] (f32) drawn with the probabilities softmax(logits / temperature): i32[…, 1]. The
/// greatest of the logits with Gumbel noise on each (Gumbel 1954): no probability is computed, and rows draw for themselves.
template <dsl::handle Logits, dsl::operand Temperature, dsl::handle Seed, dsl::handle Offset>
constexpr auto gumbel_argmax(Logits logits, Temperature temperature, Seed seed, Offset offset) {
  return dsl::argmax(logits / temperature + gumbel_noise(logits, seed, offset));
}

}  // namespace poot::nn
