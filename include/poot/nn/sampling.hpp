#pragma once
/// The next token from its logits, inside the program: the same tokens from the same seed on every executor.

#include <poot/dsl/block.hpp>
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

// Comparisons in floats, which row regions are made of. They are exact where a and b are 2^-88 apart or equal.

/// 1 where a > b, else 0.
template <dsl::handle A, dsl::handle B>
constexpr auto exceeds(A a, B b) {
  return dsl::min(dsl::max((a - b) * 0x1p100f, 0.0f), 1.0f);
}
/// −∞ where a > b, else the scores.
template <dsl::handle Scores, dsl::operand A, dsl::handle B>
constexpr auto drop_where_exceeds(Scores scores, A a, B b) {
  return scores - dsl::max((a - b) * 0x1p100f, 0.0f) * 0x1p127f;
}

/// The greatest f32 t of each row for which holds(t) is 1, where it holds up to some t and then is 0; 2^-64 where that is
/// less. Its exponent is found bit by bit, then its fraction. Every trial is exact, so 31 of them do what a search among all
/// floats would. Trials of one kind are the same equations, which kernels write once (fuse/turns.hpp). `row` is any finite value of
/// each row. (A typed program that holds a search is planned by g++; clang wants -fconstexpr-steps for it.)
template <dsl::handle Row, class Holds>
constexpr auto greatest_float(Row row, Holds holds) {
  auto t = row * 0.0f + 0x1p-64f;      // [..., 1]
  auto factor = row * 0.0f + 0x1p64f;  // a power of two, of half the exponent from trial to trial
  const auto longer = [&](auto at, auto by) { return at * (holds(at * by) * (by - 1.0f) + 1.0f); };
  t = longer(longer(t, factor), factor);
  for (int bits = 32; bits >= 1; bits /= 2) {
    factor = dsl::sqrt(factor);
    t = longer(t, factor);
  }
  auto step = t;  // halved from trial to trial
  for (int bit = 1; bit <= 23; ++bit) {
    step = step * 0.5f;
    t = t + holds(t + step) * step;
  }
  return t;
}

struct keep_top_k {
  template <dsl::handle Scores, dsl::handle K>
  constexpr auto operator()(Scores scores, K k) const {
    const auto e = excess(scores);
    const auto last = greatest_float(dsl::max(scores), [&](auto t) { return exceeds(k, dsl::sum(exceeds(t, e))); });
    return drop_where_exceeds(scores, e, last);
  }
};
struct keep_top_p {
  template <dsl::handle Scores, dsl::operand P>
  constexpr auto operator()(Scores scores, P p) const {
    const auto e = excess(scores);
    const auto weight = dsl::exp(-e);
    const auto wanted = dsl::sum(weight) * p;
    const auto last = greatest_float(wanted, [&](auto t) { return exceeds(wanted, dsl::sum(exceeds(t, e) * weight)); });
    return drop_where_exceeds(scores, e, last);
  }
};
struct keep_min_p {
  template <dsl::handle Scores, dsl::operand P>
  constexpr auto operator()(Scores scores, P p) const {
    return drop_where_exceeds(scores, p, dsl::exp(-excess(scores)));
  }
};
}  // namespace detail

// What is kept follows from a score's excess e, the greatest score of its row minus it, rounded to f32, and from its weight
// exp(−e); so every executor keeps the same. Scores of one excess stay or go together, and so do all that are less than 2^-64
// below the greatest: more may stay than were asked for, and the greatest always stays. What goes becomes −∞. Scores are
// f32, finite or −∞, at most 2^24 in a row.

/// The k greatest scores of each row of scores[…, V], and those equal to the last of them; k is a whole number, in f32.
template <dsl::handle Scores, dsl::handle K>
constexpr auto top_k(Scores scores, K k) {
  return dsl::block(detail::keep_top_k{}, scores, k);
}

/// The fewest greatest scores of each row whose weights add up to p (f32) times the sum of all or more (Holtzman 2020), each a
/// sum over the row in its order. At p = 1 those go whose weights change no sum.
template <dsl::handle Scores, dsl::operand P>
constexpr auto top_p(Scores scores, P p) {
  return dsl::block(detail::keep_top_p{}, scores, p);
}

/// The scores of weight p (f32: 0, or 2^-64 to 1) or more; the greatest weighs 1 (Nguyen 2024).
template <dsl::handle Scores, dsl::operand P>
constexpr auto min_p(Scores scores, P p) {
  return dsl::block(detail::keep_min_p{}, scores, p);
}

}  // namespace poot::nn
