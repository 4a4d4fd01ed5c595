#pragma once
/// Attention in the order of numerics.md, for any number of queries, heads, keys and columns.
///
/// One entry of the keys and values serves the queries of all heads that share it. Tiles of these queries meet one chunk of
/// 256 keys after another; a chunk's part of a tile is m, l and o of every row, and the parts are joined in ascending order.
/// Threads share the tiles where these are many, else the chunks of each. The bits of a row depend on neither the other rows,
/// the tile, the threads nor the instruction set.

#include <poot/run/host/attention_kernels.hpp>
#include <poot/run/host/contraction.hpp>
#include <poot/run/host/tile_function.hpp>

#include <algorithm>

namespace poot::run::host {

/// The keys or values of one entry: dense rows of one type.
struct shared_rows {
  const char* data;
  dtype element;
  int64 width;
};

/// What a call works on. Rows of an entry are numbered over its heads and their queries.
struct attention_problem {
  int64 entries = 0, rows = 0;              ///< of keys and values; of queries of each
  int64 keys = 0, width = 0, columns = 0;
  float scale = 1, softcap = 0;
  bool strict = false;                      ///< the softmax of whole rows, as the chain has it
  const void* context = nullptr;
  shared_rows (*keys_of)(const void* context, int64 entry) = nullptr;
  shared_rows (*values_of)(const void* context, int64 entry) = nullptr;
  /// f32 row of width elements, in place or in `room`.
  const float* (*query)(const void* context, int64 entry, int64 row, float* room) = nullptr;
  /// Masks of a row from key `first` on; null where there is none. Where one is the same for all keys it is spread in `room`.
  const float* (*added)(const void* context, int64 entry, int64 row, int64 first, float* room) = nullptr;
  const int32* (*chosen)(const void* context, int64 entry, int64 row, int64 first, int32* room) = nullptr;
  /// The sink of a row; null where there is none.
  float (*sink)(const void* context, int64 entry, int64 row) = nullptr;
  /// Takes a finished row of f32.
  void (*finish)(const void* context, int64 entry, int64 row, const float* result) = nullptr;
};

namespace detail {

/// Floats between rows of scores: not a multiple of the page, so that rows do not share a cache set.
inline constexpr int64 score_stride = attention_chunk + 16;

class attention_call {
 public:
  attention_call(const attention_problem& p, pool& threads)
      : p_(p), threads_(threads), product_(current_contraction_kernels()), kernel_(current_attention_kernels()) {
    const int panel = product_.tile_rows;
    most_rows_ = (p.strict && p.keys > 8192 ? 8 : 56) / panel * panel;
    if (most_rows_ == 0) most_rows_ = panel;
    if (most_rows_ > p.rows) most_rows_ = p.rows;
    tiles_ = (p.rows + most_rows_ - 1) / most_rows_;
    chunks_ = (p.keys + attention_chunk - 1) / attention_chunk;
    stride_ = (p.columns + group_rows - 1) / group_rows * group_rows;
    scores_of_ = (chunks_ + (p.sink ? 1 : 0) + uniform_elements - 1) / uniform_elements * uniform_elements;
    // o of a tile's chunk, rows rounded up; then m and l of its rows, by row
    part_ = (most_rows_ + 3) / 4 * 4 * stride_;
    tile_ = part_ * chunks_ + 2 * scores_of_ * most_rows_;
  }

