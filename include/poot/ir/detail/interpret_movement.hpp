#pragma once
/// The interpreter's movement equations: words are copied, never converted.

#include <poot/ir/detail/interpret_contraction.hpp>

namespace poot::ir::detail {

/// Words that one step along axis 0 … `axes` - 1 of `t` covers.
constexpr int64 words_behind(const tensor_type& t, int axes) {
  int64 count = 1;
  for (int i = axes; i < t.rank; ++i) count *= t.extents[i].code;
  return is_packed(t.element) ? byte_size(t.element, count) : count;
}

constexpr void gather(const index_rule& inside, int axis, const tensor& x, const tensor& idx, tensor& result) {
  int64 outer = 1;
  for (int i = 0; i < axis; ++i) outer *= x.type.extents[i].code;
  const int64 count = x.type.extents[axis].code, run = words_behind(x.type, axis + 1);
  if (outer == 0 || run == 0) {  // nothing is read, but an index outside is refused all the same
    if (!inside.clamp)
      for (uint64 index : idx.bits) inside(load_integer(dtype::i32, index), count, "index");
    return;
  }
  uint64* to = result.bits.data();
  for (int64 o = 0; o < outer; ++o)
    for (size_t i = 0; i < idx.bits.size(); ++i) {
      const int64 at = inside(load_integer(dtype::i32, idx.bits[i]), count, "index");
      for (int64 j = 0; j < run; ++j) *to++ = x.bits[static_cast<size_t>((o * count + at) * run + j)];
    }
}

/// at: start[rank], size[rank], step[rank]; the sizes are the result's extents.
constexpr void slice(view<int64> at, const tensor& x, tensor& result) {
  const int rank = x.type.rank;
  strides s(x.type);
  int64 first = 0;
  for (int i = 0; i < rank; ++i) {
    first += at[static_cast<size_t>(i)] * s.of[i];
    s.of[i] *= at[static_cast<size_t>(2 * rank + i)];
  }
  copy_strided(x.bits, first, s, result.type, result.bits.data());
}

constexpr void concat(int axis, view<const tensor*> in, tensor& result) {
  const int64 row = words_behind(result.type, axis);
  int64 at = 0;
  for (const tensor* x : in) {
    const int64 run = words_behind(x->type, axis);
    for (int64 i = 0, from = 0; run && from < static_cast<int64>(x->bits.size()); ++i)
      for (int64 j = 0; j < run; ++j, ++from) result.bits[static_cast<size_t>(i * row + at + j)] = x->bits[static_cast<size_t>(from)];
    at += run;
  }
}

constexpr void transpose(view<int64> perm, const tensor& x, tensor& result) {
  const strides own(x.type);
  strides s;
  for (int i = 0; i < x.type.rank; ++i) s.of[i] = own.of[perm[static_cast<size_t>(i)]];
  copy_strided(x.bits, 0, s, result.type, result.bits.data());
}

/// x with `update` written at `start`, which must leave room for it.
constexpr void update_slice(const index_rule& inside, const tensor& update, const tensor& start, tensor& result) {
  const tensor_type &t = result.type, &box = update.type;
  int64 first = 0, step[max_rank]{}, index[max_rank]{};
  int64 words = 1;
  for (int i = t.rank; i-- > 0; words *= t.extents[i].code) step[i] = words;
  for (int i = 0; i < t.rank; ++i) {
    const int64 places = t.extents[i].code - box.extents[i].code + 1;
    first += inside(load_integer(dtype::i32, start.bits[static_cast<size_t>(i)]), places, "start") * step[i];
  }
  for (size_t from = 0; from < update.bits.size(); ++from) {
    int64 at = first;
    for (int i = 0; i < t.rank; ++i) at += index[i] * step[i];
    result.bits[static_cast<size_t>(at)] = update.bits[from];
    for (int i = t.rank; i-- > 0;) {
      if (++index[i] < box.extents[i].code) break;
      index[i] = 0;
    }
  }
}

}  // namespace poot::ir::detail
