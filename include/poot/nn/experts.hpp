#pragma once
/// Routed experts: each token goes through the few feed-forward layers that a router finds most probable for it.

#include <poot/dsl/reduction.hpp>
#include <poot/dsl/requirement.hpp>
#include <poot/dsl/results.hpp>
#include <poot/nn/mlp.hpp>

#include <limits>

namespace poot::nn {

namespace detail {
template <int Count>
struct routes_rows {  // of probability[T,E], gate and up [E,F,K], down[E,K,F]
  static constexpr std::string_view call = "routed_mlp";
  constexpr dsl::breach operator()(const tensor_type* in) const {
    const extent experts = in[0].last();
    if (experts.is_dynamic()) return {"the number of experts must be a number, not dynamic", 0};
    if (experts.code < Count) return {"there must be at least as many experts as a row goes through", 0};
    for (int k = 1; k < 4; ++k)
      if (in[k].extents[0] != experts) return {"the weights must be of as many experts as there are probabilities of", k};
    return {};
  }
};
struct places_of {  // i32[E] for x[T,E]
  constexpr tensor_type operator()(const tensor_type& t) const { return type_of(dtype::i32, t.last()); }
};
struct without_last_axis {  // [T,1] to [T]
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const {
    a.declared = in[0];
    if (a.declared.rank > 0) --a.declared.rank;
  }
};
}  // namespace detail

/// Of each row of x[T,E]: the place of its greatest element, i32[T,1], that element, [T,1], and x with −inf there. The first of equals.
template <dsl::handle X>
constexpr auto take_greatest(X x) {
  const auto place = dsl::argmax(x);
  const auto rest = dsl::select(dsl::eq(dsl::iota_from<detail::places_of>(x), place), number<-std::numeric_limits<double>::infinity()>, x);
  return results{place, dsl::max(x), rest};
}

/// Row t of x[T,K] through the gated perceptron place[t], an i32[T,1], of gate and up [E,F,K] and down [E,K,F].
template <dsl::handle X, dsl::handle Place, dsl::handle Gate, dsl::handle Up, dsl::handle Down>
constexpr auto expert_mlp(X x, Place place, Gate gate, Up up, Down down) {
  const auto at = dsl::apply<ir::op::reshape>(detail::without_last_axis{}, place);  // [T]
  return dsl::indexed_matmul(swiglu(dsl::indexed_matmul(x, gate, at), dsl::indexed_matmul(x, up, at)), down, at);
}

namespace detail {
template <bool Normalised, dsl::handle X, dsl::handle Gate, dsl::handle Up, dsl::handle Down, class... Taken>
constexpr auto mix_experts(X x, Gate gate, Up up, Down down, Taken... taken) {
  if constexpr (Normalised) {
    const auto total = (... + get<1>(taken));
    return (... + (expert_mlp(x, get<0>(taken), gate, up, down) * (get<1>(taken) / total)));
  } else {
    return (... + (expert_mlp(x, get<0>(taken), gate, up, down) * get<1>(taken)));
  }
}
template <int Left, bool Normalised, dsl::handle X, dsl::handle Rest, dsl::handle Gate, dsl::handle Up, dsl::handle Down, class... Taken>
constexpr auto choose_experts(X x, Rest rest, Gate gate, Up up, Down down, Taken... taken) {
  if constexpr (Left == 0) {
    return mix_experts<Normalised>(x, gate, up, down, taken...);
  } else {
    const auto next = take_greatest(rest);
    return choose_experts<Left - 1, Normalised>(x, get<2>(next), gate, up, down, taken..., next);
  }
}
}  // namespace detail

/// x[T,K] through the `Count` of E experts of greatest probability[T,E], weighted by it; `Normalised`: by its share of theirs.
template <int Count, bool Normalised = true, dsl::handle X, dsl::handle Probability, dsl::handle Gate, dsl::handle Up, dsl::handle Down>
  requires(Count > 0)
constexpr auto routed_mlp(X x, Probability probability, Gate gate, Up up, Down down) {
  const auto checked = dsl::obeying(detail::routes_rows<Count>{}, probability, gate, up, down);
  return detail::choose_experts<Count, Normalised>(x, checked, gate, up, down);
}

}  // namespace poot::nn
