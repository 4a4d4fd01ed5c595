#pragma once
/// Free nodes: empty types, each with one constant description. Every node is nested in its template, or clang's
/// argument-dependent look-up would walk the whole tree.

#include <poot/dsl/operand.hpp>

namespace poot::dsl {

/// Attributes and declared type of an op, as far as its operands do not decide them.
struct attributes {
  int64 list[3 * max_rank]{};
  uint8 count = 0;
  tensor_type declared{};
  ir::typing refused{};  ///< what the caller gave breaks a rule before there are attributes to check
  constexpr void add(int64 a) { list[count++] = a; }
  constexpr void refuse(ir::rule broken, int operand = -1) { refused = {tensor_type{}, broken, static_cast<int8>(operand)}; }
  constexpr view<int64> values() const { return {list, count}; }
};

/// What fills in the attributes: called with them and the operands' types. Empty ones are constants and serve every
/// caller; one with state serves run-time values only.
struct no_attributes {
  constexpr void operator()(attributes&, const tensor_type*) const {}
};

template <class Rule>
constexpr view<symbol_name> symbols_of() {
  if constexpr (requires { Rule::symbols; }) return {Rule::symbols.data(), Rule::symbols.size()};
  else return {};
}

template <class Rule>
constexpr const ir::custom_row* custom_of() {
  if constexpr (requires { Rule::custom; }) return Rule::custom;
  else return nullptr;
}

/// The group of a collective; empty for other ops.
template <class Rule>
constexpr std::string_view group_of([[maybe_unused]] const Rule& rule) {
  if constexpr (requires { rule.group; }) return rule.group;
  else return {};
}

/// A typed call: its attributes and its type, or the rule that it breaks.
struct outcome {
  attributes given;
  ir::typing typing;
};

// (Functions, not lambdas: in a lambda inside a template g++ 12 warns of locals that shadow the user's globals.)
template <ir::op Op, class Rule, tensor_type... T>
constexpr outcome work_out() {
  const tensor_type in[sizeof...(T) + 1]{T...};
  outcome r{};
  Rule{}(r.given, in);
  r.typing = r.given.refused.ok() ? ir::infer(Op, r.given.values(), {in, sizeof...(T)}, r.given.declared) : r.given.refused;
  return r;
}
template <ir::op Op, class Rule, tensor_type... T>
inline constexpr outcome outcome_of = work_out<Op, Rule, T...>();

/// Why a typed call is refused, in one sentence.
template <ir::op Op, class Rule, tensor_type... T>
struct complaint {
  constexpr text operator()() const {
    const tensor_type in[sizeof...(T) + 1]{T...};
    const outcome& o = outcome_of<Op, Rule, T...>;
    return ir::describe(Op, o.typing, {in, sizeof...(T)}, {}, o.given.declared);
  }
};

template <class... X>
inline constexpr const description* operands_of[sizeof...(X) + 1]{&X::node_description..., nullptr};

constexpr uint64 key_of_type(const tensor_type& t) {
  uint64 h = static_cast<uint64>(t.element) << 8 | t.rank;
  for (int i = 0; i < t.rank; ++i) h = mix(h, static_cast<uint64>(t.extents[i].code));
  return h;
}

/// An equation over free nodes.
template <ir::op Op, class Rule, class... X>
struct node_ {
  struct type {
    static constexpr tensor_type result = outcome_of<Op, Rule, X::result...>.typing.type;
    static constexpr int64 spelt = (1 + ... + X::spelt);
    static constexpr description describe() {
      const view<int64> attrs = outcome_of<Op, Rule, X::result...>.given.values();
      description d;
      d.kind = Op;
      d.type = result;
      d.attrs = attrs;
      d.operands = {operands_of<X...>, sizeof...(X)};
      d.symbols = symbols_of<Rule>();
      d.custom = custom_of<Rule>();
      d.name = group_of(Rule{});
      d.key = mix(static_cast<uint64>(Op), key_of_type(result));
      for (int64 a : attrs) d.key = mix(d.key, static_cast<uint64>(a));
      if (d.custom) d.key = mix(d.key, hash_text(d.custom->name));
      if (!d.name.empty()) d.key = mix(d.key, hash_text(d.name));
      ((d.key = mix(d.key, X::node_description.key)), ...);
      return d;
    }
    static constexpr description node_description = describe();
  };
};

/// A constant of one element; its value is in the type.
template <dtype T, uint64 Bits>
struct literal_ {
  struct type {
    static constexpr tensor_type result = type_of(T);
    static constexpr int64 spelt = 1;
    static constexpr int64 bits[1]{static_cast<int64>(Bits)};
    static constexpr description describe() {
      description d;
      d.kind = ir::op::constant;
      d.type = result;
      d.attrs = {bits, 1};
      d.key = mix(mix(static_cast<uint64>(ir::op::constant), static_cast<uint64>(T)), Bits);
      return d;
    }
    static constexpr description node_description = describe();
  };
};

/// Beyond this a type is too long to be handled by compilers and debuggers.
inline constexpr int64 most_spelt = 50'000;

}  // namespace poot::dsl
