#pragma once
/// The next token from its logits, inside the program: the same tokens from the same seed on every executor.

#include <poot/dsl/block.hpp>
#include <poot/dsl/leaf.hpp>
#include <poot/dsl/reduction.hpp>

#include <bit>

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

/// A token of each row of scores[…, V] (f32) drawn with the probabilities softmax(scores): i32[…, 1]. The greatest of the
/// scores with Gumbel noise on each (Gumbel 1954): no probability is computed, and rows draw for themselves. A score of −∞
/// is never drawn.
template <dsl::handle Scores, dsl::handle Seed, dsl::handle Offset>
constexpr auto draw(Scores scores, Seed seed, Offset offset) {
  return dsl::argmax(scores + gumbel_noise(scores, seed, offset));
}

/// The same of softmax(logits / temperature).
template <dsl::handle Logits, dsl::operand Temperature, dsl::handle Seed, dsl::handle Offset>
constexpr auto gumbel_argmax(Logits logits, Temperature temperature, Seed seed, Offset offset) {
  return draw(logits / temperature, seed, offset);
}

namespace detail {

/// How far scores lie below the greatest of their row.
template <dsl::handle Scores>
constexpr auto excess(Scores scores) {
  return dsl::max(scores) - scores;
}

/// The greatest f32 t of each row for which holds(t) is 1, where it holds up to some t and then no more; 2^-64 where that
/// is less. Its exponent is found bit by bit, then its fraction. Every trial is exact, so 31 of them do what a search among
/// all floats would. `beside` is any handle of the graph.
template <dsl::handle Beside, class Holds>
constexpr auto greatest_float(Beside beside, Holds holds) {
  const auto one = dsl::as_handle(1.0f, beside);
  auto t = dsl::select(holds(one), one, dsl::as_handle(0x1p-64f, beside));  // [..., 1]
  const auto attempt = [&](auto candidate) { t = dsl::select(holds(candidate), candidate, t); };
  for (int bit = 64; bit > 0; bit /= 2) attempt(t * std::bit_cast<float>(static_cast<uint32>(127 + bit) << 23));
  const auto power = t;
  for (int bit = 1; bit <= 23; ++bit) attempt(t + power * std::bit_cast<float>(static_cast<uint32>(127 - bit) << 23));
  return t;
}

/// Scores above −∞ only where the excess is at most the row's threshold.
template <dsl::handle Scores, dsl::handle Excess, dsl::handle Threshold>
constexpr auto keep_near(Scores scores, Excess e, Threshold t) {
  return dsl::select(e <= t, scores, dsl::as_handle(-__builtin_huge_valf(), scores));
}

struct keep_top_k {
  template <dsl::handle Scores, dsl::operand K>
  constexpr auto operator()(Scores scores, K k) const {
    const auto e = excess(scores);
    return keep_near(scores, e, greatest_float(scores, [&](auto t) { return dsl::sum(e < t) < k; }));
  }
};
struct keep_top_p {
  template <dsl::handle Scores, dsl::operand P>
  constexpr auto operator()(Scores scores, P p) const {
    const auto e = excess(scores);
    const auto weight = dsl::exp(-e);
    const auto wanted = dsl::sum(weight) * p;
    const auto none = dsl::as_handle(0.0f, scores);
    return keep_near(scores, e, greatest_float(scores, [&](auto t) { return dsl::sum(dsl::select(e < t, weight, none)) < wanted; }));
  }
};
struct keep_min_p {
  template <dsl::handle Scores, dsl::operand P>
  constexpr auto operator()(Scores scores, P p) const {
    return dsl::select(dsl::exp(-excess(scores)) >= p, scores, dsl::as_handle(-__builtin_huge_valf(), scores));
  }
};
}  // namespace detail

// What is kept is defined by a score's excess e, the greatest score of its row minus it, rounded to f32, and by its weight
// exp(−e): so each executor keeps the same. Scores of one excess are kept together, and so are all below 2^-64, as if they
// were equal; there may be more than asked for. The greatest score stays always. The others become −∞. Scores are f32,
// finite or −∞.

/// The k (i32) greatest scores of each row of scores[…, V], and those equal to the last of them.
template <dsl::handle Scores, dsl::operand K>
constexpr auto top_k(Scores scores, K k) {
  return dsl::block(detail::keep_top_k{}, scores, k);
}

/// The fewest greatest scores of each row whose weights add up to at least p (f32) times the row's sum (Holtzman 2020), each
/// a sum over the row in its order. Where p is 1, weights that change no sum are left out.
template <dsl::handle Scores, dsl::operand P>
constexpr auto top_p(Scores scores, P p) {
  return dsl::block(detail::keep_top_p{}, scores, p);
}

/// The scores of weight p (f32) or more, in which the greatest weighs 1 (Nguyen 2024).
template <dsl::handle Scores, dsl::operand P>
constexpr auto min_p(Scores scores, P p) {
  return dsl::block(detail::keep_min_p{}, scores, p);
}

}  // namespace poot::nn
