#pragma once
/// Fragments without a matrix unit: which memory they touch, and what their products are.

#include <poot/core/ieee.hpp>
#include <poot/core/rounding.hpp>
#include <poot/kernel/kernel.hpp>

namespace poot::kernel {

/// Rows and columns of a fragment, and elements along K of an operand.
inline constexpr uint32 fragment_side = 16;

namespace detail {

/// The elements of a shared array that instruction `i` touches from its index on: `rows` times `length`, `stride` apart.
struct footprint {
  uint32 rows = 1, length = 1, stride = 0;
};
constexpr footprint footprint_of(const instruction& i) {
  if (i.code == opcode::mma_left || i.code == opcode::mma_right) return {fragment_side, 2, i.c};
  if (i.code == opcode::mma_store) return {1, fragment_side * fragment_side, 0};
  return {};
}

/// The one that touches shared memory in instruction `at` for subgroup `subgroup`: a fragment's elements lie with any of its
/// invocations, so it is none of them, and another one in each instruction.
constexpr uint32 toucher(const kernel& k, uint32 at, uint32 subgroup) { return k.workgroup + at * (k.workgroup / k.subgroup) + subgroup; }

/// Words that the interpreter keeps of a value for one invocation.
constexpr uint32 words_of_value(type t, uint32 subgroup) {
  if (t == type::quad) return 4;
  if (!is_fragment(t)) return 1;
  return fragment_side * fragment_side / (t == type::sums ? 1 : 2) / subgroup;
}

/// The fragment of one subgroup, word by word: of operands pairs along K, of sums numbers, row after row. Here word w lies with
/// invocation w modulo the subgroup.
struct fragment_words {
  uint32* values;  ///< [words, width] of the value, from the subgroup's first invocation on
  uint32 width, subgroup;
  constexpr uint32& operator[](uint32 w) const { return values[w / subgroup * width + w % subgroup]; }
};

/// to = sums + left · right: products are exact in f32, and are added one by one as k ascends.
constexpr void multiply_add(bool of_bf16, const fragment_words& left, const fragment_words& right, const fragment_words& sums, const fragment_words& to) {
  constexpr uint32 side = fragment_side;
  const auto element = [of_bf16](const fragment_words& from, uint32 row, uint32 k) {
    const auto half = static_cast<uint16>(from[row * (side / 2) + k / 2] >> (k % 2 * 16));
    return of_bf16 ? bf16_to_f32(half) : f16_to_f32(half);
  };
  float a[side * side]{}, b[side * side]{};
  for (uint32 row = 0; row < side; ++row)
    for (uint32 k = 0; k < side; ++k) a[row * side + k] = element(left, row, k), b[row * side + k] = element(right, row, k);
  for (uint32 m = 0; m < side; ++m)
    for (uint32 n = 0; n < side; ++n) {
      float sum = ieee::from_bits(sums[m * side + n]);
      for (uint32 k = 0; k < side; ++k) sum = ieee::add(sum, ieee::mul(a[m * side + k], b[n * side + k]));
      to[m * side + n] = ieee::to_bits(sum);
    }
}

}  // namespace detail

}  // namespace poot::kernel
