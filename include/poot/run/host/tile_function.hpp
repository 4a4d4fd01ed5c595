#pragma once
/// The instructions of the tile interpreter: one function for each op, carrier and operand form, in each instruction set.
///
/// A tile holds up to 512 elements. Its carrier is f32 for f32, f16 and bf16 (narrow values held exactly), 32-bit words
/// for integers and bool (i8 sign extended, u8 and bool zero extended), and f64 for f64. A uniform operand is a vector of
/// equal lanes.

#include <poot/core/precompiled.hpp>
#include <poot/ir/evaluate.hpp>
#include <poot/run/host/elementary.hpp>

namespace poot::run::host {

inline constexpr int tile_elements = 512;
/// Partial sums of a row (numerics.md).
inline constexpr int sum_lanes = 256;
/// Elements of a uniform operand, and the multiple that a count of elements is rounded up to: the most lanes there are.
inline constexpr int uniform_elements = 16;

/// Instructions read tiles `a`, `b`, `c` and write `out`, `count` elements (a multiple of 16, but exact for loads,
/// stores and reductions). Pointwise instructions may write the tile they read.
using tile_function = void (*)(void* out, const void* a, const void* b, const void* c, int count);

enum class carrier : uint8 { f32, i32, u32, f64 };

constexpr carrier carrier_of(dtype t) {
  switch (t) {
    case dtype::f64: return carrier::f64;
    case dtype::f32:
    case dtype::f16:
    case dtype::bf16: return carrier::f32;
    case dtype::i32:
    case dtype::i8: return carrier::i32;
    default: return carrier::u32;
  }
}
/// Bytes of one element in a tile.
constexpr int carried_bytes(dtype t) { return t == dtype::f64 ? 8 : 4; }
/// The tile is the memory: no conversion on load and store.
constexpr bool is_carried_as_stored(dtype t) { return byte_size(t, 1) == carried_bytes(t); }

/// Which operands of a two-operand instruction are uniform.
enum class form : uint8 { both_tiles, second_uniform, first_uniform };

/// Conversions within and between carriers. `round_…`, `wrap_…` and `truth` bring a 32-bit result back into its dtype.
enum class conversion : uint8 {
  none, round_f16, round_bf16, wrap_i8, wrap_u8, truth,
  float_truth, float_to_i32, float_to_u32, float_to_i8, float_to_u8,
  i32_to_float, u32_to_float, i32_to_bf16, u32_to_bf16,
  at_least_0, i32_to_i8, i32_to_u8, at_most_i32, at_most_127, at_most_255,
};

/// What brings a result of an op on `t` back into `t`.
constexpr conversion wrap_into(dtype t) {
  switch (t) {
    case dtype::f16: return conversion::round_f16;
    case dtype::bf16: return conversion::round_bf16;
    case dtype::i8: return conversion::wrap_i8;
    case dtype::u8: return conversion::wrap_u8;
    case dtype::boolean: return conversion::truth;
    default: return conversion::none;
  }
}

/// The steps of a cast, at most two; neither type is f64. No double rounding: integers that f32 does not hold exactly
/// lie beyond f16, and bf16 has its own conversion.
struct cast_steps {
  conversion first = conversion::none, second = conversion::none;
};
constexpr cast_steps steps_of_cast(dtype from, dtype to) {
  using c = conversion;
  const carrier source = carrier_of(from);
  if (from == to) return {};
  if (source == carrier::f32) {
    switch (to) {
      case dtype::f32: return {};
      case dtype::f16: return {c::round_f16};
      case dtype::bf16: return {c::round_bf16};
      case dtype::i32: return {c::float_to_i32};
      case dtype::u32: return {c::float_to_u32};
      case dtype::i8: return {c::float_to_i8};
      case dtype::u8: return {c::float_to_u8};
      default: return {c::float_truth};
    }
  }
  const c normal = from == dtype::boolean ? c::truth : c::none;
  const auto then = [&](c next) { return normal == c::none ? cast_steps{next} : cast_steps{normal, next}; };
  const bool is_signed_source = source == carrier::i32;
  switch (to) {
    case dtype::f32: return then(is_signed_source ? c::i32_to_float : c::u32_to_float);
    case dtype::f16:
      if (from == dtype::boolean) return then(c::i32_to_float);
      return {is_signed_source ? c::i32_to_float : c::u32_to_float, c::round_f16};
    case dtype::bf16:
      if (from != dtype::i32 && from != dtype::u32) return then(c::i32_to_float);  // 8 bits are exact
      return {is_signed_source ? c::i32_to_bf16 : c::u32_to_bf16};
    case dtype::boolean: return {c::truth};
    case dtype::i32: return then(from == dtype::u32 ? c::at_most_i32 : c::none);
    case dtype::u32: return then(is_signed_source ? c::at_least_0 : c::none);
    case dtype::i8: return then(from == dtype::i32 ? c::i32_to_i8 : from == dtype::boolean ? c::none : c::at_most_127);
    default: return then(from == dtype::i32   ? c::i32_to_u8
                         : from == dtype::i8  ? c::at_least_0
                         : from == dtype::u32 ? c::at_most_255
                                              : c::none);
  }
}

/// The functions of a reduction over rows. `begin` clears the state, `step` takes a tile of `count` elements, `fold` ends
/// a chunk, `finish` writes the result as a uniform operand.
struct reduction_functions {
  tile_function begin = nullptr, step = nullptr, fold = nullptr, finish = nullptr;
};
/// Bytes of the state of a reduction: 256 lanes of f64, and the total.
inline constexpr int reduction_state_bytes = sum_lanes * 8 + 64;

/// A step of a chain: an f32 operation of the accumulator x and, mostly, a register y. `sub_from` is y - x, `div_into`
/// y / x.
enum class chain_op : uint8 {
  add, sub, sub_from, mul, div, div_into, max, min, square, twice, neg, abs, sqrt, recip, exp, round_f16, round_bf16,
  store,  ///< keeps the accumulator in a register as well
  sum,    ///< adds it to the lanes of a sum
  fetch,  ///< brings memory that is read later nearer, as many bytes as the accumulator has
  end,    ///< the result is the accumulator
  drop    ///< nobody reads the accumulator
};
/// Added to the count of a chain: its result goes past the caches where it is aligned to the vector.
inline constexpr int stream_flag = 1 << 30;
/// Of a sum that is a step of a chain: how many elements of this tile count, in the 32-bit words of its state.
inline constexpr int sum_count_word = sum_lanes + 1;
struct chain_step {
  uint16 code = 0;  ///< twice the chain_op, plus 1 where the register is uniform
  uint16 reg = 0;
};

/// The narrow types in memory.
struct f16_tag { using stored = uint16; };
struct bf16_tag { using stored = uint16; };
struct i8_tag { using stored = int8; };
struct u8_tag { using stored = uint8; };

/// The instructions of one instruction set, found by what they do; null where there is none.
struct tile_functions {
  tile_function (*unary)(ir::op, carrier);
  tile_function (*binary)(ir::op, carrier, form);
  tile_function (*select)(int);
  tile_function (*convert)(conversion);
  tile_function (*load)(dtype);
  tile_function (*store)(dtype);
  tile_function (*fill)(dtype);
  tile_function (*stream)();
  tile_function (*chain)();
  reduction_functions (*reduction)(ir::op, carrier);
  tile_function (*argmax_rows)(carrier);
};

/// Changes with what the kernels and their callers must agree on: it is part of the precompiled functions' names, so that
/// headers of one version do not link with the library of another.
inline constexpr uint64 tile_layout =
    mix(mix(ir::op_table_hash, layout_of<tile_functions>), mix(tile_elements, static_cast<uint64>(chain_op::drop)));
template <uint64 Layout>
tile_functions precompiled_tile_functions();

#if defined(POOT_PRECOMPILED) && !defined(POOT_PRECOMPILING)
/// Of the instruction set in use; in poot::precompiled.
inline tile_functions current_tile_functions() { return precompiled_tile_functions<tile_layout>(); }
#endif

}  // namespace poot::run::host

#if !defined(POOT_PRECOMPILED) || defined(POOT_PRECOMPILING)
#include <poot/run/host/tile_kernels.hpp>
#endif
