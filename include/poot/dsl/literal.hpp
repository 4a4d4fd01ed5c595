#pragma once
/// Numbers in expressions: literals whose value is in the type (`1e-5_f`), numbers that take the other operand's
/// element type (`number<0.5>`), and C++ numbers beside typed tensors and run-time values.

#include <poot/core/decimal.hpp>
#include <poot/dsl/apply.hpp>

namespace poot::dsl {

template <dtype T, uint64 Bits>
inline constexpr auto literal_bits = typename literal_<T, Bits>::type{};

/// A value as it stands in an element type: floats to nearest even, integers only where they keep their value.
struct encoded {
  uint64 bits = 0;
  bool fits = false;
};
constexpr encoded encode(dtype t, int64 v) {
  if (is_float(t)) {
    const uint64 magnitude = v < 0 ? uint64{0} - static_cast<uint64>(v) : static_cast<uint64>(v);
    return {round_bits(format_of(t), v < 0, magnitude, 0), true};
  }
  switch (t) {
    case dtype::i32: return {static_cast<uint32>(v), v == static_cast<int32>(v)};
    case dtype::u32: return {static_cast<uint32>(v), v == static_cast<int64>(static_cast<uint32>(v))};
    case dtype::i8: return {static_cast<uint8>(v), v == static_cast<int8>(v)};
    case dtype::u8: return {static_cast<uint8>(v), v == static_cast<int64>(static_cast<uint8>(v))};
    case dtype::boolean: return {static_cast<uint64>(v), v == 0 || v == 1};
    default: return {};
  }
}
constexpr encoded encode(dtype t, double v) {
  if (is_float(t)) return {convert_bits(binary64, format_of(t), std::bit_cast<uint64>(v)), true};
  if (!(v >= -2147483648.0 && v <= 4294967295.0)) return {};
  const int64 whole = static_cast<int64>(v);
  encoded e = encode(t, whole);
  e.fits = e.fits && static_cast<double>(whole) == v;
  return e;
}
template <class Number>
  requires std::is_arithmetic_v<Number>
constexpr encoded encode(dtype t, Number v) {
  if constexpr (std::is_floating_point_v<Number>) return encode(t, static_cast<double>(v));
  else return encode(t, static_cast<int64>(v));
}

/// A number that takes the element type of the operand beside it; `number<0.5>`.
template <auto Value>
struct number_ {};
template <auto Value>
  requires std::is_arithmetic_v<decltype(Value)>
inline constexpr number_<Value> number{};

/// A number with a stated element type, known when the program runs; `constant<bf16>(0.5)`.
template <dtype T>
struct scalar_constant {
  static constexpr dtype element = T;
  uint64 bits;
};
/// Floats are rounded to nearest even; an integer that `T` cannot hold is an error.
template <dtype T, class Number>
  requires std::is_arithmetic_v<Number>
constexpr scalar_constant<T> constant(Number v) {
  const encoded e = encode(T, v);
  if (!e.fits) fail(text{} << "constant: " << name(T) << " cannot hold this value");
  return {e.bits};
}

template <class X>
inline constexpr bool is_number = std::is_arithmetic_v<X>;
template <auto V>
inline constexpr bool is_number<number_<V>> = true;
template <dtype T>
inline constexpr bool is_number<scalar_constant<T>> = true;

/// Operands of a pointwise op: handles, and numbers beside at least one handle.
template <class X>
concept operand = handle<X> || is_number<X>;
template <class... X>
concept operands = (operand<X> && ...) && (handle<X> || ...);

/// The element type that a C++ type stands for, as a dtype's number; -1 for none.
template <class Number>
inline constexpr int dtype_of_number = std::same_as<Number, float>          ? static_cast<int>(dtype::f32)
                                       : std::same_as<Number, double>       ? static_cast<int>(dtype::f64)
                                       : std::same_as<Number, int32>        ? static_cast<int>(dtype::i32)
                                       : std::same_as<Number, uint32>       ? static_cast<int>(dtype::u32)
                                                                            : -1;
template <dtype T>
inline constexpr int dtype_of_number<scalar_constant<T>> = static_cast<int>(T);

template <dtype T>
struct wrong_number {
  constexpr text operator()() const {
    return text{} << "a number beside a tensor of " << name(T) << " must have exactly its type: write poot::constant<" << name(T)
                  << ">(…)";
  }
};
template <class>
struct number_beside_nodes {
  constexpr text operator()() const {
    return "a number in an expression of free nodes must be part of the type: write 2_f, 2_i or poot::number<2>";
  }
};
template <dtype T>
struct unfit_number {
  constexpr text operator()() const { return text{} << "poot::number: " << name(T) << " cannot hold this value"; }
};

constexpr uint32 literal_in(ir::graph& g, dtype t, uint64 bits) {
  for (uint32 id = 0; id < g.size(); ++id)
    if (g.eqns[id].kind == ir::op::constant && g.eqns[id].type.rank == 0 && g.eqns[id].type.element == t &&
        g.attr_pool[g.eqns[id].attrs.first] == static_cast<int64>(bits))
      return id;
  return g.literal(t, bits);
}

/// `x` as a handle; numbers become constants beside `beside`.
template <operand X, handle Beside>
constexpr auto as_handle(X x, Beside beside) {
  if constexpr (handle<X>) {
    return x;
  } else if constexpr (std::same_as<Beside, poison>) {
    return poison{};
  } else if constexpr (requires { []<auto V>(number_<V>) {}(x); }) {
    return []<auto V>(number_<V>, auto other) {
      using Other = decltype(other);
      if constexpr (run_time<Other>) {
        const encoded e = encode(other.type().element, V);
        if (!e.fits) fail(text{} << "number: " << name(other.type().element) << " cannot hold this value");
        return ir::value{other.owner, literal_in(*other.owner, other.type().element, e.bits)};
      } else {
        constexpr encoded e = encode(Other::result.element, V);
        if constexpr (!e.fits) {
          static_assert(accepted_call<typename detail::sentence<unfit_number<Other::result.element>>::type>, "poot: this number is refused");
          return poison{};
        } else {
          return typename literal_<Other::result.element, e.bits>::type{};
        }
      }
    }(x, beside);
  } else {
    constexpr int stands_for = dtype_of_number<X>;
    const uint64 bits = [&]() -> uint64 {
      if constexpr (std::is_arithmetic_v<X>) return encode(static_cast<dtype>(stands_for < 0 ? 0 : stands_for), x).bits;
      else return x.bits;
    }();
    if constexpr (run_time<Beside>) {
      if (stands_for != static_cast<int>(beside.type().element))
        fail(text{} << "a number beside a tensor of " << name(beside.type().element)
                    << " must have exactly its type: write poot::constant<" << name(beside.type().element) << ">(…)");
      return ir::value{beside.owner, literal_in(*beside.owner, beside.type().element, bits)};
    } else if constexpr (free_node<Beside>) {
      static_assert(accepted_call<typename detail::sentence<number_beside_nodes<Beside>>::type>, "poot: this number is refused");
      return poison{};
    } else if constexpr (stands_for != static_cast<int>(Beside::result.element)) {
      static_assert(accepted_call<typename detail::sentence<wrong_number<Beside::result.element>>::type>, "poot: this number is refused");
      return poison{};
    } else {
      return tensor<type_of(Beside::result.element)>{beside.owner, beside.trace,
                                                     literal_in(*beside.owner, Beside::result.element, bits)};
    }
  }
}

template <dtype T, char... C>
consteval auto parse_literal() {
  constexpr char chars[]{C...};
  constexpr auto parsed = [&] {
    char kept[sizeof...(C)]{};
    size_t count = 0;
    for (char c : chars)
      if (c != '\'') kept[count++] = c;
    uint64 bits = 0;
    bool ok = false;
    if constexpr (is_float(T)) ok = parse_float({kept, count}, format_of(T), bits) && bits < format_of(T).infinity();
    else ok = parse_natural({kept, count}, T == dtype::i32 ? 0x7fffffffu : 0xffffffffu, bits);
    return encoded{bits, ok};
  }();
  static_assert(parsed.fits, "poot: this literal is not a number that its element type can hold");
  return typename literal_<T, parsed.bits>::type{};
}

}  // namespace poot::dsl

namespace poot {
using dsl::constant;
using dsl::literal_bits;
using dsl::number;

namespace literals {
template <char... C>
consteval auto operator""_f() {
  return dsl::parse_literal<dtype::f32, C...>();
}
template <char... C>
consteval auto operator""_i() {
  return dsl::parse_literal<dtype::i32, C...>();
}
template <char... C>
consteval auto operator""_u() {
  return dsl::parse_literal<dtype::u32, C...>();
}
}  // namespace literals
}  // namespace poot
