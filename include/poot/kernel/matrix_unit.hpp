#pragma once
/// A product that the matrix units of a GPU compute, alone in its dispatch.
///
///   a[m, k] · b[k, n], or b[n, k]      bf16 or f16; M, N and K are multiples of 16; batch axes broadcast
///   a_staged[64][5 quads]              32 elements along K of 64 rows, as they lie in memory; the fifth quad is room between rows
///   b_staged[64][5 quads]              the same of 64 columns; b[k, n] is turned, 8 elements along K for 2 columns at a time
///   sums[4][4][16][16]                 f32: the 64 × 64 results of a workgroup, tile by tile; each of 4 subgroups made 2 × 2 tiles
///
/// Rows and columns beyond the end read the last ones and are not stored. Where K ends within a stage, the second half of the
/// stage is left out.

#include <poot/ir/matrix_unit.hpp>
#include <poot/kernel/fragments.hpp>
#include <poot/kernel/matrix.hpp>

namespace poot::kernel {

class matrix_unit_code : matrix_code {
  using tile = ir::matrix_unit_tile;
  static_assert(tile::side == fragment_side);

 public:
  constexpr matrix_unit_code(builder& k, const program_view& p, region_code& code, const fuse::contraction_part& part)
      : matrix_code(k, p, code, part, nullptr, nullptr), workgroup_(k.so_far().workgroup) {}

  constexpr void build() {
    k_.count_groups();
    a_staged_ = k_.shares("a_staged", type::quad, tile::rows * tile::row_quads);
    b_staged_ = k_.shares("b_staged", type::quad, tile::columns * tile::row_quads);
    sums_ = k_.shares("sums", type::number, tile::rows * tile::columns);
    const word count = tiles(tile::rows, tile::columns), i = k_.group();
    k_.count_work(count);
    k_.if_(below(i, count), [&] {
      const word over = shape_.product(head_, n_, n_ + 1, tile::columns), under = shape_.product(head_, m_, m_ + 1, tile::rows);
      first_column_ = i % over * word(tile::columns);
      first_row_ = i / over % under * word(tile::rows);
      locate_matrices(i / over / under);
      k_.note(head_);
      multiply();
      k_.barrier();
      store();
    });
  }

 private:
  static constexpr uint32 across = 2;  ///< tiles of a subgroup along each axis

  constexpr void multiply() {
    const opcode unit = g_.type(a_).element == dtype::bf16 ? opcode::mma_bf16 : opcode::mma_f16;
    const word length = shape_.extent_of(a_, g_.type(a_).rank - 1);
    const word row = k_.subgroup() / 2u * word(across * tile::side), column = k_.subgroup() % 2u * word(across * tile::side);
    vec<variable<fragment<type::sums>>> sums;
    for (uint32 t = 0; t < across * across; ++t) sums.push_back(k_.declare(k_.no_sums()));
    k_.for_(0u, length, tile::depth, [&](word k) {
      stage_rows(a_staged_, side::left, k, length);
      if (transposed_) stage_rows(b_staged_, side::right, k, length);
      else stage_turned(k, length);
      k_.barrier();
      for (uint32 half = 0; half < tile::depth / tile::side; ++half)
        k_.if_(half == 0 ? flag(true) : below(k + word(half * tile::side), length), [&] {
          vec<fragment<type::left>> left;
          vec<fragment<type::right>> right;
          for (uint32 t = 0; t < across; ++t) {
            left.push_back(k_.load_fragment<type::left>(a_staged_, place(row + word(t * tile::side), 2 * half), tile::row_quads));
            right.push_back(k_.load_fragment<type::right>(b_staged_, place(column + word(t * tile::side), 2 * half), tile::row_quads));
          }
          for (uint32 t = 0; t < across * across; ++t)
            k_.assign(sums[t], k_.multiply_add(unit, left[t / across], right[t % across], k_.read(sums[t])));
        });
      k_.barrier();
    });
    for (uint32 t = 0; t < across * across; ++t)
      k_.store_fragment(sums_, place_of_sums(row + word(t / across * tile::side), column + word(t % across * tile::side)), k_.read(sums[t]));
  }

  /// Where quad `q` of a staged row lies, and element [row, column] of the results.
  static constexpr word place(word row, word q) { return row * word(tile::row_quads) + q; }
  static constexpr word place_of_sums(word row, word column) {
    constexpr uint32 side = tile::side, area = side * side;
    return (row / word(side) * word(tile::columns / side) + column / word(side)) * word(area) + row % word(side) * word(side) + column % word(side);
  }

