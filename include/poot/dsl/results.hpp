#pragma once
/// Several results of one block: a small tuple for `auto [y, h] = block(…)` and `get<0>(r)`, for every caller.

#include <poot/dsl/operand.hpp>

namespace poot::dsl {

template <size_t I, class X>
struct result_at {
  [[no_unique_address]] X held;
};
template <class Indices, class... X>
struct results_base;
template <size_t... I, class... X>
struct results_base<std::index_sequence<I...>, X...> : result_at<I, X>... {
  constexpr results_base() = default;
  constexpr explicit results_base(X... x) : result_at<I, X>{x}... {}
};

template <class... X>
struct results : results_base<std::index_sequence_for<X...>, X...> {
  using base = results_base<std::index_sequence_for<X...>, X...>;
  constexpr results() = default;
  constexpr results(X... x)
    requires(sizeof...(X) > 0)
      : base(x...) {}
};
template <class... X>
results(X...) -> results<X...>;

template <size_t I, class X>
constexpr X held_at(const result_at<I, X>& r) {
  return r.held;
}
template <size_t I, class... X>
  requires(I < sizeof...(X))
constexpr auto get(const results<X...>& r) {
  return held_at<I>(r);
}

}  // namespace poot::dsl

template <class... X>
struct std::tuple_size<poot::dsl::results<X...>> : std::integral_constant<std::size_t, sizeof...(X)> {};
template <std::size_t I, class... X>
struct std::tuple_element<I, poot::dsl::results<X...>> {
  using type = decltype(poot::dsl::get<I>(poot::dsl::results<X...>{}));
};

namespace poot {
using dsl::get, dsl::results;
}  // namespace poot
