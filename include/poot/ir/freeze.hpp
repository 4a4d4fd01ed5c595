#pragma once
/// A graph as a constant object of exact size. Nothing on the heap outlives a constant evaluation, and compilers count
/// steps per evaluation: a frozen graph lets the next stage start afresh.

#include <poot/ir/graph.hpp>

#include <array>

namespace poot::ir {

struct graph_sizes {
  size_t eqns = 0, operands = 0, attrs = 0, chars = 0, outputs = 0, symbols = 0;
  constexpr bool operator==(const graph_sizes&) const = default;
};
constexpr graph_sizes sizes_of(const graph_view& g) {
  return {g.eqns.size(),      g.operand_pool.size(), g.attr_pool.size(),
          g.char_pool.size(), g.outputs.size(),      g.symbols.size()};
}

template <graph_sizes S>
struct frozen_graph {
  std::array<eqn, S.eqns> eqns{};
  std::array<uint32, S.operands> operand_pool{};
  std::array<int64, S.attrs> attr_pool{};
  std::array<char, S.chars> char_pool{};
  std::array<graph_output, S.outputs> outputs{};
  std::array<symbol, S.symbols> symbols{};
  slice_of name{};

  constexpr frozen_graph() = default;
  /// `g` has these sizes.
  constexpr explicit frozen_graph(const graph_view& g) : name(g.name) {
    copy(g.eqns, eqns);
    copy(g.operand_pool, operand_pool);
    copy(g.attr_pool, attr_pool);
    copy(g.char_pool, char_pool);
    copy(g.outputs, outputs);
    copy(g.symbols, symbols);
  }
  constexpr graph_view view() const {
    return {{eqns.data(), S.eqns},       {operand_pool.data(), S.operands}, {attr_pool.data(), S.attrs},
            {char_pool.data(), S.chars}, {outputs.data(), S.outputs},       {symbols.data(), S.symbols}, name};
  }
  constexpr operator graph_view() const { return view(); }

 private:
  template <class T, size_t N>
  static constexpr void copy(poot::view<T> from, std::array<T, N>& to) {
    for (size_t i = 0; i < N; ++i) to[i] = from[i];
  }
};

/// Freezes the graph that the captureless `Make` returns: made twice, for its sizes and for its content.
template <class Make>
inline constexpr auto freeze = frozen_graph<[] {
  const graph g = Make{}();
  return sizes_of(g);
}()>([]() -> graph { return Make{}(); }());

}  // namespace poot::ir
