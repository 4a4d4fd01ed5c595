#pragma once
/// C[M,N] = A[M,K] · B in the order of numerics.md, for any number of rows.
///
/// `contract` takes weights interleaved at load (interleave.hpp). A comes as f32 rows or from a callback, which is how
/// narrow activations, fused row prologues and implicit im2col enter; the result goes to f32 rows or, tile by tile
/// while it is in the first-level cache, to a callback, which is how an epilogue is fused. The bits of a row depend on
/// neither the other rows, the tile, the threads nor the instruction set.

#include <poot/run/host/contraction_kernels.hpp>
#include <poot/run/host/pool.hpp>

#include <atomic>
#include <cstdlib>
#include <new>

namespace poot::run::host {

/// Writes A[row0 … row0+rows, k0 … k0+count] as f32 to `panel`, whose rows are `stride` apart. Called from any
/// thread, possibly more than once for the same part; count is at most 256.
using fill_function = void (*)(void* context, int64 row0, int rows, int64 k0, int count, float* panel, int64 stride);

/// Takes the finished C[row0 … row0+rows, col0 … col0+cols], rows of `tile` `stride` apart. One row comes in pieces of
/// up to 1024 columns, several rows in pieces of 32 to 1024 columns and up to 112 rows; each element once. col0 is a
/// multiple of 32. The tiles of several contractions stand `between` elements apart. Called from any thread; `tile` may be
/// overwritten.
using sink_function = void (*)(void* context, int64 row0, int rows, int64 col0, int cols, float* tile, int64 stride, int64 between);

/// The left operand: f32 rows `stride` elements apart, or a callback.
struct left_operand {
  const float* rows = nullptr;
  int64 stride = 0;
  fill_function fill = nullptr;
  void* context = nullptr;
};

/// Where the result goes: f32 rows `stride` elements apart, or a callback.
struct contraction_result {
  float* rows = nullptr;
  int64 stride = 0;
  sink_function sink = nullptr;
  void* context = nullptr;
};

/// Contractions of one A whose results, of equal extents, go to one place; to rows, there is one of them.
struct product {
  view<panel_source> b;
  contraction_result c;
};

namespace detail {

/// Memory of one thread that grows and stays; 64-byte aligned. Contents are lost when it grows.
class scratch {
 public:
  ~scratch() { std::free(data_); }
  float* floats(int64 n) {
    if (n > size_) {
      std::free(data_);
      size_ = (n + 4095) / 1024 * 1024;
      data_ = static_cast<float*>(std::aligned_alloc(64, static_cast<size_t>(size_) * 4));
      if (!data_) {
        size_ = 0;
        throw std::bad_alloc();
      }
    }
    return data_;
  }

