#pragma once
/// Results of a model: named outputs, and new values of states.

#include <poot/dsl/leaf.hpp>
#include <poot/dsl/results.hpp>

namespace poot::dsl {

/// A node under the name it has as a result.
template <fixed_text Name, class Node>
struct output_ {
  struct type {
    using node = Node;
    static constexpr std::string_view output_name = Name.view();
  };
};
template <class... Outputs>
struct outputs_ {
  struct type {
    using output_types = void;
    static constexpr void each(auto take) { (take(Outputs{}), ...); }
  };
};

template <class X>
concept named_output = requires { X::output_name; };
template <class X>
concept several_outputs = requires { typename X::output_types; };

/// Writing a state: the node is its new value.
template <class State, class Value>
struct update_ {
  struct type {
    static constexpr tensor_type result = Value::result;
    static constexpr int64 spelt = 1 + State::spelt + Value::spelt;
    static constexpr bool is_update = true;
    static constexpr description describe() {
      description d;
      d.what = description::form::update;
      d.type = result;
      d.operands = {operands_of<State, Value>, 2};
      d.name = State::node_description.name;
      d.key = mix(mix(0x09da7e, State::node_description.key), Value::node_description.key);
      return d;
    }
    static constexpr description node_description = describe();
  };
};

template <class X>
concept model_output = named_output<X> || requires { X::is_update; };
/// What can be traced: one output or several.
template <class X>
concept model = model_output<X> || several_outputs<X>;

/// Names a result. In a graph of run-time values, or inside a block, it is added at once.
template <fixed_text Name, handle X>
constexpr auto output(X x) {
  if constexpr (std::same_as<X, poison>) {
    return x;
  } else if constexpr (free_node<X>) {
    return typename output_<Name, X>::type{};
  } else {
    x.owner->add_output(Name.view(), x.id);
    return x;
  }
}
template <class... Outputs>
  requires((model_output<Outputs> || std::same_as<Outputs, poison>) && ...)
constexpr auto outputs(Outputs...) {
  if constexpr ((std::same_as<Outputs, poison> || ...)) return poison{};
  else return typename outputs_<Outputs...>::type{};
}

/// Names the results of a block, one by one: `outputs<"y", "h">(block(…))`.
template <fixed_text... Names, class... X>
  requires(sizeof...(Names) == sizeof...(X) && sizeof...(X) > 0 && (handle<X> && ...))
constexpr auto outputs(results<X...> r) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    if constexpr ((free_node<X> && ...)) return outputs(output<Names>(get<I>(r))...);
    else return results{output<Names>(get<I>(r))...};
  }(std::index_sequence_for<X...>{});
}

template <class>
struct update_of_no_state {
  constexpr text operator()() const { return "update: the first operand must be a state, as in poot::state<\"kv\", …>"; }
};
template <tensor_type State, tensor_type Value>
struct update_of_other_type {
  constexpr text operator()() const {
    text message;
    message << "update: the state is ";
    ir::write_type(message, State);
    message << " and its new value is ";
    ir::write_type(message, Value);
    return message << "; both must be the same";
  }
};
template <class S>
constexpr bool may_be_state() {
  if constexpr (free_node<S>) return S::node_description.kind == ir::op::state && S::node_description.what == description::form::equation;
  else return true;
}

/// Gives a state its new value, and returns that. Reads of the state itself see the old one, wherever they stand.
template <handle S, handle V>
constexpr auto update(S state, V value) {
  if constexpr (std::same_as<S, poison> || std::same_as<V, poison>) {
    return poison{};
  } else if constexpr (!may_be_state<S>()) {
    static_assert(accepted_call<typename detail::sentence<update_of_no_state<S>>::type>, "poot: this call is refused");
    return poison{};
  } else {
    if constexpr (typed<S> && typed<V>)
      if constexpr (!(S::result == V::result)) {
        static_assert(accepted_call<typename detail::sentence<update_of_other_type<S::result, V::result>>::type>, "poot: this call is refused");
        return poison{};
      }
    if constexpr (free_node<S> && free_node<V>) {
      return typename update_<S, V>::type{};
    } else {
      place p;
      look_at(p, "update", 0, state);
      look_at(p, "update", 1, value);
      const uint32 from = id_at(p, state), to = id_at(p, value);
      if (p.owner->eqns[from].kind != ir::op::state) fail(update_of_no_state<S>{}());
      p.owner->add_output(text(p.owner->view_of().name_of(from)).str(), to);
      if constexpr (run_time<S> || run_time<V>) return ir::value{p.owner, to};
      else return tensor<V::result>{p.owner, p.trace, to};
    }
  }
}

}  // namespace poot::dsl

namespace poot {
using dsl::output, dsl::outputs, dsl::update;
}  // namespace poot
