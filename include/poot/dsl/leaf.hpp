#pragma once
/// What expressions start from: inputs, weights, states, launch scalars, and index tables.

#include <poot/dsl/apply.hpp>
#include <poot/dsl/extents.hpp>

namespace poot::dsl {

template <ir::op Op, fixed_text Name>
struct leaf_complaint {
  template <tensor_type T>
  struct of {
    constexpr text operator()() const {
      const ir::typing t = ir::infer(Op, {}, {}, T);
      return ir::describe(Op, t, {}, {}, T) << " (\"" << Name.view() << "\")";
    }
  };
};

/// Writes `pattern` with the number in place of each `{}` to `out`, where that is not null; how many characters that is.
constexpr size_t write_numbered(std::string_view pattern, int64 number, char* out) {
  char digits[20]{};
  size_t count = 0;
  for (int64 rest = number < 0 ? -number : number; rest != 0 || count == 0; rest /= 10) digits[count++] = static_cast<char>('0' + rest % 10);
  if (number < 0) digits[count++] = '-';
  const char* const from = pattern.data();
  size_t size = 0;
  for (size_t i = 0, end = pattern.size(); i < end; ++i) {
    if (from[i] == '{' && i + 1 < end && from[i + 1] == '}') {
      for (size_t d = count; d-- > 0; ++size)
        if (out) out[size] = digits[d];
      ++i;
    } else {
      if (out) out[size] = from[i];
      ++size;
    }
  }
  return size;
}
/// `Pattern` with the number in place of each `{}`.
template <fixed_text Pattern, int64 I>
struct numbered_name {
  static constexpr size_t size = write_numbered(Pattern.view(), I, nullptr);
  static constexpr fixed_text<size + 1> name = [] {
    char chars[size + 1]{};
    write_numbered(Pattern.view(), I, chars);
    return fixed_text<size + 1>(chars);
  }();
};

constexpr bool has_number(std::string_view pattern) {
  for (size_t i = 0; i + 1 < pattern.size(); ++i)
    if (pattern[i] == '{' && pattern[i + 1] == '}') return true;
  return false;
}

/// A leaf that is bound by name.
template <ir::op Op, fixed_text Name, dtype T, auto... E>
struct leaf_ {
  struct type {
    static constexpr tensor_type result = type_of(T, E...);
    static constexpr int64 spelt = 1;
    static constexpr auto leaf_name = Name;
    /// The leaf of layer I; `{}` in the name is its number.
    template <int64 I>
      requires(has_number(Name.view()))
    static constexpr auto at(index_constant<I>) {
      return typename leaf_<Op, numbered_name<Name, I>::name, T, E...>::type{};
    }
    static constexpr description describe() {
      description d;
      d.kind = Op;
      d.type = result;
      d.symbols = {symbols_in<E...>.data(), symbols_in<E...>.size()};
      d.name = leaf_name.view();
      d.key = mix(mix(static_cast<uint64>(Op), hash_text(Name.view())), key_of_type(result));
      return d;
    }
    static constexpr description node_description = describe();
  };
};

template <ir::op Op, fixed_text Name, dtype T, auto... E>
consteval auto make_leaf() {
  static_assert(Name.view().size() > 0, "poot: an input, weight or state needs a name");
  if constexpr (sizeof...(E) > max_rank) {
    static_assert(sizeof...(E) <= max_rank, "poot: at most 6 axes");
    return poison{};
  } else if constexpr (constexpr tensor_type result = type_of(T, E...); !ir::infer(Op, {}, {}, result).ok()) {
    static_assert(accepted_call<typename detail::sentence<typename leaf_complaint<Op, Name>::template of<result>>::type>, "poot: this leaf is refused");
    return poison{};
  } else {
    return typename leaf_<Op, Name, T, E...>::type{};
  }
}

template <fixed_text Name, dtype T, auto... E>
inline constexpr auto input = make_leaf<ir::op::input, Name, T, E...>();
template <fixed_text Name, dtype T, auto... E>
inline constexpr auto weight = make_leaf<ir::op::weight, Name, T, E...>();
/// Kept between runs and updated in place: `update(state, value)`.
template <fixed_text Name, dtype T, auto... E>
inline constexpr auto state = make_leaf<ir::op::state, Name, T, E...>();
/// A parameter of the launch.
template <fixed_text Name, dtype T = dtype::f32>
inline constexpr auto scalar = make_leaf<ir::op::input, Name, T>();

/// The weight (or state) of layer I: `{}` in the name is its number.
template <fixed_text Pattern, dtype T, auto... E, int64 I>
constexpr auto weight_at(index_constant<I> i) {
  return weight<Pattern, T, E...>.at(i);
}
template <fixed_text Pattern, dtype T, auto... E, int64 I>
constexpr auto state_at(index_constant<I> i) {
  return state<Pattern, T, E...>.at(i);
}

template <tensor_type T, int Axis>
struct iota_rule {
  constexpr void operator()(attributes& a, const tensor_type*) const {
    a.add(Axis);
    a.declared = T;
  }
};
template <tensor_type T, int Axis, auto... E>
struct named_iota_rule : iota_rule<T, Axis> {
  static constexpr auto& symbols = symbols_in<E...>;
};
/// The symbols of extents go into the rule's type only where there are any, so that equal tables are one node.
template <tensor_type T, int Axis, auto... E>
consteval auto make_iota() {
  constexpr int axis = Axis < 0 ? Axis + T.rank : Axis;
  if constexpr (symbols_in<E...>.empty()) return apply<ir::op::iota>(iota_rule<T, axis>{});
  else return apply<ir::op::iota>(named_iota_rule<T, axis, E...>{});
}
/// The index along an axis: `iota<i32, 0, 8>`.
template <dtype T, int Axis, auto... E>
inline constexpr auto iota = make_iota<type_of(T, E...), Axis, E...>();
constexpr ir::value iota_in(ir::graph& g, dtype t, const shape& s, int axis) {
  const int64 at[1]{axis < 0 ? axis + s.rank : axis};
  return {&g, g.leaf(ir::op::iota, s.of(t), {at, 1})};
}

template <class Extents>
struct uniform_rule {
  static constexpr auto symbols = symbols_of<Extents>();
  [[no_unique_address]] Extents e;
  constexpr void operator()(attributes& a, const tensor_type*) const { a.declared = e.of(dtype::f32); }
};
/// f32 in [0, 1) of these extents from a seed and an offset (u32 scalars), by Philox 4x32-10.
template <handle Seed, handle Offset, class Extents>
  requires is_extents<Extents>
constexpr auto random_uniform(Seed seed, Offset offset, Extents e) {
  return apply<ir::op::random_uniform>(uniform_rule<Extents>{e}, seed, offset);
}

}  // namespace poot::dsl

namespace poot {
using dsl::input, dsl::iota, dsl::iota_in, dsl::random_uniform, dsl::scalar, dsl::state, dsl::state_at, dsl::weight,
    dsl::weight_at;
}  // namespace poot