  void run() {
    if (p_.strict) return run_strict();
    const int64 tiles = p_.entries * tiles_;
    const int64 work = p_.rows * p_.keys * (p_.width + p_.columns) / tiles_;
    if (tiles >= 4 * threads_.threads() || chunks_ == 1 || threads_.threads() == 1) {
      std::atomic<int64> next{0};  // tiles of a causal mask are of unlike work: threads take turns, the longest first
      threads_.parallel(
          tiles,
          [&](int64, int64, int) {
            for (int64 i; (i = next.fetch_add(1, std::memory_order_relaxed)) < tiles;) {
              float* const parts = scratch_of_thread().tile.floats(tile_);
              const int64 entry = i % p_.entries, tile = tiles_ - 1 - i / p_.entries;
              const packed_rows packed = pack_queries(entry, tile);
              for (int64 chunk = 0; chunk < chunks_; ++chunk) part(entry, tile, chunk, packed, parts);
              join(entry, tile, 0, rows_of(tile), parts);
            }
          },
          grain_for(work));
      return;
    }
    static thread_local scratch shared;
    float* const parts = shared.floats(tiles * tile_);
    threads_.parallel(
        tiles * chunks_,
        [&](int64 begin, int64 end, int) {
          packed_rows packed{};
          for (int64 i = begin; i < end; ++i) {
            const int64 at = i / chunks_;
            if (i == begin || i % chunks_ == 0) packed = pack_queries(at / tiles_, at % tiles_);
            part(at / tiles_, at % tiles_, i % chunks_, packed, parts + at * tile_);
          }
        },
        grain_for(work / chunks_));
    threads_.parallel(
        p_.entries * p_.rows,
        [&](int64 begin, int64 end, int) {
          for (int64 i = begin; i < end; ++i) {
            const int64 entry = i / p_.rows, row = i % p_.rows, tile = row / most_rows_, first = row % most_rows_;
            join(entry, tile, first, first + 1, parts + (entry * tiles_ + tile) * tile_);
          }
        },
        grain_for(chunks_ * p_.columns));
  }

  /// Tiles whose rows keep the scores of all keys.
  void run_strict() {
    const int64 tiles = p_.entries * tiles_, stride = chunks_ * attention_chunk + 16, rows = (most_rows_ + 3) / 4 * 4;
    threads_.parallel(
        tiles,
        [&](int64 begin, int64 end, int) {
          for (int64 i = begin; i < end; ++i) {
            float* const scores = scratch_of_thread().tile.floats(rows * (stride + 2 * stride_));
            whole(i / tiles_, i % tiles_, scores, stride, scores + rows * stride, scores + rows * (stride + stride_));
          }
        },
        grain_for(p_.rows * p_.keys * (p_.width + p_.columns) / tiles_));
  }

 private:
  /// The rows of a tile, of which `scores` (rows, stride) holds all; o and part (rows, stride_).
  void whole(int64 entry, int64 tile, float* scores, int64 stride, float* o, float* part) const {
    const packed_rows packed = pack_queries(entry, tile);
    const int64 row0 = tile * most_rows_;
    const int rows = static_cast<int>(rows_of(tile));
    const shared_rows k = p_.keys_of(p_.context, entry), v = p_.values_of(p_.context, entry);
    float* const room = scratch_of_thread().right.floats(chunk_room);
    const auto count_of = [&](int64 chunk) { return static_cast<int>(std::min<int64>(p_.keys - chunk * attention_chunk, attention_chunk)); };
    for (int64 chunk = 0; chunk < chunks_; ++chunk) multiply(rows, k, chunk * attention_chunk, {0, count_of(chunk)}, packed.queries, scores + chunk * attention_chunk, stride, room);
    for (int r = 0; r < rows; ++r) {
      float* const own = scores + r * stride;
      const float nothing = ieee::from_bits(0xff800000u);
      float most = nothing;
      for (int64 chunk = 0; chunk < chunks_; ++chunk) {
        float added[attention_chunk];
        int32 chosen[attention_chunk];
        const int64 row = row0 + r, first = chunk * attention_chunk;
        const float m = kernel_.score({own + first, 0, count_of(chunk), p_.scale, p_.softcap,
                                       p_.added ? p_.added(p_.context, entry, row, first, added) : nullptr,
                                       p_.chosen ? p_.chosen(p_.context, entry, row, first, chosen) : nullptr});
        if (ieee::is_nan(m) || ieee::less(most, m)) most = ieee::is_nan(most) ? most : m;
      }
      for (int64 i = p_.keys; i < chunks_ * attention_chunk; ++i) own[i] = nothing;
      kernel_.divide(own, chunks_ * attention_chunk, most);
    }
    std::memset(o, 0, static_cast<size_t>(rows * stride_) * 4);
    for (int64 chunk = 0; chunk < chunks_; ++chunk) {
      weigh_values(rows, v, chunk * attention_chunk, {0, count_of(chunk)}, scores + chunk * attention_chunk, stride, packed.weights, part, room);
      for (int64 i = 0; i < rows * stride_; ++i) o[i] = ieee::add(o[i], part[i]);
    }
    for (int r = 0; r < rows; ++r) p_.finish(p_.context, entry, row0 + r, o + r * stride_);
  }

