#pragma once
/// Numbers in expressions: literals whose value is in the type (`1e-5_f`), numbers that take the other operand's
/// element type (`number<0.5>`), and C++ numbers beside typed tensors and run-time values.

#include <poot/core/decimal.hpp>
#include <poot/dsl/apply.hpp>

#include <limits>

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
constexpr encoded encode(dtype t, uint64 v) {
  if (v <= 0x7fffffffffffffffu) return encode(t, static_cast<int64>(v));
  return is_float(t) ? encoded{round_bits(format_of(t), false, v, 0), true} : encoded{};
}
/// The first 64 binary digits, and whether any follow, are what is rounded.
constexpr encoded encode(dtype t, long double v) {
  const bool negative = v < 0;
  long double m = negative ? -v : v;
  if (!is_float(t)) {
    if (!(m < 0x1p33L)) return {};
    encoded e = encode(t, static_cast<double>(v));
    e.fits = e.fits && static_cast<long double>(static_cast<double>(v)) == v;
    return e;
  }
  if (!(m > 0) || m > std::numeric_limits<long double>::max()) return encode(t, static_cast<double>(v));
  int exponent = 0;
  for (; m >= 0x1p64L; m /= 2) ++exponent;
  for (; m < 0x1p63L; m *= 2) --exponent;
  const uint64 digits = static_cast<uint64>(m);
  return {round_bits(format_of(t), negative, digits, exponent, m != static_cast<long double>(digits)), true};
}
template <class Number>
  requires std::is_arithmetic_v<Number>
constexpr encoded encode(dtype t, Number v) {
  if constexpr (std::is_floating_point_v<Number>) return encode(t, static_cast<double>(v));
  else if constexpr (std::is_unsigned_v<Number>) return encode(t, static_cast<uint64>(v));
  else return encode(t, static_cast<int64>(v));
}

/// A number that takes the element type of the operand beside it; `number<0.5>`.
template <auto Value>
struct number_ {};
template <auto Value>
  requires std::is_arithmetic_v<decltype(Value)>
inline constexpr number_<Value> number{};

template <class Number>
struct number_value;
template <auto Value>
struct number_value<number_<Value>> {
  static constexpr auto value = Value;
};
/// Of `number<…>` only.
template <class Number>
constexpr auto encode_in(dtype t) -> decltype(number_value<Number>::value, encoded{}) {
  return encode(t, number_value<Number>::value);
}

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

/// Whether a number may stand beside a handle, as far as types tell.
template <class Number, handle Beside>
consteval bool accepted_number() {
  if constexpr (!typed<Beside>) return true;
  else if constexpr (requires { encode_in<Number>(Beside::result.element); }) return encode_in<Number>(Beside::result.element).fits;
  else return !free_node<Beside> && dtype_of_number<Number> == static_cast<int>(Beside::result.element);
}
constexpr text number_of_another_type(ir::op o, int operand, dtype t) {
  return text{} << ir::name(o) << ": operand " << operand << ": a number beside a tensor of " << name(t)
                << " must have exactly its type: write poot::constant<" << name(t) << ">(…)";
}
/// Why not, in one sentence; the number is operand `I` of `Op`.
template <ir::op Op, int I, class Number, class Beside>
struct number_refusal {
  constexpr text operator()() const {
    const dtype t = Beside::result.element;
    if constexpr (requires { encode_in<Number>(t); }) return text{} << "poot::number: " << name(t) << " cannot hold this value";
    else if constexpr (free_node<Beside>)
      return "a number in an expression of free nodes must be part of the type: write 2_f, 2_i or poot::number<2>";
    else
      return number_of_another_type(Op, I, t);
  }
};
template <ir::op Op, int I, class Number, class Beside>
using number_refused_as = detail::sentence<number_refusal<Op, I, Number, Beside>>;

constexpr uint32 literal_in(ir::graph& g, dtype t, uint64 bits) {
  for (uint32 id = 0; id < g.size(); ++id)
    if (g.eqns[id].kind == ir::op::constant && g.eqns[id].type.rank == 0 && g.eqns[id].type.element == t &&
        g.attr_pool[g.eqns[id].attrs.first] == static_cast<int64>(bits))
      return id;
  return g.literal(t, bits);
}

/// An accepted number, operand `I` of `Op`, as a constant beside `beside`.
template <ir::op Op, int I, class Number, handle Beside>
constexpr auto as_handle(Number x, Beside beside) {
  if constexpr (std::same_as<Beside, poison>) {
    return beside;
  } else if constexpr (requires { number_value<Number>::value; }) {
    if constexpr (run_time<Beside>) {
      const dtype t = beside.type().element;
      const encoded e = encode_in<Number>(t);
      if (!e.fits) fail(text{} << "number: " << name(t) << " cannot hold this value");
      return ir::value{beside.owner, literal_in(*beside.owner, t, e.bits)};
    } else {
      return typename literal_<Beside::result.element, encode_in<Number>(Beside::result.element).bits>::type{};
    }
  } else {
    constexpr int stands_for = dtype_of_number<Number>;
    uint64 bits = 0;
    if constexpr (std::is_arithmetic_v<Number>) bits = encode(static_cast<dtype>(stands_for < 0 ? 0 : stands_for), x).bits;
    else bits = x.bits;
    if constexpr (run_time<Beside>) {
      const dtype t = beside.type().element;
      if (stands_for != static_cast<int>(t)) fail(number_of_another_type(Op, I, t));
      return ir::value{beside.owner, literal_in(*beside.owner, t, bits)};
    } else {
      constexpr dtype t = Beside::result.element;
      return tensor<type_of(t)>{beside.owner, beside.trace, literal_in(*beside.owner, t, bits)};
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
