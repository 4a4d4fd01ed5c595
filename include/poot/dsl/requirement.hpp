#pragma once
/// What a composition asks of its operands beyond what its ops ask: refused by its own name, not by that of an op inside.

#include <poot/dsl/apply.hpp>

namespace poot::dsl {

/// What is wrong with the operands of a call; an empty sentence where nothing is.
struct breach {
  std::string_view sentence{};
  int operand = -1;  ///< the one that breaks it; the operands' types are told with it
  constexpr bool none() const { return sentence.empty(); }
};

/// `call: operand 1 of (f32[4,8], f32[8]): sentence`
constexpr text describe(std::string_view call, const breach& b, view<tensor_type> in, const ir::graph_view& names) {
  text message;
  message << call << ": ";
  if (b.operand >= 0) {
    message << "operand " << b.operand << " of (";
    for (size_t i = 0; i < in.size(); ++i) ir::write_type(message << (i ? ", " : ""), in[i], names);
    message << "): ";
  }
  return message << b.sentence;
}

template <class Rule, tensor_type... T>
constexpr breach breach_of() {
  const tensor_type in[]{T...};
  return Rule{}(in);
}
template <class Rule, tensor_type... T>
struct broken_requirement {
  constexpr text operator()() const {
    const tensor_type in[]{T...};
    return describe(Rule::call, Rule{}(in), {in, sizeof...(T)}, {});
  }
};

/// `first`, where `rule(types)` finds no breach; else the call `Rule::call` is refused. As with `apply`, a rule with state
/// serves run-time values only. (To be called one level below the public function.)
template <class Rule, handle First, handle... X>
constexpr auto obeying(const Rule& rule, First first, X... x) {
  constexpr caller who = caller_of<First, X...>;
  if constexpr (who == caller::refused) {
    return poison{};
  } else if constexpr (who == caller::values) {
    const tensor_type in[]{type_of_handle(first), type_of_handle(x)...};
    if (const breach b = rule(in); !b.none()) {
      place p;
      int operand = 0;
      look_at(p, Rule::call, operand, first);
      (look_at(p, Rule::call, ++operand, x), ...);
      fail(describe(Rule::call, b, {in, 1 + sizeof...(X)}, *p.owner));
    }
    return first;
  } else if constexpr (!std::is_empty_v<Rule>) {
    return first;  // refused by the op that needs the constant
  } else if constexpr (!breach_of<Rule, First::result, X::result...>().none()) {
    static_assert(accepted_call<typename detail::sentence<broken_requirement<Rule, First::result, X::result...>>::type>, "poot: this call is refused");
    return poison{};
  } else {
    return first;
  }
}

}  // namespace poot::dsl