  int64 rows_of(int64 tile) const { return tile + 1 < tiles_ ? most_rows_ : p_.rows - tile * most_rows_; }
  float* greatest_of(float* parts, int64 row) const { return parts + part_ * chunks_ + 2 * scores_of_ * row; }
  float* sums_of(float* parts, int64 row) const { return greatest_of(parts, row) + scores_of_; }

  /// Keys of a chunk that some row of a tile may count, from a multiple of 32 on.
  struct span {
    int first, last;
  };
  span chosen_span(int64 entry, int64 tile, int64 chunk, int count) const {
    if (!p_.chosen) return {0, count};
    int32 room[attention_chunk];
    int first = count, last = 0;
    for (int64 r = rows_of(tile); r-- > 0 && last - first < count;)
      kernel_.widen_span(p_.chosen(p_.context, entry, tile * most_rows_ + r, chunk * attention_chunk, room), count, first, last);
    return first < last ? span{first / 32 * 32, last} : span{0, 0};
  }

  bool finite(const shared_rows& v, int64 first, int64 last) const {
    if (first >= last) return true;
    if (v.element == dtype::f32)
      return kernel_.finite(reinterpret_cast<const float*>(v.data) + first * v.width, (last - first) * v.width);
    float room[tile_elements];
    const tile_function load = current_tile_functions().load(v.element);
    for (int64 i = first * v.width; i < last * v.width; i += tile_elements) {
      const int64 rest = last * v.width - i, count = rest < tile_elements ? rest : tile_elements;
      load(room, v.data + byte_size(v.element, i), nullptr, nullptr, static_cast<int>(count));
      if (!kernel_.finite(room, count)) return false;
    }
    return true;
  }

  /// Few rows read keys or values where they lie, if these are f32.
  static bool in_place(int rows, const shared_rows& x) { return rows <= few_queries && x.element == dtype::f32; }

  /// Queries of a tile in panels of tile_rows rows, or of few, each (width, padded); behind them is room for as many weights.
  struct packed_rows {
    const float* queries;
    float* weights;
  };
  packed_rows pack_queries(int64 entry, int64 tile) const {
    thread_scratch& own = scratch_of_thread();
    const int rows = static_cast<int>(rows_of(tile)), panel = in_place(rows, p_.keys_of(p_.context, entry)) ? few_queries : product_.tile_rows;
    float* const to = own.left.floats((most_rows_ + panel) * (p_.width + attention_chunk));
    float* const gathered = own.filled.floats(panel * p_.width);
    for (int r = 0; r < rows; r += panel) {
      const int some = rows - r < panel ? rows - r : panel, padded = some < panel ? padded_panel(some) : panel;
      for (int i = 0; i < some; ++i) {
        float* const row = gathered + i * p_.width;
        const float* q = p_.query(p_.context, entry, tile * most_rows_ + r + i, row);
        if (q != row) std::memcpy(row, q, static_cast<size_t>(p_.width) * 4);
      }
      product_.pack(gathered, p_.width, some, static_cast<int>(p_.width), to + r * p_.width, padded);
    }
    return {to, to + (most_rows_ + panel) * p_.width};
  }

  /// m, l and o of one chunk for the rows of a tile.
  void part(int64 entry, int64 tile, int64 chunk, const packed_rows& packed, float* parts) const {
    const int64 row0 = tile * most_rows_, first_key = chunk * attention_chunk;
    const int rows = static_cast<int>(rows_of(tile));
    const int count = static_cast<int>(p_.keys - first_key < attention_chunk ? p_.keys - first_key : attention_chunk);
    const shared_rows k = p_.keys_of(p_.context, entry), v = p_.values_of(p_.context, entry);
    float* const o = parts + part_ * chunk;
    span keys = chosen_span(entry, tile, chunk, count);
    // Keys that no row counts have p = 0: they add nothing, unless their values are not finite.
    span values = keys;
    if (!(finite(v, first_key, first_key + keys.first) && finite(v, first_key + keys.last, first_key + count))) values = {0, count};
    thread_scratch& own = scratch_of_thread();
    float* const scores = own.filled.floats(score_stride * (rows + 3));
    float* const room = own.right.floats(chunk_room);
    if (keys.first < keys.last) multiply(rows, k, first_key, keys, packed.queries, scores, score_stride, room);
    for (int r = 0; r < rows; ++r) {
      float added[attention_chunk];
      int32 chosen[attention_chunk];
      const int64 row = row0 + r;
      const score_row s{scores + r * score_stride, keys.first, keys.last, p_.scale, p_.softcap,
                        p_.added ? p_.added(p_.context, entry, row, first_key, added) : nullptr,
                        p_.chosen ? p_.chosen(p_.context, entry, row, first_key, chosen) : nullptr};
      kernel_.weigh(s, greatest_of(parts, r) + chunk, sums_of(parts, r) + chunk);
    }
    weigh_values(rows, v, first_key, values, scores, score_stride, packed.weights, o, room);
  }