 private:
  float* data_ = nullptr;
  int64 size_ = 0;
};

/// Packed A of the call, decoded panels of B, and tiles of C. A callback must not start a contraction itself.
struct thread_scratch {
  scratch left, right, tile, filled;
};
inline thread_scratch& scratch_of_thread() {
  static thread_local thread_scratch s;
  return s;
}

inline void deliver(const contraction_kernels& kernel, const contraction_result& c, int64 row0, int rows, int64 col0,
                    int64 cols, float* tile, int64 stride, int64 between) {
  if (c.sink) return c.sink(c.context, row0, rows, col0, static_cast<int>(cols), tile, stride, between);
  kernel.copy(tile, stride, rows, cols, c.rows + row0 * c.stride + col0, c.stride);
}

/// Packs rows row0 … of A at k0 (count, padded) to `to`.
inline void pack_left(const contraction_kernels& kernel, const left_operand& a, int64 row0, int rows, int padded, int64 k0,
                      int count, float* to) {
  if (a.rows) return kernel.pack(a.rows + row0 * a.stride + k0, a.stride, rows, count, to, padded);
  if (rows == 1 && padded == 1) return a.fill(a.context, row0, 1, k0, count, to, count);
  float* room = scratch_of_thread().filled.floats(14 * chunk);
  a.fill(a.context, row0, rows, k0, count, room, chunk);
  kernel.pack(room, chunk, rows, count, to, padded);
}

/// Multiply-adds below which a thread is not worth waking.
inline constexpr int64 least_share = 1 << 17;

constexpr int64 grain_for(int64 work_of_one) { return work_of_one >= least_share ? 1 : least_share / (work_of_one + 1) + 1; }

/// Up to few_most rows: A in the shape (K, padded), groups side by side, at the speed of memory.
inline void contract_few(const contraction_kernels& kernel, int64 M, view<product> all, const left_operand& a, pool& threads) {
  const int64 depth = all[0].b[0].k;
  const int rows = static_cast<int>(M), padded = few_padded(rows);
  const bool in_place = rows == 1 && a.rows;
  const bool each_for_itself = !in_place && depth * padded <= 16384;
  const float* packed = in_place ? a.rows : nullptr;
  const auto pack_chunks = [&](float* to, int64 begin, int64 end) {
    for (int64 i = begin; i < end; ++i) {
      const int64 k0 = i * chunk;
      pack_left(kernel, a, 0, rows, padded, k0, static_cast<int>(depth - k0 < chunk ? depth - k0 : chunk), to + k0 * padded);
    }
  };
  const int64 chunks = (depth + chunk - 1) / chunk;
  if (!in_place && !each_for_itself) {
    float* shared = scratch_of_thread().left.floats(depth * padded);
    threads.parallel(chunks, [&](int64 begin, int64 end, int) { pack_chunks(shared, begin, end); });
    packed = shared;
  }
  int64 count = 0;  // groups of all products, one behind the other
  size_t heads = 1;
  for (const product& p : all) {
    count += groups(p.b[0].n);
    heads = p.b.size() > heads ? p.b.size() : heads;
  }
  const int64 unit = count >= 8 * threads.threads() ? 4 : 1;
  const int64 wide = 32 / padded;  // groups in a tile
  int64 turn = count / (8 * threads.threads()) / unit * unit;
  turn = turn < unit ? unit : turn;
  if (turn > wide) turn = wide;
  std::atomic<int64> next{0};  // threads take turns, so that one which is held up does not hold up all
  threads.parallel(
      (count + unit - 1) / unit,
      [&](int64, int64, int) {
        thread_scratch& own = scratch_of_thread();
        const float* x = packed;
        if (each_for_itself) {
          float* mine = own.left.floats(depth * padded);
          pack_chunks(mine, 0, chunks);
          x = mine;
        }
        const int64 between = wide * group_rows * padded;
        float* const tile = own.tile.floats(between * static_cast<int64>(heads));
        for (int64 turns; (turns = next.fetch_add(turn, std::memory_order_relaxed)) < count;) {
          int64 first = 0;  // group of the product
          for (const product& p : all) {
            const int64 own_groups = groups(p.b[0].n), begin = turns > first ? turns - first : 0;
            const int64 end = turns + turn - first < own_groups ? turns + turn - first : own_groups;
            first += own_groups;
            if (begin >= end) continue;
            const int64 some = end - begin, column = begin * group_rows;
            for (size_t h = 0; h < p.b.size(); ++h)
              kernel.few(p.b[h], column, some, padded, x, tile + static_cast<int64>(h) * between, some * group_rows);
            const int64 columns = p.b[0].n - column < some * group_rows ? p.b[0].n - column : some * group_rows;
            deliver(kernel, p.c, 0, rows, column, columns, tile, some * group_rows, between);
          }
        }
      },
      grain_for(unit * group_rows * depth * rows));
}

/// Any number of rows: A packed in panels of tile_rows rows, blocks of about 112 rows by one group. With rows enough,
/// threads share blocks and each packs its own; else they pack together and share groups. Rows of a result are written
/// as they are finished, a sink gets up to 256 columns.
inline void contract_blocks(const contraction_kernels& kernel, int64 M, const product& of, const left_operand& a, pool& threads) {
  const panel_source& b = of.b[0];
  const contraction_result& c = of.c;
  const int tile = kernel.tile_rows;
  const int64 all = groups(b.n), chunks = (b.k + chunk - 1) / chunk, panels = (M + tile - 1) / tile;
  int64 most = 112 / tile;  // panels in a block, packed within 1 MiB of the second-level cache where K allows
  while (most * tile > 56 && most * tile * b.k > (int64{1} << 18)) --most;
  int64 blocks = (panels + most - 1) / most;
  const bool by_blocks = panels * tile >= 56 * threads.threads();
  if (by_blocks) blocks = (blocks + threads.threads() - 1) / threads.threads() * threads.threads();
  if (blocks > panels) blocks = panels;

  const auto pack = [&](int64 panel, int64 i, float* to) {  // chunk i of a panel
    const int64 r = panel * tile, k0 = i * chunk;
    const int rows = static_cast<int>(M - r < tile ? M - r : tile), padded = padded_panel(rows);
    const int count = static_cast<int>(b.k - k0 < chunk ? b.k - k0 : chunk);
    pack_left(kernel, a, r, rows, padded, k0, count, to + k0 * padded);
  };
  const int64 wide = c.rows ? 1 : by_blocks || blocks * all >= 32 * threads.threads() ? 8 : 1;  // groups in a tile
  const int64 spans = (all + wide - 1) / wide;
  const auto row_of = [&](int64 block) { return panels * block / blocks * tile < M ? panels * block / blocks * tile : M; };
  const auto multiply = [&](int64 block, int64 span, const float* packed) {
    thread_scratch& own = scratch_of_thread();
    const int64 r0 = row_of(block), r1 = row_of(block + 1);
    const int64 first = span * wide, last = first + wide < all ? first + wide : all, width = (last - first) * group_rows;
    const int64 between = (panels / blocks + 1) * tile * width;
    float* const total = own.tile.floats(between * static_cast<int64>(of.b.size()));
    float* const room = own.right.floats(chunk * group_rows);
    for (size_t h = 0; h < of.b.size(); ++h)
      for (int64 g = first; g < last; ++g) {
        float* const at = total + static_cast<int64>(h) * between + (g - first) * group_rows;
        block_memory to{at, width, at, width};
        if (c.rows) to.result = c.rows + r0 * c.stride + g * group_rows, to.result_stride = c.stride;
        kernel.block(of.b[h], g * group_rows, r1 - r0, packed, to, room);
      }
    if (c.sink) {
      const int64 column = first * group_rows, columns = b.n - column < width ? b.n - column : width;
      c.sink(c.context, r0, static_cast<int>(r1 - r0), column, static_cast<int>(columns), total, width, between);
    }
  };

  if (by_blocks) {
    threads.parallel(
        blocks,
        [&](int64 begin, int64 end, int) {
          for (int64 block = begin; block < end; ++block) {
            const int64 first = panels * block / blocks, last = panels * (block + 1) / blocks;
            float* packed = scratch_of_thread().left.floats((panels / blocks + 1) * tile * b.k);
            for (int64 p = first; p < last; ++p)
              for (int64 i = 0; i < chunks; ++i) pack(p, i, packed + (p - first) * tile * b.k);
            for (int64 span = 0; span < spans; ++span) multiply(block, span, packed);
          }
        },
        grain_for((panels / blocks + 1) * tile * b.n * b.k));
    return;
  }
  float* packed = scratch_of_thread().left.floats(panels * tile * b.k);
  threads.parallel(
      panels * chunks,
      [&](int64 begin, int64 end, int) {
        for (int64 i = begin; i < end; ++i) pack(i / chunks, i % chunks, packed + i / chunks * tile * b.k);
      },
      grain_for(tile * chunk * 4));
  threads.parallel(
      blocks * spans,
      [&](int64 begin, int64 end, int) {
        for (int64 i = begin; i < end; ++i) multiply(i / spans, i % spans, packed + panels * (i / spans) / blocks * tile * b.k);
      },
      grain_for((panels / blocks + 1) * tile * wide * group_rows * b.k));
}

inline void contract(int64 M, view<product> all, const left_operand& a, pool& threads) {
  if (M <= 0) return;
  const contraction_kernels& kernel = current_contraction_kernels();
  bool few = M <= kernel.few_most;
  for (const product& p : all)
    for (const panel_source& b : p.b) few = few && b.equal_groups();
  if (few) return contract_few(kernel, M, all, a, threads);
  for (const product& p : all)
    if (p.b[0].n > 0) contract_blocks(kernel, M, p, a, threads);
}

}  // namespace detail

/// C[M, b.n] = A[M, b.k] · b, with b where it lies: `source_of` names the forms.
inline void contract(int64 M, const panel_source& b, const left_operand& a, const contraction_result& c,
                     pool& threads = shared_pool()) {
  const product one{{&b, 1}, c};
  detail::contract(M, {&one, 1}, a, threads);
}

/// C[M, w.n] = A[M, w.k] · w.
inline void contract(int64 M, const weights& w, const left_operand& a, const contraction_result& c,
                     pool& threads = shared_pool()) {
  contract(M, source_of(w), a, c, threads);
}

/// Several contractions of one A, b.k deep each, in one loop where the rows are few.
inline void contract(int64 M, view<product> all, const left_operand& a, pool& threads = shared_pool()) {
  detail::contract(M, all, a, threads);
}

/// Calls item(i) for i in 0 … count, each of which calls `contract` with the same pool: a batch of products of
/// `work_of_one` multiply-adds. Threads share the items where these are many or small, else the inside of each.
template <class Item>
void contract_each(int64 count, int64 work_of_one, Item&& item, pool& threads = shared_pool()) {
  const bool share = count >= 4 * threads.threads() || work_of_one < 2 * threads.threads() * detail::least_share;
  if (!share) {
    for (int64 i = 0; i < count; ++i) item(i);
    return;
  }
  threads.parallel(
      count,
      [&](int64 begin, int64 end, int) {
        for (int64 i = begin; i < end; ++i) item(i);
      },
      detail::grain_for(work_of_one));
}

}  // namespace poot::run::host
