#pragma once
/// The kernels of attention beside those of contractions, for each instruction set. attention.hpp is what to call.

#include <poot/core/hash.hpp>
#include <poot/ir/attention_memory.hpp>
#include <poot/run/host/tile_values.hpp>

namespace poot::run::host {

/// Keys that are joined as one (numerics.md, "Attention").
inline constexpr int attention_chunk = static_cast<int>(ir::attention_chunk);

/// A row of products q·k over one chunk of keys, 256 with room for all of them.
struct score_row {
  float* scores;
  int first, last;              ///< keys that count: `first` is a multiple of 32; the others have no product
  float scale, softcap;         ///< softcap 0: none
  const float* added;           ///< mask to add, of this row's first key of the chunk; null: none
  const int32* chosen;          ///< keys count where it is not 0; null: all do
};

/// Up to this many rows read keys and values where they lie.
inline constexpr int few_queries = 8;

/// Few rows over one chunk of f32 keys [.., width] and values [.., columns]. Rows of a multiple of four, or one or two more,
/// are computed: queries, scores and results have room for them.
struct few_rows {
  const float* queries;    ///< (width, padded)
  int64 padded;
  const float *keys, *values;
  int64 width, columns;
  int first, last;         ///< keys of the chunk that count
  float* scores;
  int64 score_stride;
};

/// The chunks of one row: m and l of each, o of chunk i at `parts` + i · `between`. Behind the chunks may stand a sink: m alone.
struct row_parts {
  float* greatest;         ///< room for whole vectors; overwritten
  const float *sums, *parts;
  int64 between, columns;
  int chunks;
  bool has_sink;
};

struct attention_kernels {
  void (*weigh)(const score_row& r, float* greatest, float* sum);
  void (*join)(const row_parts& r, float* to);
  /// Products of a row, all of a chunk, to scores; returns the greatest.
  float (*score)(const score_row& r);
  /// Scores of a whole row, a multiple of 256 of them, to their exponentials over the sum of these.
  void (*divide)(float* scores, int64 count, float greatest);
  bool (*finite)(const float* x, int64 count);
  /// Widens first … last, at first count … 0, to where x is not 0.
  void (*widen_span)(const int32* x, int count, int& first, int& last);
  void (*few_products)(const few_rows& f, int rows);                               ///< scores = queries · keys
  void (*few_sums)(const few_rows& f, int rows, float* to, int64 to_stride);       ///< to = scores · values
};

}  // namespace poot::run::host

#if !defined(POOT_PRECOMPILED) || defined(POOT_PRECOMPILING)
#define POOT_BODY <poot/run/host/attention.inc>
#include <poot/run/host/each_isa.inc>
#endif

namespace poot::run::host {

/// Changes with what the kernels and their callers must agree on; see tile_layout.
inline constexpr uint64 attention_layout = mix(sizeof(attention_kernels), mix(sizeof(score_row), mix(sizeof(few_rows), mix(sizeof(row_parts), attention_chunk))));
template <uint64 Layout>
const attention_kernels& precompiled_attention_kernels();

/// Of the instruction set in use.
[[gnu::always_inline]] inline const attention_kernels& current_attention_kernels() {  // see tile_kernels.hpp
#if defined(POOT_PRECOMPILED) && !defined(POOT_PRECOMPILING)
  return precompiled_attention_kernels<attention_layout>();
#else
  return *POOT_FOR_ISA(attention_functions);
#endif
}

}  // namespace poot::run::host