  static constexpr int64 chunk_room = chunk * group_rows;

  /// scores (rows, stride) = q · k over the keys of a span.
  void multiply(int rows, const shared_rows& k, int64 first_key, span keys, const float* queries, float* scores, int64 stride, float* room) const {
    if (in_place(rows, k)) {
      const float* const first = reinterpret_cast<const float*>(k.data) + first_key * p_.width;
      return kernel_.few_products({queries, padded_panel(rows), first, nullptr, p_.width, p_.columns, keys.first, keys.last, scores, stride}, rows);
    }
    const char* first = k.data + byte_size(k.element, first_key * k.width);
    const panel_source b = source_of(k.element, keys.last, p_.width, first, matrix_order::nk, k.width);
    for (int64 column = keys.first; column < keys.last; column += group_rows) {
      float* const to = scores + column;
      product_.block(b, column, rows, queries, {to, stride, to, stride}, room);
    }
  }

  /// o (rows, columns) = p · v over the keys of a span, p (rows, stride).
  void weigh_values(int rows, const shared_rows& v, int64 first_key, span keys, const float* p, int64 stride, float* packed, float* o, float* room) const {
    if (in_place(rows, v)) {
      const float* const first = reinterpret_cast<const float*>(v.data) + first_key * p_.columns;
      return kernel_.few_sums({nullptr, 0, nullptr, first, p_.width, p_.columns, keys.first, keys.last, const_cast<float*>(p), stride}, rows, o, stride_);
    }
    const int count = keys.last - keys.first, panel = product_.tile_rows;
    for (int r = 0; r < rows; r += panel) {
      const int some = rows - r < panel ? rows - r : panel, padded = some < panel ? padded_panel(some) : panel;
      product_.pack(p + r * stride + keys.first, stride, some, count, packed + static_cast<int64>(r) * count, padded);
    }
    const char* first = v.data + byte_size(v.element, (first_key + keys.first) * v.width);
    const panel_source b = source_of(v.element, p_.columns, count, first, matrix_order::kn, v.width);
    for (int64 column = 0; column < p_.columns; column += group_rows) {
      float* const to = o + column;
      product_.block(b, column, rows, packed, {to, stride_, to, stride_}, room);
    }
  }

  void join(int64 entry, int64 tile, int64 first, int64 last, float* parts) const {
    float* const result = scratch_of_thread().filled.floats(stride_);
    for (int64 r = first; r < last; ++r) {
      float* const greatest = greatest_of(parts, r);
      if (p_.sink) greatest[chunks_] = p_.sink(p_.context, entry, tile * most_rows_ + r);
      const row_parts all{greatest, sums_of(parts, r), parts + r * stride_, part_, p_.columns, static_cast<int>(chunks_), p_.sink != nullptr};
      kernel_.join(all, result);
      p_.finish(p_.context, entry, tile * most_rows_ + r, result);
    }
  }

  const attention_problem& p_;
  pool& threads_;
  const contraction_kernels& product_;
  const attention_kernels& kernel_;
  int64 most_rows_, tiles_, chunks_, stride_, scores_of_, part_, tile_;  // lengths in floats
};

}  // namespace detail

inline void attend(const attention_problem& p, pool& threads = shared_pool()) {
  if (p.entries <= 0 || p.rows <= 0 || p.columns <= 0) return;
  if (p.keys > 0) return detail::attention_call(p, threads).run();
  float* const nothing = detail::scratch_of_thread().tile.floats(p.columns);  // as a contraction over nothing
  std::memset(nothing, 0, static_cast<size_t>(p.columns) * 4);
  for (int64 i = 0; i < p.entries * p.rows; ++i) p.finish(p.context, i / p.rows, i % p.rows, nothing);
}

}  // namespace poot::run::host
