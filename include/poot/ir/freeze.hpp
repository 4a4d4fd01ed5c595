#pragma once
/// A graph as a constant object. Nothing on the heap outlives a constant evaluation, and compilers count steps per
/// evaluation: a frozen graph lets the next stage start afresh.

#include <poot/ir/graph.hpp>

#include <array>

namespace poot::ir {

struct graph_sizes {
  size_t eqns = 0, operands = 0, attrs = 0, chars = 0, outputs = 0, symbols = 0;
  constexpr bool operator==(const graph_sizes&) const = default;
  constexpr bool within(const graph_sizes& c) const {
    return eqns <= c.eqns && operands <= c.operands && attrs <= c.attrs && chars <= c.chars && outputs <= c.outputs &&
           symbols <= c.symbols;
  }
};
constexpr graph_sizes sizes_of(const graph_view& g) {
  return {g.eqns.size(),      g.operand_pool.size(), g.attr_pool.size(),
          g.char_pool.size(), g.outputs.size(),      g.symbols.size()};
}

/// Copies into an array that is large enough.
template <class T, size_t N>
constexpr void copy_into(std::array<T, N>& to, view<T> from) {
  const T* const first = from.data();
  T* const out = to.data();
  for (size_t i = 0, count = from.size(); i < count; ++i) out[i] = first[i];
}

/// Arrays of `Capacity`, and how much of them is used. A graph that is larger leaves only its sizes.
template <graph_sizes Capacity>
struct frozen_graph {
  graph_sizes sizes{};
  std::array<eqn, Capacity.eqns> eqns{};
  std::array<uint32, Capacity.operands> operand_pool{};
  std::array<int64, Capacity.attrs> attr_pool{};
  std::array<char, Capacity.chars> char_pool{};
  std::array<graph_output, Capacity.outputs> outputs{};
  std::array<symbol, Capacity.symbols> symbols{};
  slice_of name{};

  constexpr frozen_graph() = default;
  constexpr explicit frozen_graph(const graph_view& g) : sizes(sizes_of(g)), name(g.name) {
    if (!fits()) return;
    copy_into(eqns, g.eqns);
    copy_into(operand_pool, g.operand_pool);
    copy_into(attr_pool, g.attr_pool);
    copy_into(char_pool, g.char_pool);
    copy_into(outputs, g.outputs);
    copy_into(symbols, g.symbols);
  }
  constexpr bool fits() const { return sizes.within(Capacity); }
  constexpr graph_view view() const {
    return {{eqns.data(), sizes.eqns},       {operand_pool.data(), sizes.operands}, {attr_pool.data(), sizes.attrs},
            {char_pool.data(), sizes.chars}, {outputs.data(), sizes.outputs},       {symbols.data(), sizes.symbols}, name};
  }
  constexpr operator graph_view() const { return view(); }
};

/// What `Make{}()` returns, as a `Make::frozen<Capacity>`.
template <class Make, auto Capacity>
inline constexpr typename Make::template frozen<Capacity> frozen_within(Make{}());

template <class Make, auto Capacity>
constexpr const auto& frozen_in_one_of() {
  if constexpr (frozen_within<Make, Capacity>.fits()) return frozen_within<Make, Capacity>;
  else return frozen_within<Make, frozen_within<Make, Capacity>.sizes>;
}
/// The same, evaluated once where `Make::capacity()` is enough, else once more with the exact sizes. (g++ keeps what an
/// evaluation leaves behind until the translation unit ends.)
template <class Make>
inline constexpr const auto& freeze = frozen_in_one_of<Make, Make::capacity()>();

}  // namespace poot::ir
