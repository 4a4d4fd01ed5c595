#pragma once
/// Weights as the contraction kernels read them: 32 rows side by side, so that one vector holds one k of many rows.
///
/// With groups of 32 rows, G = ceil(N/32), K elements a row, rows beyond N zero:
///   f32, bf16, f16   [G][K][32] elements
///   q8_0             [G][K/32]{ f16 d[32], int8 q[32 k][32 rows] }           1088 bytes a block
///   q4_0             [G][K/32]{ f16 d[32], uint8 [16][32 rows] }             576 bytes a block; byte j holds k = 2j in
///                    its low nibble and k = 2j+1 in the high one
///   other packed     [G][32 rows] as stored; decoded by rows when used
/// The values are the stored ones: no bit of any of them changes.

#include <poot/core/dtype.hpp>
#include <poot/core/error.hpp>

#include <cstring>

namespace poot::run::host {

/// Which axis of a stored matrix is contiguous: [N,K] (checkpoint order) or [K,N].
enum class matrix_order : uint8 { nk, kn };

/// Rows in a group.
inline constexpr int group_rows = 32;

/// Interleaved weights [n,k]; `data` is 64-byte aligned for best speed.
struct weights {
  dtype type;
  int64 n;
  int64 k;
  const uint8* data;
};

constexpr int64 groups(int64 n) { return (n + group_rows - 1) / group_rows; }
constexpr int64 group_bytes(dtype type, int64 k) { return group_rows * byte_size(type, k); }

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

inline void interleave_q8_0(int rows, int64 k, const uint8* src, int64 row_bytes, uint8* dst) {
  std::memset(dst, 0, static_cast<size_t>(group_bytes(q8_0, k)));
  for (int64 block = 0; block < k / 32; ++block, dst += 1088)
    for (int r = 0; r < rows; ++r) {
      const uint8* from = src + r * row_bytes + block * 34;
      std::memcpy(dst + 2 * r, from, 2);
      for (int i = 0; i < 32; ++i) dst[64 + i * 32 + r] = from[2 + i];
    }
}

inline void interleave_q4_0(int rows, int64 k, const uint8* src, int64 row_bytes, uint8* dst) {
  std::memset(dst, 0, static_cast<size_t>(group_bytes(q4_0, k)));
  for (int64 block = 0; block < k / 32; ++block, dst += 576)
    for (int r = 0; r < rows; ++r) {
      const uint8* from = src + r * row_bytes + block * 18;
      std::memcpy(dst + 2 * r, from, 2);
      // stored: element i < 16 in the low nibble of byte i, element i + 16 in the high one
      const auto element = [&](int i) { return i < 16 ? from[2 + i] & 15 : from[2 + i - 16] >> 4; };
      for (int j = 0; j < 16; ++j)
        dst[64 + j * 32 + r] = static_cast<uint8>(element(2 * j) | element(2 * j + 1) << 4);
    }
}

}  // namespace detail

/// Interleaves groups group0 … group1 of a matrix [n,k] into `dst` (the start of the whole). `stride` is the distance
/// of rows of `src` (of n for nk, of k for kn), in elements, for packed types in bytes; 0 means dense. Groups are
/// independent: threads may share them.
inline void interleave(dtype type, int64 n, int64 k, const void* src, matrix_order order, int64 stride, void* dst,
                       int64 group0, int64 group1) {
  if (!can_interleave(type)) fail(text{} << "interleave: element type " << name(type) << " is not a float of at most 32 bits or packed");
  if (k % row(type).block_elements) fail(text{} << "interleave: K = " << k << " is not a multiple of the block of " << name(type));
  if (is_packed(type) && order == matrix_order::kn)
    fail(text{} << "interleave: packed " << name(type) << " is stored [N,K]; [K,N] was asked for");
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
    else if (type == q8_0)
      detail::interleave_q8_0(rows, k, from + n0 * stride, stride, to);
    else if (type == q4_0)
      detail::interleave_q4_0(rows, k, from + n0 * stride, stride, to);
    else {
      const int64 row_bytes = byte_size(type, k);
      std::memset(to, 0, static_cast<size_t>(group_bytes(type, k)));
      for (int r = 0; r < rows; ++r)
        std::memcpy(to + r * row_bytes, from + (n0 + r) * stride, static_cast<size_t>(row_bytes));
    }
  }
}

/// The whole of a dense matrix.
inline void interleave(dtype type, int64 n, int64 k, const void* src, matrix_order order, void* dst) {
  interleave(type, n, k, src, order, 0, dst, 0, groups(n));
}

}  // namespace poot::run::host
