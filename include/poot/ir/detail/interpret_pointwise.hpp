#pragma once
/// The interpreter's pointwise equations, and the strided copy that broadcasting and movement share.

#include <poot/core/packed.hpp>
#include <poot/ir/custom.hpp>
#include <poot/ir/evaluate.hpp>
#include <poot/ir/tensor.hpp>

namespace poot::ir::detail {

/// Row-major strides, in words; 0 where the extent is 1, so that the axis stretches.
struct strides {
  int64 of[max_rank]{};
  constexpr strides() = default;
  constexpr explicit strides(const tensor_type& t) {
    int64 step = 1;
    for (int i = t.rank; i-- > 0; step *= t.extents[i].code) of[i] = t.extents[i].code == 1 ? 0 : step;
  }
};

/// Fills `to` with the words that `from` holds at `first` + the sum of index times stride, indices running row-major
/// over the extents of `box`.
constexpr void copy_strided(const vec<uint64>& from, int64 first, const strides& s, const tensor_type& box, uint64* to) {
  if (box.element_count() == 0) return;
  const int last = box.rank - 1;
  const int64 run = box.rank ? box.extents[last].code : 1, step = box.rank ? s.of[last] : 0;
  int64 index[max_rank]{}, at = first;
  while (true) {
    for (int64 i = 0; i < run; ++i) *to++ = from[static_cast<size_t>(at + i * step)];
    int axis = last - 1;
    for (; axis >= 0; --axis) {
      at += s.of[axis];
      if (++index[axis] < box.extents[axis].code) break;
      at -= index[axis] * s.of[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

/// `x` stretched to the extents of `to`, aligned at the last axis.
constexpr void copy_broadcast(const tensor& x, const tensor_type& to, uint64* out) {
  const strides own(x.type);
  strides s;
  for (int i = 0; i < x.type.rank; ++i) s.of[to.rank - x.type.rank + i] = own.of[i];
  copy_strided(x.bits, 0, s, to, out);
}

constexpr reading read_as(const tensor& x, const tensor_type& to, vec<uint64>& stretched) {
  if (x.bits.size() == 1) return {x.bits.data(), 0};
  if (x.type.same_extents(to)) return {x.bits.data(), 1};
  stretched.resize(static_cast<size_t>(to.element_count()));
  copy_broadcast(x, to, stretched.data());
  return {stretched.data(), 1};
}

/// Any pointwise op but a cast. An operand of an empty result may have no words, so nothing is read for one.
constexpr void pointwise(op o, view<const tensor*> in, tensor& result) {
  if (result.bits.empty()) return;
  vec<uint64> stretched[3];
  reading r[3];
  for (size_t k = 0; k < in.size(); ++k) r[k] = read_as(*in[k], result.type, stretched[k]);
  if (o == op::select) {
    for (size_t i = 0; i < result.bits.size(); ++i)
      result.bits[i] = (r[0].bits[i * r[0].step] & 0xffffffffu) != 0 ? r[1].bits[i * r[1].step] : r[2].bits[i * r[2].step];
    return;
  }
  if (in.size() == 1) r[1] = r[0];
  with_op(o, in[0]->type.element, evaluate_each{in[0]->type.element, r[0], r[1], result.bits.data(), result.bits.size()});
}

/// A user's op: f32 arithmetic, one rounding.
constexpr void custom(const custom_row& row, view<const tensor*> in, tensor& result) {
  if (result.bits.empty()) return;
  vec<uint64> stretched[max_custom_arity];
  reading r[max_custom_arity];
  for (size_t k = 0; k < in.size(); ++k) r[k] = read_as(*in[k], result.type, stretched[k]);
  float operands[max_custom_arity]{};
  for (size_t i = 0; i < result.bits.size(); ++i) {
    for (size_t k = 0; k < in.size(); ++k) operands[k] = load_float<float>(in[k]->type.element, r[k].bits[i * r[k].step]);
    result.bits[i] = store_float(result.type.element, row.evaluate(operands));
  }
}

/// The words of a packed tensor, decoded; exact.
constexpr vec<float> decode_words(const tensor& x) {
  const dtype_row& format = row(x.type.element);
  const size_t blocks = x.bits.size() / format.block_bytes;
  vec<float> values(blocks * format.block_elements);
  uint8 block[256]{};
  for (size_t b = 0; b < blocks; ++b) {
    for (size_t i = 0; i < format.block_bytes; ++i) block[i] = static_cast<uint8>(x.bits[b * format.block_bytes + i]);
    decode_block(x.type.element, block, values.data() + b * format.block_elements);
  }
  return values;
}

constexpr void cast_all(const tensor& x, dtype to, tensor& result) {
  if (is_packed(x.type.element)) {
    const vec<float> values = decode_words(x);
    for (size_t i = 0; i < values.size(); ++i)
      result.bits[i] = cast_bits(dtype::f32, to, ieee::to_bits(values[i]));
    return;
  }
  for (size_t i = 0; i < result.bits.size(); ++i) result.bits[i] = cast_bits(x.type.element, to, x.bits[i]);
}

}  // namespace poot::ir::detail
