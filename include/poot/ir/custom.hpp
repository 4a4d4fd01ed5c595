#pragma once
/// A user's own pointwise op: one row of the op table in a header of their own. It goes through every stage like the
/// built-in ones; its arithmetic is the one function it names.
///
///   struct snake {                                     // x + sin²(a·x) / a
///     static constexpr std::string_view name = "snake";
///     static constexpr int arity = 2, flops = 24;
///     static constexpr auto evaluate = [](auto x, auto a) {
///       const auto s = sin(a * x);
///       return x + s * s / a;
///     };
///   };
///   auto y = poot::custom<snake>(x, a);
///
/// `evaluate` is a function of numbers (custom_number.hpp says what they can do). A generic one is recorded when it is
/// compiled, and runs on every device with equal bits. One that branches on a value, or takes floats, is a function of the
/// host: other targets refuse it (`custom_functions`). One that takes floats must be the same function of them at compile
/// time and at run time (poot::ieee, poot::elementary).

#include <poot/core/hash.hpp>
#include <poot/ir/custom_number.hpp>

#include <array>
#include <string_view>

namespace poot::ir {

/// Operands that a user's op may have.
inline constexpr int max_custom_arity = 3;

/// What the stages know about a user's op. Computes in f32; f16 and bf16 operands are widened and the result is rounded
/// once. `evaluate` reads `arity` operands.
struct custom_row {
  std::string_view name;
  int arity = 1;
  int flops = 1;  ///< per element of the result
  float (*evaluate)(const float* operands) = nullptr;
  view<custom_step> steps{};  ///< what it does; empty where it could not be recorded
  uint32 result = 0;          ///< of the values that the steps make
  uint64 hash = 0;            ///< of name and steps
};

namespace detail {

/// Whether `Op::evaluate` is a function of as many `Number`s as `K` counts, and gives one.
template <class Op, class Number, size_t... K>
constexpr bool is_function_of(std::index_sequence<K...>) {
  return requires(Number given) { Number(Op::evaluate(((void)K, given)...)); };
}
template <class Op>
constexpr bool is_generic() {
  return is_function_of<Op, custom_number<computed>>(std::make_index_sequence<static_cast<size_t>(Op::arity)>{});
}
template <class Op>
constexpr bool is_function() {
  if constexpr (is_generic<Op>()) return true;
  else return is_function_of<Op, float>(std::make_index_sequence<static_cast<size_t>(Op::arity)>{});
}

}  // namespace detail

/// Whether a class can be an op: what it names, how many operands it takes, and a function of so many.
template <class Op>
concept named_op = requires {
  { Op::name } -> std::convertible_to<std::string_view>;
  { Op::arity } -> std::convertible_to<int>;
  { Op::flops } -> std::convertible_to<int>;
  requires Op::flops >= 0;
};
template <class Op>
concept counted_op = named_op<Op> && Op::arity >= 1 && Op::arity <= max_custom_arity;
template <class Op>
concept custom_op = counted_op<Op> && detail::is_function<Op>();

namespace detail {

template <custom_op Op>
struct custom_function {
  using operands = std::make_index_sequence<static_cast<size_t>(Op::arity)>;

  // (Those that others call stand first: clang 19 evaluates no template that is defined further down.)
  template <size_t... K>
  static constexpr float evaluate(const float* in, std::index_sequence<K...>) {
    if constexpr (is_generic<Op>()) return ieee::from_bits(custom_number<computed>(Op::evaluate(custom_number<computed>(in[K])...)).is.bits);
    else return Op::evaluate(in[K]...);
  }
  template <size_t... K>
  static constexpr uint32 record(custom_recorder& r, std::index_sequence<K...>) {
    const uint32 ids[] = {r.add({op::input, static_cast<uint32>(K)})...};
    const custom_number<recorded> result(Op::evaluate(custom_number<recorded>(recorded(&r, ids[K]))...));
    return result.is.value(&r);
  }

  static constexpr float evaluate(const float* in) { return evaluate(in, operands{}); }
  /// Too long for `Capacity`: only the number of steps.
  template <size_t Capacity>
  struct recording {
    size_t size = 0;
    uint32 result = 0;
    std::array<custom_step, Capacity> steps{};
  };
  template <size_t Capacity>
  static constexpr recording<Capacity> record() {
    recording<Capacity> made;
    if constexpr (is_generic<Op>()) {
      custom_recorder r;
      made.result = record(r, operands{});
      if (r.branched) return made;
      made.size = r.steps.size();
      for (size_t i = 0; i < made.size && made.size <= Capacity; ++i) made.steps[i] = r.steps[i];
    }
    return made;
  }
};

template <class Op>
inline constexpr size_t custom_step_count = custom_function<Op>::template record<0>().size;
template <class Op>
inline constexpr auto custom_recording = custom_function<Op>::template record<custom_step_count<Op>>();

template <class Op>
constexpr custom_row make_custom_row() {
  custom_row row{Op::name, Op::arity, Op::flops, &custom_function<Op>::evaluate};
  row.steps = {custom_recording<Op>.steps.data(), custom_recording<Op>.size};
  row.result = custom_recording<Op>.result;
  row.hash = mix(hash_text(row.name), row.result);
  for (const custom_step& s : row.steps) row.hash = mix(mix(row.hash, static_cast<uint64>(s.kind) << 32 | s.a), uint64{s.b} << 32 | s.c);
  return row;
}

}  // namespace detail

/// The row of `Op`; equal ops share its address.
template <custom_op Op>
inline constexpr custom_row custom_row_of = detail::make_custom_row<Op>();

}  // namespace poot::ir
