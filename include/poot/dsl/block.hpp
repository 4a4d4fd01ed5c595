#pragma once
/// `block(f, args…)`: the unit of composition. For free nodes one node that names only f and its arguments; its body is
/// f, traced on typed tensors. Typed tensors and run-time values just call f.

#include <poot/dsl/apply.hpp>
#include <poot/dsl/extents.hpp>
#include <poot/dsl/results.hpp>

namespace poot::dsl {

template <class... X>
struct type_list {
  static constexpr size_t size = sizeof...(X);
};

/// How an argument enters a block: the nodes that are the block's operands, and what f receives. Anything empty that is
/// not a node (an index, extents, a literal number) is a constant and enters as itself.
template <class A>
struct argument {
  static constexpr bool is_constant = std::is_empty_v<A> && !handle<A>;
  static constexpr bool is_free = is_constant;
  static constexpr bool is_refused = std::same_as<A, poison>;
  using nodes = type_list<>;
  using inside = A;
  static constexpr inside open(tracer&, const uint32*) { return {}; }
};
template <free_node A>
struct argument<A> {
  static constexpr bool is_free = true, is_refused = false;
  using nodes = type_list<A>;
  using inside = tensor<A::result>;
  static constexpr inside open(tracer& t, const uint32* in) { return {&t.graph(), &t, *in}; }
};

template <class... L>
struct joined {
  using type = type_list<>;
};
template <class... X>
struct joined<type_list<X...>> {
  using type = type_list<X...>;
};
template <class... X, class... Y, class... Rest>
struct joined<type_list<X...>, type_list<Y...>, Rest...> {
  using type = typename joined<type_list<X..., Y...>, Rest...>::type;
};

template <class... A>
using nodes_of = typename joined<typename argument<A>::nodes...>::type;

/// Where the nodes of argument I start among those of all.
template <size_t I, class... A>
constexpr size_t first_node() {
  constexpr size_t counts[]{argument<A>::nodes::size...};
  size_t first = 0;
  for (size_t i = 0; i < I; ++i) first += counts[i];
  return first;
}
/// Structs of handles: `results`, or an aggregate template of your own whose members are its arguments in this order.
template <class S, class... X>
inline constexpr bool is_bundle = sizeof...(X) > 0 && (handle<X> && ...) && (std::is_aggregate_v<S> || std::same_as<S, results<X...>>);

template <template <class...> class S, class... A, size_t... I>
constexpr auto open_bundle(tracer& t, const uint32* in, std::index_sequence<I...>) {
  return S<typename argument<A>::inside...>{argument<A>::open(t, in + first_node<I, A...>())...};
}
template <template <class...> class S, class... A>
  requires is_bundle<S<A...>, A...>
struct argument<S<A...>> {
  static constexpr bool is_free = (argument<A>::is_free && ...);
  static constexpr bool is_refused = (argument<A>::is_refused || ...);
  using nodes = nodes_of<A...>;
  using inside = S<typename argument<A>::inside...>;
  static constexpr inside open(tracer& t, const uint32* in) {
    return open_bundle<S, A...>(t, in, std::index_sequence_for<A...>{});
  }
};

/// Notes the equation of each tensor in a result.
struct collector {
  tracer& t;
  vec<uint32>& out;
  template <class X>
  constexpr void operator()(X part) const {
    if constexpr (free_node<X>) out.push_back(t.lower(&X::node_description));
    else out.push_back(part.id);
  }
};

/// What a block returns: the tensors in it, and the same shape made of other parts. Specialise for types of your own.
template <class Out>
struct block_result {
  static constexpr bool is_result = false;
};
template <class Out>
  requires typed<Out>
struct block_result<Out> {
  static constexpr bool is_result = true;
  using parts = type_list<Out>;
  static constexpr void collect(const Out& out, collector take) { take(out); }
};
template <class... X>
  requires(typed<X> && ...)
struct block_result<results<X...>> {
  static constexpr bool is_result = true;
  using parts = type_list<X...>;
  template <size_t... I>
  static constexpr void collect_at(const results<X...>& out, collector take, std::index_sequence<I...>) {
    (take(get<I>(out)), ...);
  }
  static constexpr void collect(const results<X...>& out, collector take) {
    collect_at(out, take, std::index_sequence_for<X...>{});
  }
  template <class... Part>
  static constexpr auto rebuild(Part... part) {
    return results<Part...>{part...};
  }
};

template <class Out>
constexpr tensor_type first_result(type_list<Out>) {
  return Out::result;
}
template <class... Out>
constexpr tensor_type first_result(type_list<Out...>) {
  return {};
}
template <class... Node>
constexpr void describe_operands(description& d, type_list<Node...>) {
  d.operands = {operands_of<Node...>, sizeof...(Node)};
  ((d.key = mix(d.key, Node::node_description.key)), ...);
}
template <class... Node>
constexpr int64 spelt_by(type_list<Node...>) {
  return (int64{1} + ... + Node::spelt);
}
template <class F, class... A, size_t... I>
constexpr void trace_body(tracer& t, const uint32* in, vec<uint32>& out, std::index_sequence<I...>) {
  const auto made = F{}(argument<A>::open(t, in + first_node<I, A...>())...);
  block_result<std::remove_const_t<decltype(made)>>::collect(made, collector{t, out});
}

template <class F, class... A>
struct block_ {
  struct type {
    using out = decltype(F{}(std::declval<typename argument<A>::inside>()...));
    static constexpr tensor_type result = first_result(typename block_result<out>::parts{});
    static constexpr int64 spelt = spelt_by(nodes_of<A...>{});
    static constexpr void trace(tracer& t, const uint32* in, vec<uint32>& out_ids) {
      trace_body<F, A...>(t, in, out_ids, std::index_sequence_for<A...>{});
    }
    static constexpr description describe() {
      description d;
      d.what = description::form::block;
      d.type = result;
      d.body = &trace;
      d.key = mix(0xb10c, key_of_type(result));
      describe_operands(d, nodes_of<A...>{});
      return d;
    }
    static constexpr description node_description = describe();
  };
};

/// One of several results of a block.
template <class Block, size_t I, tensor_type T>
struct part_ {
  struct type {
    static constexpr tensor_type result = T;
    static constexpr int64 spelt = 1 + Block::spelt;
    static constexpr description describe() {
      description d;
      d.what = description::form::part;
      d.part = I;
      d.type = T;
      d.operands = {operands_of<Block>, 1};
      d.key = mix(Block::node_description.key, I + 1);
      return d;
    }
    static constexpr description node_description = describe();
  };
};
template <class Block, class Result, class... X, size_t... I>
constexpr auto parts_of_block(type_list<X...>, std::index_sequence<I...>) {
  return Result::rebuild(typename part_<Block, I, X::result>::type{}...);
}

/// A parameter tree beside operands that stand in a graph is opened there.
template <class A>
constexpr auto settled(place p, A a) {
  if constexpr (requires { argument<A>::settle(p); }) return argument<A>::settle(p);
  else return a;
}

template <class>
struct block_has_state {
  constexpr text operator()() const { return "block: f must be a lambda without captures, or a function object without members"; }
};
template <class>
struct block_returns_other {
  constexpr text operator()() const { return "block: f must return a tensor, poot::results, a hana::tuple or a Hana struct of tensors"; }
};

template <class F, class... A>
constexpr auto block(F f, A... a) {
  if constexpr ((argument<A>::is_refused || ...)) {
    return poison{};
  } else if constexpr (!(argument<A>::is_free && ...)) {
    if constexpr ((requires(place p) { argument<A>::settle(p); } || ...)) {
      place p;
      int operand = 0;
      (look_at(p, "block", operand++, a), ...);
      return f(settled(p, a)...);
    } else {
      return f(a...);
    }
  } else if constexpr (!std::is_empty_v<F>) {
    static_assert(accepted_call<typename detail::sentence<block_has_state<F>>::type>, "poot: this call is refused");
    return poison{};
  } else {
    using out = decltype(f(std::declval<typename argument<A>::inside>()...));
    if constexpr (std::same_as<out, poison>) {
      return poison{};
    } else if constexpr (!block_result<out>::is_result) {
      static_assert(accepted_call<typename detail::sentence<block_returns_other<F>>::type>, "poot: this call is refused");
      return poison{};
    } else {
      using node = typename block_<F, A...>::type;
      using parts = typename block_result<out>::parts;
      if constexpr (typed<out>) return node{};
      else return parts_of_block<node, block_result<out>>(parts{}, std::make_index_sequence<parts::size>{});
    }
  }
}

/// What an argument of `repeat` is in call I: `x.at(index<I>)` where it has that (a leaf with {} in its name, a parameter
/// tree), a bundle of such, else itself.
template <class X, int64 I>
constexpr auto argument_at(X x, index_constant<I> i) {
  if constexpr (requires { x.at(i); }) return x.at(i);
  else return x;
}
template <template <class...> class S, class... X, int64 I>
  requires is_bundle<S<X...>, X...>
constexpr auto argument_at(S<X...>, index_constant<I> i)
  requires(free_node<X> && ...)
{
  return S<decltype(argument_at(X{}, i))...>{argument_at(X{}, i)...};
}
template <int64 N, int64 I, class F, class X, class... Extra>
constexpr auto repeat_from(F f, X x, Extra... extra) {
  if constexpr (I == N) return x;
  else return repeat_from<N, I + 1>(f, block(f, x, index<I>, argument_at(extra, index<I>)...), extra...);
}
/// x, then f(x, index<0>, extra…), and so on N times, each call a block. In `extra` a leaf named "blk.{}.wq" stands for
/// that of layer 0, 1 and so on; f may also name its own, `weight_at<"blk.{}.wq", …>(i)`, at the price of compile time.
template <int64 N, class F, class X, class... Extra>
constexpr auto repeat(F f, X x, Extra... extra) {
  return repeat_from<N, 0>(f, x, extra...);
}

}  // namespace poot::dsl

namespace poot {
using dsl::block, dsl::repeat;
}  // namespace poot
