#pragma once
/// The table of operations: one row per op.

#include <poot/core/dtype.hpp>
#include <poot/core/hash.hpp>

namespace poot::ir {

enum class op : uint8 {
  // leaves
  input, weight, state, constant, iota, random_uniform,
  // pointwise, one operand
  neg, exp, log, sqrt, recip, sin, cos, tanh, erf, abs, floor, bit_not,
  // pointwise, two operands
  add, sub, mul, div, max, min, pow, bit_and, bit_or, bit_xor, shl, shr,
  // comparisons
  eq, ne, lt, le, gt, ge,
  // pointwise, other
  select, cast, custom,
  // reductions
  reduce_sum, reduce_max, reduce_min, reduce_argmax,
  // contractions
  matmul, indexed_matmul, conv2d,
  // movement
  gather, slice, concat, transpose, broadcast, reshape, dynamic_update_slice,
  // collectives
  all_reduce_sum, all_gather, reduce_scatter,
  // recognised: made by passes, never by an expression
  packed_contraction, packed_gather, rope, attention, attention_parts, attention_join,
};

inline constexpr int op_count = static_cast<int>(op::attention_join) + 1;

/// chain: what was several equations of other classes.
enum class op_class : uint8 { leaf, pointwise, reduction, contraction, movement, collective, chain };

/// Sets of element types, as bits.
namespace dtypes {
inline constexpr uint8 floats = 1, integers = 2, words = 4, booleans = 8, packed = 16;  // words: i32 and u32 only
inline constexpr uint8 numbers = floats | integers, unpacked = numbers | booleans, any = unpacked | packed;
}  // namespace dtypes

struct op_row {
  std::string_view name;    ///< in graph text
  op_class kind;
  int8 arity;               ///< operands; -1: one or more
  uint8 accepts;            ///< element types of the first operand (`dtypes`)
  uint8 flops;              ///< per element of the result; contractions, reductions and attention count per element read
};

inline constexpr op_row op_table[op_count] = {
    {"input", op_class::leaf, 0, dtypes::any, 0},
    {"weight", op_class::leaf, 0, dtypes::any, 0},
    {"state", op_class::leaf, 0, dtypes::any, 0},
    {"constant", op_class::leaf, 0, dtypes::unpacked, 0},
    {"iota", op_class::leaf, 0, dtypes::numbers, 0},
    {"random_uniform", op_class::leaf, 2, dtypes::words, 20},
    {"neg", op_class::pointwise, 1, dtypes::numbers, 1},
    {"exp", op_class::pointwise, 1, dtypes::floats, 12},
    {"log", op_class::pointwise, 1, dtypes::floats, 14},
    {"sqrt", op_class::pointwise, 1, dtypes::floats, 4},
    {"recip", op_class::pointwise, 1, dtypes::floats, 4},
    {"sin", op_class::pointwise, 1, dtypes::floats, 16},
    {"cos", op_class::pointwise, 1, dtypes::floats, 16},
    {"tanh", op_class::pointwise, 1, dtypes::floats, 18},
    {"erf", op_class::pointwise, 1, dtypes::floats, 18},
    {"abs", op_class::pointwise, 1, dtypes::numbers, 1},
    {"floor", op_class::pointwise, 1, dtypes::floats, 1},
    {"not", op_class::pointwise, 1, dtypes::words, 1},
    {"add", op_class::pointwise, 2, dtypes::numbers, 1},
    {"sub", op_class::pointwise, 2, dtypes::numbers, 1},
    {"mul", op_class::pointwise, 2, dtypes::numbers, 1},
    {"div", op_class::pointwise, 2, dtypes::numbers, 4},
    {"max", op_class::pointwise, 2, dtypes::numbers, 1},
    {"min", op_class::pointwise, 2, dtypes::numbers, 1},
    {"pow", op_class::pointwise, 2, dtypes::floats, 40},
    {"and", op_class::pointwise, 2, dtypes::words, 1},
    {"or", op_class::pointwise, 2, dtypes::words, 1},
    {"xor", op_class::pointwise, 2, dtypes::words, 1},
    {"shl", op_class::pointwise, 2, dtypes::words, 1},
    {"shr", op_class::pointwise, 2, dtypes::words, 1},
    {"eq", op_class::pointwise, 2, dtypes::unpacked, 1},
    {"ne", op_class::pointwise, 2, dtypes::unpacked, 1},
    {"lt", op_class::pointwise, 2, dtypes::numbers, 1},
    {"le", op_class::pointwise, 2, dtypes::numbers, 1},
    {"gt", op_class::pointwise, 2, dtypes::numbers, 1},
    {"ge", op_class::pointwise, 2, dtypes::numbers, 1},
    {"select", op_class::pointwise, 3, dtypes::words, 1},
    {"cast", op_class::pointwise, 1, dtypes::any, 1},
    {"custom", op_class::pointwise, -1, dtypes::floats, 1},  // printed under its own name; see ir/custom.hpp
    {"reduce_sum", op_class::reduction, 1, dtypes::numbers, 1},
    {"reduce_max", op_class::reduction, 1, dtypes::numbers, 1},
    {"reduce_min", op_class::reduction, 1, dtypes::numbers, 1},
    {"reduce_argmax", op_class::reduction, 1, dtypes::numbers, 1},
    {"matmul", op_class::contraction, 2, dtypes::floats, 2},
    {"indexed_matmul", op_class::contraction, 3, dtypes::floats, 2},
    {"conv2d", op_class::contraction, 2, dtypes::floats, 2},
    {"gather", op_class::movement, 2, dtypes::any, 0},
    {"slice", op_class::movement, 1, dtypes::unpacked, 0},
    {"concat", op_class::movement, -1, dtypes::unpacked, 0},
    {"transpose", op_class::movement, 1, dtypes::unpacked, 0},
    {"broadcast", op_class::movement, 1, dtypes::unpacked, 0},
    {"reshape", op_class::movement, 1, dtypes::unpacked, 0},
    {"dynamic_update_slice", op_class::movement, 3, dtypes::unpacked, 0},
    {"all_reduce_sum", op_class::collective, 1, dtypes::numbers, 1},
    {"all_gather", op_class::collective, 1, dtypes::unpacked, 0},
    {"reduce_scatter", op_class::collective, 1, dtypes::numbers, 1},
    {"packed_contraction", op_class::contraction, -1, dtypes::floats, 2},
    {"packed_gather", op_class::movement, 2, dtypes::any, 0},
    {"rope", op_class::chain, 3, dtypes::floats, 3},
    {"attention", op_class::chain, -1, dtypes::floats, 2},
    {"attention_parts", op_class::chain, -1, dtypes::floats, 2},  // of each chunk of keys; see pass/split_attention.hpp
    {"attention_join", op_class::chain, -1, dtypes::floats, 2},
};

/// Changes with the ops and their order.
inline constexpr uint64 op_table_hash = [] {
  uint64 h = 0;
  for (const op_row& r : op_table) h = mix(h, hash_text(r.name));
  return h;
}();

constexpr const op_row& row(op o) { return op_table[static_cast<int>(o)]; }
constexpr std::string_view name(op o) { return row(o).name; }
constexpr bool is_leaf(op o) { return row(o).kind == op_class::leaf; }
constexpr bool is_pointwise(op o) { return row(o).kind == op_class::pointwise; }
constexpr bool is_reduction(op o) { return row(o).kind == op_class::reduction; }
constexpr bool is_contraction(op o) { return row(o).kind == op_class::contraction; }
constexpr bool is_movement(op o) { return row(o).kind == op_class::movement; }
constexpr bool is_collective(op o) { return row(o).kind == op_class::collective; }
constexpr bool is_comparison(op o) { return o >= op::eq && o <= op::ge; }
/// Reads queries, keys and values.
constexpr bool attends(op o) { return o == op::attention || o == op::attention_parts; }
/// Attention, whole or split: its sums have the order of contractions.
constexpr bool is_attention(op o) { return attends(o) || o == op::attention_join; }
/// Named by the user and bound at run time.
constexpr bool is_named_leaf(op o) { return o <= op::state; }

constexpr bool accepts(uint8 set, dtype t) {
  if (is_packed(t)) return set & dtypes::packed;
  if (is_float(t)) return set & dtypes::floats;
  if (t == dtype::boolean) return set & dtypes::booleans;
  return (set & dtypes::integers) || ((set & dtypes::words) && (t == dtype::i32 || t == dtype::u32));
}

/// Finds an op by its name in graph text; false if there is none.
constexpr bool find_op(std::string_view text, op& out) {
  for (int i = 0; i < op_count; ++i)
    if (op_table[i].name == text) {
      out = static_cast<op>(i);
      return true;
    }
  return false;
}

}  // namespace poot::ir
