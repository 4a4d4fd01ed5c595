#pragma once
/// The contraction kernels of each instruction set, and what they read. contraction.hpp is what to call.

#include <poot/core/hash.hpp>
#include <poot/run/host/interleave.hpp>
#include <poot/run/host/simd.hpp>

#include <cstring>

namespace poot::run::host {

/// Elements of K that are summed before they are added to the total: the order of numerics.md.
inline constexpr int chunk = 256;

/// How the right operand lies in memory: interleaved groups; activations [K,N] or [N,K]; packed rows as stored; or
/// nowhere, and a callback makes its panels.
enum class panel_form : uint8 { interleaved, kn, nk, rows, made };

/// Decodes `count` elements of one packed row.
using decode_function = void (*)(dtype type, const uint8* from, int count, float* to);

/// The right operand B of a kernel. Strides of interleaved groups and packed rows are in bytes, others in elements.
struct panel_source {
  panel_form form;
  dtype type;
  int64 n;
  int64 k;
  const uint8* data;
  int64 group_stride = 0;  // bytes between groups of 32 columns, where they are equal
  int64 k_stride = 0;      // elements between rows of k
  int64 n_stride = 0;
  bool copy = false;  // panels of [K,N] are used often enough to be copied together first
  decode_function decode = nullptr;
  /// Writes B[k0 … k0+count, column0 … column0+columns] to room (count, 32); the other columns stay as they are.
  void (*make)(const void* context, int64 column0, int columns, int64 k0, int count, float* room) = nullptr;
  const void* context = nullptr;

  /// Whether all groups of 32 columns can be read in place, side by side.
  bool equal_groups() const {
    return form == panel_form::interleaved || (form == panel_form::kn && type == f32 && n % group_rows == 0);
  }
};

/// Rows of a packed panel of A that holds `rows` rows: 1, or the next even number.
constexpr int padded_panel(int rows) { return rows == 1 ? 1 : (rows + 1) / 2 * 2; }

/// What the nibbles of a packed type stand for, before scaling.
inline const float* nibble_values(dtype type) {
  static constexpr float centred[16] = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};
  static constexpr float plain[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  static constexpr float iq4[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
  static constexpr float e2m1[16] = {0, 1, 2, 3, 4, 6, 8, 12, -0.0f, -1, -2, -3, -4, -6, -8, -12};
  return type == q4_0 ? centred : type == iq4_nl ? iq4 : type == mxfp4 ? e2m1 : plain;
}

/// Rows that `few` computes for `rows` rows: the next of 1, 2, 4, 8, 14.
constexpr int few_padded(int rows) { return rows <= 2 ? rows : rows <= 4 ? 4 : rows <= 8 ? 8 : 14; }

/// Memory of a block's product. `total` keeps the sums of the chunks before the last, with room for rows rounded up to
/// an even number by 32 columns; `result` takes the finished ones and may be the same.
struct block_memory {
  float* total;
  int64 total_stride;
  float* result;
  int64 result_stride;
};

struct contraction_kernels {
  int tile_rows;  // rows of A in a panel
  int few_most;   // rows up to which `few` serves
  void (*few)(const panel_source& b, int64 column0, int64 count, int rows, const float* a, float* total, int64 total_stride);
  void (*block)(const panel_source& b, int64 column0, int64 rows, const float* a, const block_memory& to, float* room);
  void (*pack)(const float* from, int64 from_stride, int rows, int count, float* to, int padded);
  void (*copy)(const float* tile, int64 tile_stride, int rows, int64 columns, float* to, int64 to_stride);
};

}  // namespace poot::run::host

#if !defined(POOT_PRECOMPILED) || defined(POOT_PRECOMPILING)
#define POOT_BODY <poot/run/host/contraction.inc>
#include <poot/run/host/each_isa.inc>
#endif

namespace poot::run::host {

/// Changes with what the kernels and their callers must agree on; see tile_layout.
inline constexpr uint64 contraction_layout =
    mix(sizeof(panel_source), mix(sizeof(contraction_kernels), mix(sizeof(block_memory), mix(group_rows, mix(word_codes, dtype_count)))));
template <uint64 Layout>
const contraction_kernels& precompiled_contraction_kernels();

/// Of the instruction set in use.
[[gnu::always_inline]] inline const contraction_kernels& current_contraction_kernels() {  // see tile_kernels.hpp
#if defined(POOT_PRECOMPILED) && !defined(POOT_PRECOMPILING)
  return precompiled_contraction_kernels<contraction_layout>();
#else
  return *POOT_FOR_ISA(kernels);
#endif
}

/// Interleaved weights as kernels read them.
inline panel_source source_of(const weights& w) {
  panel_source s{panel_form::interleaved, w.type, w.n, w.k, w.data};
  s.group_stride = group_bytes(w.type, w.k);
  s.k_stride = group_rows;
  return s;
}

/// An activation f32, bf16 or f16 that lies [K,N] or [N,K], rows `stride` elements apart.
inline panel_source source_of(dtype type, int64 n, int64 k, const void* data, matrix_order order, int64 stride) {
  const bool kn = order == matrix_order::kn;
  panel_source s{kn ? panel_form::kn : panel_form::nk, type, n, k, static_cast<const uint8*>(data)};
  s.group_stride = group_rows * row(type).block_bytes;
  (kn ? s.k_stride : s.n_stride) = stride;
  (kn ? s.n_stride : s.k_stride) = 1;
  return s;
}

/// [K,N] whose panels `make` writes; see panel_source.
inline panel_source source_of(int64 n, int64 k, decltype(panel_source::make) make, const void* context) {
  panel_source s{panel_form::made, f32, n, k, nullptr};
  s.make = make;
  s.context = context;
  return s;
}

}  // namespace poot::run::host
