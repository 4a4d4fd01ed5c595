#pragma once
/// Weights as the contraction kernels read them: 32 rows side by side, so that one vector holds one k of many rows.
///
/// With groups of 32 rows, G = ceil(N/32), K elements a row, rows beyond N zero:
///   f32, bf16, f16   [G][K][32] elements
///   packed           [G][K/32] blocks of 32 rows by 32 k: what scales them, then codes
///     q4_0, iq4_nl     f16 d[32];                nibbles       q4_1   f16 d[32], f16 m[32]; nibbles
///     mxfp4            u8 e[32];                 nibbles       q8_0, q5_0   f16 d[32]; int8
///     q4_k             u8 scale[32], u8 minimum[32]; nibbles   with f16 d[32], f16 dmin[32] before every 8 blocks
///     q6_k             int8 scale[2][32]; int8                 with f16 d[32] before every 8 blocks
///     nibbles          uint32 [4][32 rows]; word j holds the stored codes of k = 8j … 8j+7, from the lowest bits on
///     int8             [32 k][32 rows], the code that the scale multiplies
/// Decoded, they are the values of core/packed.hpp to the bit.

#include <poot/core/dtype.hpp>
#include <poot/core/error.hpp>
#include <poot/core/packed.hpp>

#include <cstring>

namespace poot::run::host {

/// Which axis of a stored matrix is contiguous: [N,K] (checkpoint order) or [K,N].
enum class matrix_order : uint8 { nk, kn };

/// Rows in a group.
inline constexpr int group_rows = 32;

/// Codes in a word of nibbles.
inline constexpr int word_codes = 8;

/// Interleaved weights [n,k]; `data` is 64-byte aligned for best speed.
struct weights {
  dtype type;
  int64 n;
  int64 k;
  const uint8* data;
};

constexpr int64 groups(int64 n) { return (n + group_rows - 1) / group_rows; }

/// Bytes of a block of 32 rows by 32 k of a packed type, and of what stands before every `span` blocks.
struct packed_block {
  int span;
  int before;
  int head;
  int codes;
  constexpr int64 bytes() const { return head + codes; }
  constexpr int64 at(int64 block) const { return block / span * (before + span * bytes()) + before + block % span * bytes(); }
  constexpr int64 span_at(int64 block) const { return block / span * (before + span * bytes()); }
};

/// Whether the codes are stored as nibbles; else as int8.
constexpr bool has_nibbles(dtype type) { return type != q8_0 && type != q5_0 && type != q6_k; }

constexpr packed_block block_of(dtype type) {
  const int codes = has_nibbles(type) ? 512 : 1024;
  switch (type) {
    case dtype::q4_1: return {1, 0, 128, codes};
    case dtype::mxfp4: return {1, 0, 32, codes};
    case dtype::q4_k: return {8, 128, 64, codes};
    case dtype::q6_k: return {8, 64, 64, codes};
    default: return {1, 0, 64, codes};
  }
}

constexpr int64 group_bytes(dtype type, int64 k) {
  return is_packed(type) ? block_of(type).span_at(k / 32) : group_rows * byte_size(type, k);
}

/// Bytes of [n,k] once interleaved.
constexpr int64 interleaved_bytes(dtype type, int64 n, int64 k) { return groups(n) * group_bytes(type, k); }

/// Whether `interleave` takes this element type.
constexpr bool can_interleave(dtype type) { return type == f32 || type == bf16 || type == f16 || is_packed(type); }

namespace detail {

template <class Element>
void interleave_elements(int64 n0, int rows, int64 k, const Element* src, int64 along_n, int64 along_k, Element* dst) {
  const Element* from = src + n0 * along_n;
  for (int64 i = 0; i < k; ++i)
    for (int r = 0; r < group_rows; ++r) dst[i * group_rows + r] = r < rows ? from[r * along_n + i * along_k] : Element{};
}

/// One group of a packed type: rows of stored blocks to blocks of rows.
template <dtype Type>
void interleave_packed(int rows, int64 k, const uint8* src, int64 row_bytes, uint8* dst) {
  constexpr packed_block form = block_of(Type);
  constexpr int per = row(Type).block_elements / 32;  // blocks of 32 k in a stored block
  std::memset(dst, 0, static_cast<size_t>(group_bytes(Type, k)));
  for (int64 block = 0; block < k / 32; ++block)
    for (int r = 0; r < rows; ++r) {
      const uint8* from = src + r * row_bytes + block / per * row(Type).block_bytes;
      const int sub = static_cast<int>(block % per), first = sub * 32;
      uint8 *span = dst + form.span_at(block), *head = dst + form.at(block), *codes = head + form.head;
      if constexpr (Type == mxfp4) head[r] = from[0];
      else std::memcpy((form.before ? span : head) + 2 * r, from + layout(Type).scale, 2);
      if constexpr (Type == q4_1) std::memcpy(head + 64 + 2 * r, from + 2, 2);
      if constexpr (Type == q4_k) {
        const q4_k_pair pair = q4_k_scales(from + layout(Type).sub_scales, sub);
        std::memcpy(span + 64 + 2 * r, from + layout(Type).minimum, 2);
        head[r] = static_cast<uint8>(pair.scale), head[32 + r] = static_cast<uint8>(pair.minimum);
      }
      if constexpr (Type == q6_k)
        for (int half = 0; half < 2; ++half) head[32 * half + r] = from[layout(Type).sub_scales + 2 * sub + half];
      if constexpr (has_nibbles(Type)) {
        for (int j = 0; j < 32 / word_codes; ++j) {
          uint32 word = 0;
          for (int i = 0; i < word_codes; ++i)
            word |= static_cast<uint32>(stored_code(Type, from, first + word_codes * j + i)) << 4 * i;
          std::memcpy(codes + 4 * (j * group_rows + r), &word, sizeof word);
        }
      } else {
        for (int i = 0; i < 32; ++i)
          codes[i * 32 + r] = static_cast<uint8>(stored_code(Type, from, first + i) - layout(Type).zero);
      }
    }
}

inline void interleave_packed_group(dtype type, int rows, int64 k, const uint8* src, int64 row_bytes, uint8* dst) {
  switch (type) {
    case dtype::q4_0: return interleave_packed<q4_0>(rows, k, src, row_bytes, dst);
    case dtype::q4_1: return interleave_packed<q4_1>(rows, k, src, row_bytes, dst);
    case dtype::q5_0: return interleave_packed<q5_0>(rows, k, src, row_bytes, dst);
    case dtype::q8_0: return interleave_packed<q8_0>(rows, k, src, row_bytes, dst);
    case dtype::q4_k: return interleave_packed<q4_k>(rows, k, src, row_bytes, dst);
    case dtype::q6_k: return interleave_packed<q6_k>(rows, k, src, row_bytes, dst);
    case dtype::iq4_nl: return interleave_packed<iq4_nl>(rows, k, src, row_bytes, dst);
    default: return interleave_packed<mxfp4>(rows, k, src, row_bytes, dst);
  }
}

/// Kept out of line: g++ 12 warns of an overrun that is not there where it unrolls the formatting into a caller.
[[gnu::noinline, gnu::cold]] inline void refuse_interleave(dtype type, int64 k) {
  if (!can_interleave(type)) fail(text{} << "interleave: element type " << name(type) << " is not a float of at most 32 bits or packed");
  if (k % row(type).block_elements)
    fail(text{} << "interleave: K = " << k << " is not a multiple of the block of " << name(type));
  fail(text{} << "interleave: packed " << name(type) << " is stored [N,K]; [K,N] was asked for");
}

}  // namespace detail

/// Interleaves groups group0 … group1 of a matrix [n,k] into `dst` (the start of the whole). `stride` is the distance
/// of rows of `src` (of n for nk, of k for kn), in elements, for packed types in bytes; 0 means dense. Groups are
/// independent: threads may share them.
inline void interleave(dtype type, int64 n, int64 k, const void* src, matrix_order order, int64 stride, void* dst,
                       int64 group0, int64 group1) {
  if (!can_interleave(type) || k % row(type).block_elements || (is_packed(type) && order == matrix_order::kn))
    detail::refuse_interleave(type, k);
  if (k == 0) return;
  const bool nk = order == matrix_order::nk;
  if (stride == 0) stride = is_packed(type) ? byte_size(type, k) : nk ? k : n;
  const uint8* from = static_cast<const uint8*>(src);
  for (int64 g = group0; g < group1; ++g) {
    const int64 n0 = g * group_rows;
    const int rows = static_cast<int>(n - n0 < group_rows ? n - n0 : group_rows);
    uint8* to = static_cast<uint8*>(dst) + g * group_bytes(type, k);
    if (type == f32)
      detail::interleave_elements(n0, rows, k, reinterpret_cast<const uint32*>(from), nk ? stride : 1, nk ? 1 : stride,
                                  reinterpret_cast<uint32*>(to));
    else if (!is_packed(type))
      detail::interleave_elements(n0, rows, k, reinterpret_cast<const uint16*>(from), nk ? stride : 1, nk ? 1 : stride,
                                  reinterpret_cast<uint16*>(to));
    else
      detail::interleave_packed_group(type, rows, k, from + n0 * stride, stride, to);
  }
}

/// The whole of a dense matrix.
inline void interleave(dtype type, int64 n, int64 k, const void* src, matrix_order order, void* dst) {
  interleave(type, n, k, src, order, 0, dst, 0, groups(n));
}

}  // namespace poot::run::host
