#pragma once
/// Tiles of a matrix product, each computed by one invocation from what it reads itself: for processors, whose invocations
/// have a cache each and no faster memory to share, and for operands that do not lie in whole blocks.
///
///   [rows, columns] of the result; rows and columns beyond its end read the last ones and are not stored
///   a[m, k]         `depth` elements along K for each row
///   b[n, k]         `depth` elements along K for each column
///   b[k, n]         `columns` elements along N for each of `depth` k
///   packed b[n, k]  16 codes along K for each column, scale by scale

#include <poot/kernel/decode.hpp>
#include <poot/kernel/matrix.hpp>

namespace poot::kernel {

class tile_code : matrix_code {
 public:
  using matrix_code::matrix_code;

  /// How many tiles there are.
  constexpr word count() { return tiles(rows_, columns_); }

  /// Tile `i`.
  constexpr void build(word i) {
    const uint32 head = part_.heads[0];
    const word across = shape_.product(head, n_, n_ + 1, columns_), down = shape_.product(head, m_, m_ + 1, rows_);
    first_column_ = i % across * word(columns_);
    first_row_ = i / across % down * word(rows_);
    locate_matrices(i / across / down);
    compute();
  }
  /// Run `i` of the only row, by a workgroup: invocations take its tiles in turn.
  constexpr void build_run(word i) {
    first_row_ = 0u;
    locate_matrices(0u);
    first_of_run_ = i * word(kept_->columns());
    k_.for_(k_.lane() * word(columns_), kept_->columns(), k_.so_far().workgroup * columns_, [&](word column) {
      first_column_ = first_of_run_ + column;
      compute();
    });
    kept_->reduce(i);
  }

 private:
  constexpr void compute() {
    vec<chunked_sums> sums;
    for (uint32 each : part_.heads) {
      take(each);
      k_.note(each);
      sums.push_back(chunked_sums(k_, g_[each].sum, rows_ * columns_));
      sum(sums.back());
    }
    store(sums, rows_, columns_);
  }

  constexpr void sum(chunked_sums& sums) {
    const auto narrow = [&](uint32 id) { return elements_per_word(g_.type(id).element) == 2; };
    const uint32 wanted = narrow(a_) || (transposed_ && narrow(b_)) ? 8 : 4;
    depth_ = detail::divides_row(wanted, g_.type(a_)) ? wanted : detail::divides_row(4, g_.type(a_)) ? 4 : 1;
    const word length = shape_.extent_of(a_, g_.type(a_).rank - 1);
    vec<word> a, b;  // where the row of each row, and of each column, begins
    for (uint32 r = 0; r < rows_; ++r) a.push_back(row_of_a(last_of(m_, first_row_ + word(r), rows_)));
    for (uint32 c = 0; c < (transposed_ ? columns_ : 1); ++c)
      b.push_back(row_of_b(transposed_ ? last_of(n_, first_column_ + word(c), columns_) : word(0u)));
    if (packed_) sum_packed(sums, length, a, b);
    else sum_matrices(sums, length, a, b);
  }

  constexpr void sum_matrices(chunked_sums& sums, word length, const vec<word>& a, const vec<word>& b) {
    const word step = transposed_ ? word(1u) : shape_.stride(b_, g_.type(b_).rank - 2);
    const bool lies_in_runs = detail::divides_row(columns_, g_.type(b_));
    sums.run(length, [&](word first, word end) {
      k_.for_(first, end, depth_, [&](word k) {
        vec<vec<number>> x, y;  // x[row][k], y[column][k] or y[k][column]
        for (uint32 r = 0; r < rows_; ++r) x.push_back(values_of_a(a[r] + k, depth_));
        if (transposed_)
          for (uint32 c = 0; c < columns_; ++c) y.push_back(code_.load_numbers(b_, b[c] + k, depth_, true));
        else
          for (uint32 d = 0; d < depth_; ++d) y.push_back(row_values(b[0] + (k + word(d)) * step, lies_in_runs));
        for (uint32 d = 0; d < depth_; ++d)
          for (uint32 r = 0; r < rows_; ++r)
            for (uint32 c = 0; c < columns_; ++c) sums.take(r * columns_ + c, x[r][d], transposed_ ? y[c][d] : y[d][c]);
      });
    });
  }
  /// The values of a row of b[k, n] in the columns of the tile.
  constexpr vec<number> row_values(word row, bool aligned) {
    if (aligned) return code_.load_numbers(b_, row + first_column_, columns_, true);
    vec<number> out;
    for (uint32 c = 0; c < columns_; ++c) out.push_back(code_.load_numbers(b_, row + last_of(n_, first_column_ + word(c), columns_), 1, true)[0]);
    return out;
  }

  /// K is a whole number of blocks, and a chunk a whole number of scales.
  constexpr void sum_packed(chunked_sums& sums, word length, const vec<word>& a, const vec<word>& b) {
    const dtype format = g_.type(b_).element;
    packed_reader weights(k_, code_.input(b_), format);
    const uint32 elements = poot::row(format).block_elements, shared = elements_per_scale(format);
    sums.run(length, [&](word first, word end) {
      k_.for_(first, end, shared, [&](word k) {
        vec<word> block, index;
        vec<number> scale, offset;
        for (uint32 c = 0; c < columns_; ++c) {
          const word at = b[c] + k;
          block.push_back(at / word(elements) * word(poot::row(format).block_bytes));
          index.push_back(at % word(elements));
          scale.push_back(weights.scale(block[c], index[c]));
          if (has_offset(format)) offset.push_back(weights.offset(block[c], index[c]));
        }
        k_.for_(0u, shared, 16u, [&](word j) {
          vec<vec<number>> y;
          for (uint32 c = 0; c < columns_; ++c) {
            y.push_back(weights.codes(block[c], index[c] + j));
            for (number& code : y[c]) code = has_offset(format) ? add(mul(scale[c], code), offset[c]) : mul(scale[c], code);
          }
          for (uint32 part = 0; part < 16; part += 4) {
            vec<vec<number>> x;
            for (uint32 r = 0; r < rows_; ++r) x.push_back(values_of_a(a[r] + (k + j + word(part)), 4));
            for (uint32 d = 0; d < 4; ++d)
              for (uint32 r = 0; r < rows_; ++r)
                for (uint32 c = 0; c < columns_; ++c) sums.take(r * columns_ + c, x[r][d], y[c][part + d]);
          }
        });
      });
    });
  }

  uint32 depth_ = 1;
};

}  // namespace poot::kernel
