#pragma once
/// What an expression is made of, for each of its three callers: free nodes (empty types), typed tensors (element type
/// and extents in the type, graph and id in the value) and run-time values.

#include <poot/ir/graph.hpp>

#include <concepts>

namespace poot::dsl {

/// A dynamic extent that a type or a list of extents names.
struct symbol_name {
  std::string_view name;
  int64 bound;
};

/// What is known about a free node: one constant object per node type, with pointers to those of its operands.
struct description {
  enum class form : uint8 { equation, block, part, update };
  uint64 key = 0;  ///< a hash; identity is the address
  form what = form::equation;
  ir::op kind = ir::op::input;
  uint8 part = 0;  ///< which result of the block that is the only operand
  tensor_type type{};
  view<int64> attrs{};
  view<const description*> operands{};
  view<symbol_name> symbols{};
  std::string_view name{};  ///< of a named leaf, of the state that is updated, or of a collective's group
  const ir::custom_row* custom = nullptr;  ///< of a user's op
  void (*body)(class tracer&, const uint32* in, vec<uint32>& out) = nullptr;  ///< of a block
};

/// A tensor inside a block (or of a typed parameter tree): its equation stands in `owner`.
template <tensor_type T>
struct tensor {
  static constexpr tensor_type result = T;
  ir::graph* owner = nullptr;
  class tracer* trace = nullptr;  ///< null in a graph of run-time values
  uint32 id = 0;
};

/// Stands for the result of a refused call, and silences what follows from it.
struct poison {
  static constexpr tensor_type result{};
};

template <class X>
inline constexpr bool is_tensor = false;
template <tensor_type T>
inline constexpr bool is_tensor<tensor<T>> = true;

template <class X>
concept free_node = requires { X::node_description; };
template <class X>
concept typed = free_node<X> || is_tensor<X>;
template <class X>
concept run_time = std::same_as<X, ir::value>;
/// Anything that stands for one tensor.
template <class X>
concept handle = typed<X> || run_time<X> || std::same_as<X, poison>;

/// Who calls: the most concrete of the operands decides.
enum class caller : uint8 { free_nodes, typed_tensors, values, refused };
template <handle... X>
inline constexpr caller caller_of = (std::same_as<X, poison> || ...) ? caller::refused
                                    : (run_time<X> || ...)           ? caller::values
                                    : (is_tensor<X> || ...)          ? caller::typed_tensors
                                                                     : caller::free_nodes;

/// The type of a handle's tensor: a constant for typed ones.
template <handle X>
constexpr tensor_type type_of_handle(X x) {
  if constexpr (run_time<X>) return x.type();
  else return X::result;
}

/// A few words, short enough that clang shows them whole where they are a template argument.
template <size_t N>
struct words {
  char chars[N + 1]{};
};
/// A sentence as a type, in pieces.
template <auto... Words>
struct says {};
/// Always false: `static_assert(accepted_call<sentence_of<Make>>)` stops the compiler and shows what `Make{}()` writes.
/// For use behind `if constexpr`.
template <class Sentence>
inline constexpr bool accepted_call = false;

namespace detail {
inline constexpr size_t most_words = 34;
/// Where the piece that starts at `first` ends: after the operands, else after the last space that fits.
constexpr size_t piece_end(std::string_view s, size_t first) {
  const size_t most = s.size() - first < most_words ? s.size() : first + most_words;
  for (size_t i = first; i + 3 <= most; ++i)
    if ((s[i] == ')' || s[i] == ']') && s[i + 1] == ':' && s[i + 2] == ' ') return i + 3;
  if (most == s.size()) return most;
  for (size_t i = most; i > first; --i)
    if (s[i - 1] == ' ') return i;
  return most;
}
template <class Make>
constexpr size_t count_pieces() {
  const text whole = Make{}();
  size_t n = 0;
  for (size_t at = 0; at < whole.size(); ++n) at = piece_end(whole.str(), at);
  return n;
}
template <class Make, size_t I, bool End>
constexpr size_t piece_bound() {
  const text whole = Make{}();
  size_t first = 0, end = 0;
  for (size_t n = 0; n <= I; ++n) first = end, end = piece_end(whole.str(), first);
  return End ? end : first;
}
template <class Make, size_t I>
constexpr auto make_piece() {
  constexpr size_t first = piece_bound<Make, I, false>(), size = piece_bound<Make, I, true>() - first;
  words<size> w;
  const text whole = Make{}();
  for (size_t i = 0; i < size; ++i) w.chars[i] = whole.str()[first + i];
  w.chars[size] = 0;  // written out, or clang 19 may show numbers
  return w;
}
template <class Make>
constexpr bool is_silent() {
  const text whole = Make{}();
  return whole.empty();
}
template <class Make, class Indices = std::make_index_sequence<count_pieces<Make>()>>
struct sentence;
template <class Make, size_t... I>
struct sentence<Make, std::index_sequence<I...>> {
  using type = says<make_piece<Make, I>()...>;
};
}  // namespace detail

}  // namespace poot::dsl

namespace poot {
using ir::graph, ir::value;
}  // namespace poot
