#pragma once
/// Extents as constants that every caller accepts (`extents<8, dyn<"L", 4096>>`), and as run-time lists (`shape{rows, 64}`).

#include <poot/dsl/operand.hpp>

#include <array>

namespace poot::dsl {

/// A dynamic extent in a type: its name and the most it can be.
template <fixed_text Name, int64 Bound>
struct dynamic_extent {
  static_assert(Bound >= 0 && Bound <= 0x7fffffff, "poot: the bound of a dynamic extent must fit 31 bits");
  static constexpr symbol_name symbol{Name.view(), Bound};
  constexpr operator extent() const { return extent::dynamic(Name.view(), Bound); }
};
template <fixed_text Name, int64 Bound>
inline constexpr dynamic_extent<Name, Bound> dyn{};

template <class E>
inline constexpr bool is_dynamic_extent = requires { E::symbol; };

template <class E>
constexpr void add_symbol(symbol_name* list, size_t& count) {
  if constexpr (is_dynamic_extent<E>) list[count++] = E::symbol;
}
template <class... E>
constexpr auto list_symbols() {
  std::array<symbol_name, (size_t{0} + ... + size_t{is_dynamic_extent<E>})> list{};
  [[maybe_unused]] size_t count = 0;
  (add_symbol<E>(list.data(), count), ...);
  return list;
}
/// The dynamic extents among `E`.
template <auto... E>
inline constexpr auto symbols_in = list_symbols<std::remove_const_t<decltype(E)>...>();

/// Extents, outermost first. As the rule of broadcast and reshape they are the declared extents.
template <auto... E>
struct extents_ {
  static_assert(sizeof...(E) <= max_rank, "poot: at most 6 axes");
  static constexpr auto& symbols = symbols_in<E...>;
  static constexpr tensor_type of(dtype t) { return type_of(t, E...); }
  template <class Attributes>
  constexpr void operator()(Attributes& a, const tensor_type* in) const {
    a.declared = of(in[0].element);
  }
};
template <auto... E>
inline constexpr extents_<E...> extents{};

/// A run-time list of up to 6 extents.
struct shape {
  extent list[max_rank]{};
  uint8 rank = 0;
  constexpr shape() = default;
  constexpr shape(std::initializer_list<extent> items) {
    if (items.size() > max_rank) fail(text{} << "shape: " << ir::explain(ir::rule::rank_limit));
    for (extent e : items) list[rank++] = e;
  }
  constexpr tensor_type of(dtype t) const {
    tensor_type r;
    r.element = t;
    for (int i = 0; i < rank; ++i) r.extents[r.rank++] = list[i];
    return r;
  }
  template <class Attributes>
  constexpr void operator()(Attributes& a, const tensor_type* in) const {
    a.declared = of(in[0].element);
  }
};

template <class E>
inline constexpr bool is_extents = std::same_as<E, shape>;
template <auto... E>
inline constexpr bool is_extents<extents_<E...>> = true;

/// A constant index or axis.
template <int64 I>
struct index_constant {
  static constexpr int64 value = I;
  constexpr operator int64() const { return I; }
};
template <int64 I>
inline constexpr index_constant<I> index{};

}  // namespace poot::dsl

namespace poot {
using dsl::dyn, dsl::extents, dsl::index, dsl::shape;
}  // namespace poot
