#pragma once
/// One call of an op, whoever calls: a free node, an equation in a trace, or an equation of a run-time graph.

#include <poot/dsl/node.hpp>
#include <poot/dsl/tracer.hpp>

namespace poot::dsl {

template <class... X>
struct operand_list {};

/// Whether a call keeps the typing rules, as far as types tell: values are checked when the graph is built.
template <ir::op Op, class Rule, handle... X>
consteval bool accepted(operand_list<X...>) {
  if constexpr (!(typed<X> && ...)) {
    return true;
  } else if constexpr (!std::is_empty_v<Rule>) {
    return false;
  } else {
    if constexpr ((free_node<X> && ...))
      if constexpr ((1 + ... + X::spelt) > most_spelt) return false;
    return outcome_of<Op, Rule, X::result...>.typing.ok();
  }
}

template <ir::op Op>
struct not_constant {
  constexpr text operator()() const {
    return text{} << ir::name(Op) << ": extents, axes and the like must be constants here, as in poot::extents<8, 64>";
  }
};
struct spelt_too_long {
  constexpr text operator()() const { return "this expression shares too much to be one type: wrap its parts in poot::block"; }
};

template <ir::op Op, class Rule, class... X>
constexpr text why_refused() {
  if constexpr (!std::is_empty_v<Rule>) return not_constant<Op>{}();
  else if constexpr (!outcome_of<Op, Rule, X::result...>.typing.ok()) return complaint<Op, Rule, X::result...>{}();
  else return spelt_too_long{}();
}
template <ir::op Op, class Rule, class... X>
struct refusal {
  constexpr text operator()() const { return why_refused<Op, Rule, X...>(); }
};
template <ir::op Op, class Rule, class... X>
using refused_as = detail::sentence<refusal<Op, Rule, X...>>;

/// The graph that concrete operands stand in, and the trace that writes it, if any.
struct place {
  ir::graph* owner = nullptr;
  tracer* trace = nullptr;
};
template <class X>
constexpr void look_at(place& p, std::string_view call, int operand, X x) {
  if constexpr (run_time<X> || is_tensor<X>) {
    if (p.owner && p.owner != x.owner)
      fail(text{} << call << ": operand " << operand << " stands in another graph than one before it: operands of one call must belong to one graph");
    p.owner = x.owner;
    if constexpr (is_tensor<X>)
      if (x.trace) p.trace = x.trace;
  }
}
/// The equation of `x` in that graph.
template <class X>
constexpr uint32 id_at(place p, X x) {
  if constexpr (free_node<X>) {
    if (p.trace) return p.trace->lower(&X::node_description);
    return tracer(*p.owner, true).lower(&X::node_description);
  } else {
    return x.id;
  }
}

/// Appends an equation whose typing is known.
template <tensor_type T, class Rule>
constexpr tensor<T> append(place p, ir::op op, view<int64> attrs, view<uint32> in) {
  if constexpr (symbols_of<Rule>().size() != 0)
    for (const symbol_name& s : symbols_of<Rule>()) p.owner->dynamic(s.name, s.bound);
  ir::eqn e;
  e.kind = op;
  e.custom = custom_of<Rule>();
  e.type = T;
  if (!attrs.empty()) e.attrs = p.owner->keep_attrs(attrs);
  if constexpr (!group_of(Rule{}).empty()) e.name = p.owner->intern(group_of(Rule{}));
  return {p.owner, p.trace, p.owner->append(e, in)};
}

/// The call itself; `accepted` holds.
template <ir::op Op, class Rule, handle... X>
constexpr auto call(const Rule& rule, X... x) {
  constexpr caller who = caller_of<X...>;
  if constexpr (who == caller::refused) {
    return poison{};
  } else if constexpr (who == caller::free_nodes) {
    return typename node_<Op, Rule, X...>::type{};
  } else {
    place p;
    int operand = 0;
    (look_at(p, ir::name(Op), operand++, x), ...);
    if constexpr (who == caller::typed_tensors) {
      const uint32 in[]{id_at(p, x)...};
      constexpr const outcome& o = outcome_of<Op, Rule, X::result...>;
      return append<o.typing.type, Rule>(p, Op, o.given.values(), {in, sizeof...(X)});
    } else {
      const uint32 in[]{id_at(p, x)...};
      tensor_type types[sizeof...(X)];
      for (size_t i = 0; i < sizeof...(X); ++i) types[i] = p.owner->eqns[in[i]].type;
      attributes a;
      rule(a, types);
      if (!a.refused.ok()) fail(ir::describe(Op, a.refused, {types, sizeof...(X)}, *p.owner, a.declared));
      for (const symbol_name& s : symbols_of<Rule>()) p.owner->dynamic(s.name, s.bound);
      const uint32 id = p.owner->apply(Op, {in, sizeof...(X)}, a.values(), a.declared);
      p.owner->eqns[id].custom = custom_of<Rule>();
      if (const std::string_view group = group_of(rule); !group.empty()) p.owner->eqns[id].name = p.owner->intern(group);
      return ir::value{p.owner, id};
    }
  }
}

/// A call that is refused, in one sentence, where a typing rule is broken. (The assertion stands where it shows in the
/// fewest notes: one level below the public function.)
template <ir::op Op, class Rule, handle... X>
constexpr auto apply(const Rule& rule, X... x) {
  if constexpr (constexpr operand_list<X...> list; !accepted<Op, Rule>(list)) {
    static_assert(accepted_call<typename refused_as<Op, Rule, X...>::type>, "poot: this call is refused");
    return poison{};
  } else {
    return call<Op>(rule, x...);
  }
}
template <ir::op Op, handle A>
constexpr auto unary(A a) {
  if constexpr (constexpr operand_list<A> list; !accepted<Op, no_attributes>(list)) {
    static_assert(accepted_call<typename refused_as<Op, no_attributes, A>::type>, "poot: this call is refused");
    return poison{};
  } else {
    return call<Op>(no_attributes{}, a);
  }
}

}  // namespace poot::dsl