  /// Calls `write(unit)` for each of `count` units of work, a workgroup's invocations side by side.
  template <class Write>
  constexpr void each_unit(uint32 count, Write write) {
    for (uint32 first = 0; first < count; first += workgroup_) {
      const word unit = k_.lane() + word(first);
      k_.if_(first + workgroup_ <= count ? flag(true) : below(unit, count), [&] { write(unit); });
    }
  }

  enum class side : uint8 { left, right };  // one value may stand on both

  constexpr word inside(int axis, word wanted, uint32 run) const {
    const word last = shape_.extent_of(head_, axis) - word(run);
    return select(below(last, wanted), last, wanted);
  }

  /// 32 elements from `k` on of each row: 4 quads.
  constexpr void stage_rows(shared_id to, side of, word k, word length) {
    constexpr uint32 quads = tile::depth / 8;
    const bool is_left = of == side::left;
    each_unit((is_left ? tile::rows : tile::columns) * quads, [&](word unit) {
      const word row = unit / word(quads), q = unit % word(quads), from_k = k + q * 8u;
      const word begin = is_left ? row_of_a(inside(m_, first_row_ + row, 1)) : row_of_b(inside(n_, first_column_ + row, 1));
      k_.if_(below(from_k, length), [&] { k_.store(to, place(row, q), k_.load_quad(code_.input(is_left ? a_ : b_), (begin + from_k) / 8u)); });
    });
  }

  /// The same of b[k, n]: a word of 8 rows along K holds two columns.
  constexpr void stage_turned(word k, word length) {
    constexpr uint32 pairs = tile::columns / 2;
    const word step = shape_.stride(b_, g_.type(b_).rank - 2), matrix = matrix_of(b_);
    each_unit(pairs * (tile::depth / 8), [&](word unit) {
      const word column = unit % word(pairs) * 2u, q = unit / word(pairs), from_k = k + q * 8u;
      const word from = matrix + from_k * step + inside(n_, first_column_ + column, 2);
      k_.if_(below(from_k, length), [&] {
        word low[4], high[4];
        for (uint32 pair = 0; pair < 4; ++pair) {
          const word first = k_.load(code_.input(b_), (from + word(2 * pair) * step) / 2u), second = k_.load(code_.input(b_), (from + word(2 * pair + 1) * step) / 2u);
          low[pair] = (first & 0xffffu) | (second << 16u);
          high[pair] = (first >> 16u) | (second & 0xffff0000u);
        }
        k_.store(b_staged_, place(column, q), k_.join(low));
        k_.store(b_staged_, place(column + 1u, q), k_.join(high));
      });
    });
  }

  /// Rounds the results to their type, 8 of a row at a time.
  constexpr void store() {
    constexpr uint32 run_length = 8, runs = tile::columns / run_length, count = tile::rows * runs;
    const word rows = shape_.extent_of(head_, m_), columns = shape_.extent_of(head_, n_);
    k_.for_(k_.lane(), count, workgroup_, [&](word unit) {
      const word row = unit / word(runs), column = unit % word(runs) * word(run_length), m = first_row_ + row, n = first_column_ + column;
      k_.if_(below(m, rows) & below(n, columns), [&] {
        const word start = (batch_ * rows + m) * columns, from = place_of_sums(row, column);
        element_run run{{}, true, true};
        for (uint32 c = 0; c < run_length; ++c) {
          position at = outer_;
          at.at[m_] = m;
          at.at[n_] = n + word(c);
          at.flat = start + at.at[n_];
          run.at.push_back(at);
        }
        compute_run(k_, code_, to_, space_, run, run.at[0].flat, [&](uint32 c) {
          code_.fix(head_, round_to(g_.type(head_).element, k_.load<number>(sums_, from + word(c))));
        });
      });
    });
  }

  uint32 workgroup_;
  shared_id a_staged_{}, b_staged_{}, sums_{};
};

constexpr kernel matrix_unit_kernel(const program_view& p, const launch& l) {
  const auto subgroup = static_cast<uint32>(p.planned_for.caps.subgroup);
  builder k("matrix_unit", ir::matrix_unit_tile::subgroups * subgroup);
  k.take_subgroups(subgroup);
  region_code code(k, p, l);
  const fuse::contraction_parts all = fuse::parts_of(p.graph, code.members());
  matrix_unit_code(k, p, code, all.parts[0]).build();
  return k.finish();
}

}  // namespace poot::kernel
