#pragma once
/// Element types: floats, integers, and packed weight formats.

#include <poot/core/integers.hpp>

#include <string_view>

namespace poot {

enum class dtype : uint8 {
  f64, f32, f16, bf16, i32, u32, i8, u8, boolean,
  q4_0, q4_1, q5_0, q8_0, q4_k, q6_k, iq4_nl, mxfp4
};

inline constexpr int dtype_count = 17;

inline constexpr dtype f64 = dtype::f64;
inline constexpr dtype f32 = dtype::f32;
inline constexpr dtype f16 = dtype::f16;
inline constexpr dtype bf16 = dtype::bf16;
inline constexpr dtype i32 = dtype::i32;
inline constexpr dtype u32 = dtype::u32;
inline constexpr dtype i8 = dtype::i8;
inline constexpr dtype u8 = dtype::u8;
inline constexpr dtype boolean = dtype::boolean;
inline constexpr dtype q4_0 = dtype::q4_0;
inline constexpr dtype q4_1 = dtype::q4_1;
inline constexpr dtype q5_0 = dtype::q5_0;
inline constexpr dtype q8_0 = dtype::q8_0;
inline constexpr dtype q4_k = dtype::q4_k;
inline constexpr dtype q6_k = dtype::q6_k;
inline constexpr dtype iq4_nl = dtype::iq4_nl;
inline constexpr dtype mxfp4 = dtype::mxfp4;

enum class dtype_kind : uint8 { floating, integer, logical, packed };

/// What is fixed about an element type. A packed type stores `block_elements` consecutive elements of the
/// last axis in `block_bytes` bytes; every other type has blocks of one element.
struct dtype_row {
  std::string_view name;
  dtype_kind kind;
  uint16 block_elements;
  uint16 block_bytes;
};

inline constexpr dtype_row dtype_table[dtype_count] = {
    {"f64", dtype_kind::floating, 1, 8},  {"f32", dtype_kind::floating, 1, 4},
    {"f16", dtype_kind::floating, 1, 2},  {"bf16", dtype_kind::floating, 1, 2},
    {"i32", dtype_kind::integer, 1, 4},   {"u32", dtype_kind::integer, 1, 4},
    {"i8", dtype_kind::integer, 1, 1},    {"u8", dtype_kind::integer, 1, 1},
    {"bool", dtype_kind::logical, 1, 1},  {"q4_0", dtype_kind::packed, 32, 18},
    {"q4_1", dtype_kind::packed, 32, 20}, {"q5_0", dtype_kind::packed, 32, 22},
    {"q8_0", dtype_kind::packed, 32, 34}, {"q4_k", dtype_kind::packed, 256, 144},
    {"q6_k", dtype_kind::packed, 256, 210}, {"iq4_nl", dtype_kind::packed, 32, 18},
    {"mxfp4", dtype_kind::packed, 32, 17},
};

constexpr const dtype_row& row(dtype t) { return dtype_table[static_cast<int>(t)]; }
constexpr std::string_view name(dtype t) { return row(t).name; }
constexpr bool is_float(dtype t) { return row(t).kind == dtype_kind::floating; }
constexpr bool is_integer(dtype t) { return row(t).kind == dtype_kind::integer; }
constexpr bool is_packed(dtype t) { return row(t).kind == dtype_kind::packed; }
/// Narrow floats are computed in f32 and rounded once.
constexpr bool is_narrow(dtype t) { return t == dtype::f16 || t == dtype::bf16; }
constexpr bool is_signed(dtype t) { return t == dtype::i32 || t == dtype::i8; }

/// Bytes of `elements` elements; for packed types `elements` is a multiple of the block.
constexpr int64 byte_size(dtype t, int64 elements) {
  return elements / row(t).block_elements * row(t).block_bytes;
}

/// Finds a type by its name in graph text; false if there is none.
constexpr bool find_dtype(std::string_view text, dtype& out) {
  for (int i = 0; i < dtype_count; ++i)
    if (dtype_table[i].name == text) {
      out = static_cast<dtype>(i);
      return true;
    }
  return false;
}

}  // namespace poot
