#pragma once
/// Tiles of a matrix product: what one invocation computes.
///
///   [rows, columns] of the result; rows and columns beyond its end read the last ones and are not stored
///   a[m, k]         `depth` elements along K for each row
///   b[n, k]         `depth` elements along K for each column
///   b[k, n]         `columns` elements along N for each of `depth` k
///   packed b[n, k]  16 codes along K for each column, scale by scale
///
/// How large a tile is follows the most rows and columns that there can be, and what stands behind the product; results do
/// not depend on it.

#include <poot/kernel/decode.hpp>
#include <poot/kernel/store.hpp>

namespace poot::kernel {

/// Several sums of products at once, in the order of their equation.
class chunked_sums {
 public:
  constexpr chunked_sums(builder& k, ir::order o, uint32 count) : k_(k), chunk_(o.chunk ? o.chunk : 256), fused_(o.fused) {
    for (uint32 i = 0; i < count; ++i) totals_.push_back(k.declare(number(0.0f)));
  }

  /// `terms(first, end)` takes the products of a chunk. Chunks begin at multiples of their length.
  template <class Terms>
  constexpr void run(word n, Terms terms) {
    k_.for_(0u, n, chunk_, [&](word first) {
      partials_.clear();
      for (size_t i = 0; i < totals_.size(); ++i) partials_.push_back(k_.declare(number(0.0f)));
      const word past = first + word(chunk_), end = select(below(n, past), n, past);
      terms(first, end);
      for (size_t i = 0; i < totals_.size(); ++i) {
        const number before = k_.read(totals_[i]);
        k_.assign(totals_[i], add(before, k_.read(partials_[i])));
      }
    });
  }
  constexpr void take(uint32 i, number x, number y) {
    const number before = k_.read(partials_[i]);
    k_.assign(partials_[i], fused_ ? fma(x, y, before) : add(before, mul(x, y)));
  }
  constexpr number result(uint32 i) { return k_.read(totals_[i]); }

 private:
  builder& k_;
  uint32 chunk_;
  bool fused_;
  vec<variable<number>> totals_, partials_;
};

class tile_code {
 public:
  constexpr tile_code(builder& k, const program_view& p, region_code& code, uint32 head)
      : k_(k), g_(p.graph), code_(code), shape_(code.shape()), head_(head), e_(g_[head]), a_(g_.operands(e_)[0]), b_(g_.operands(e_)[1]),
        indexed_(g_.operands(e_).size() == 3), packed_(is_packed(g_.type(b_).element)), m_(e_.type.rank - 2), n_(e_.type.rank - 1) {
    const view<int64> attrs = g_.attrs(e_);
    transposed_ = indexed_ || packed_ || (!attrs.empty() && attrs[0] != 0);
    choose_size();
  }

  constexpr void build() {
    const word tiles = k_.meta({meta_word::what::tiles, head_, 0, e_.type.rank, columns_, rows_}), i = k_.invocation();
    k_.if_(below(i, tiles), [&] {
      const word across = shape_.product(head_, n_, n_ + 1, columns_), down = shape_.product(head_, m_, m_ + 1, rows_);
      first_column_ = i % across * word(columns_);
      first_row_ = i / across % down * word(rows_);
      batch_ = i / across / down;
      word rest = batch_;
      for (int axis = m_ - 1; axis >= 0; --axis) {
        const word e = shape_.extent_of(head_, axis);
        outer_.at[axis] = axis ? rest % e : rest;
        rest = rest / e;
      }
      k_.note(head_);
      chunked_sums sums(k_, e_.sum, rows_ * columns_);
      const word length = shape_.extent_of(a_, g_.type(a_).rank - 1);
      vec<word> a, b;  // where the row of each row, and of each column, begins
      for (uint32 r = 0; r < rows_; ++r) a.push_back(row_of_a(last_of(m_, first_row_ + word(r), rows_)));
      for (uint32 c = 0; c < (transposed_ ? columns_ : 1); ++c)
        b.push_back(row_of_b(transposed_ ? last_of(n_, first_column_ + word(c), columns_) : word(0u)));
      if (packed_) sum_packed(sums, length, a, b);
      else sum_matrices(sums, length, a, b);
      store(sums);
    });
  }

 private:
  constexpr void choose_size() {
    const int64 rows = e_.type.extents[m_].bound(), columns = e_.type.extents[n_].bound();
    const size_t steps = code_.members().size() - 1;
    uint32 most = packed_ ? 16 : 64;  // results: the text of the steps behind the product is written for each
    if (steps > 4) most = 32;
    if (steps > 10) most = 16;
    rows_ = indexed_ || rows <= 1 ? 1 : rows <= 2 ? 2 : rows <= 4 || packed_ ? 4 : 8;
    columns_ = rows_ == 1 || packed_ ? 4 : 8;
    while (columns_ > 1 && columns_ / 2 >= columns) columns_ /= 2;
    while (rows_ > 1 && rows_ * columns_ > most) rows_ /= 2;
    const auto narrow = [&](uint32 id) { return elements_per_word(g_.type(id).element) == 2; };
    const uint32 wanted = narrow(a_) || (transposed_ && narrow(b_)) ? 8 : 4;
    depth_ = detail::divides_row(wanted, g_.type(a_)) ? wanted : detail::divides_row(4, g_.type(a_)) ? 4 : 1;
  }

  /// Index `i` along an axis, or the last one where tiles reach beyond it.
  constexpr word last_of(int axis, word i, uint32 tile) {
    const extent e = e_.type.extents[axis];
    if (tile == 1 || (!e.is_dynamic() && e.code % tile == 0)) return i;
    const word last = shape_.extent_of(head_, axis) - 1u;
    return select(below(last, i), last, i);
  }

  /// Where the matrix of `x` that belongs to this tile begins: its batch axes broadcast.
  constexpr word matrix_of(uint32 x) {
    const tensor_type& t = g_.type(x);
    word base = is_packed(t.element) ? word(0u) : shape_.offset(x);
    for (int i = 0; i < t.rank - 2; ++i)
      if (t.extents[i] != extent(1)) base = base + outer_.at[i + e_.type.rank - t.rank] * shape_.stride(x, i);
    return base;
  }
  constexpr word row_of_a(word m) {
    if (indexed_) return shape_.offset(a_) + m * shape_.stride(a_, 0);
    return matrix_of(a_) + m * shape_.stride(a_, g_.type(a_).rank - 2);
  }
  constexpr word row_of_b(word n) {
    if (!indexed_) return matrix_of(b_) + n * shape_.stride(b_, g_.type(b_).rank - 2);
    return shape_.offset(b_) + expert(first_row_) * shape_.stride(b_, 0) + n * shape_.stride(b_, g_.type(b_).rank - 2);
  }
  /// The expert of row `m`, moved inside.
  constexpr word expert(word m) {
    const uint32 index = g_.operands(e_)[2];
    const word chosen = load_element(k_, code_.input(index), dtype::i32, m + shape_.offset(index)).bits;
    return moved_inside(chosen, shape_.extent_of(b_, 0));
  }

  /// `count` consecutive values of an operand from a multiple of `count` on.
  constexpr vec<number> values(uint32 id, word first, uint32 count, bool aligned) {
    vec<number> out;
    const dtype t = g_.type(id).element;
    for (const scalar& x : code_.load_elements(code_.input(id), t, first, count, aligned && shape_.offset(id).is_literal()))
      out.push_back(value_of(x));
    return out;
  }

  constexpr void sum_matrices(chunked_sums& sums, word length, const vec<word>& a, const vec<word>& b) {
    const word step = transposed_ ? word(1u) : shape_.stride(b_, g_.type(b_).rank - 2);
    const bool lies_in_runs = detail::divides_row(columns_, g_.type(b_));
    sums.run(length, [&](word first, word end) {
      k_.for_(first, end, depth_, [&](word k) {
        vec<vec<number>> x, y;  // x[row][k], y[column][k] or y[k][column]
        for (uint32 r = 0; r < rows_; ++r) x.push_back(values(a_, a[r] + k, depth_, true));
        if (transposed_)
          for (uint32 c = 0; c < columns_; ++c) y.push_back(values(b_, b[c] + k, depth_, true));
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
    if (aligned) return values(b_, row + first_column_, columns_, true);
    vec<number> out;
    for (uint32 c = 0; c < columns_; ++c) out.push_back(values(b_, row + last_of(n_, first_column_ + word(c), columns_), 1, true)[0]);
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
            for (uint32 r = 0; r < rows_; ++r) x.push_back(values(a_, a[r] + (k + j + word(part)), 4, true));
            for (uint32 d = 0; d < 4; ++d)
              for (uint32 r = 0; r < rows_; ++r)
                for (uint32 c = 0; c < columns_; ++c) sums.take(r * columns_ + c, x[r][d], y[c][part + d]);
          }
        });
      });
    });
  }

  constexpr void store(chunked_sums& sums) {
    output_list to;
    for (size_t o = 0; o < code_.outputs().size(); ++o) to.add(g_, code_.outputs()[o], code_.output(o));
    const bool whole = detail::divides_row(columns_, e_.type) && columns_ % to.pack == 0;
    const word rows = shape_.extent_of(head_, m_), columns = shape_.extent_of(head_, n_);
    for (uint32 r = 0; r < rows_; ++r) {
      const word m = first_row_ + word(r), start = (batch_ * rows + m) * columns;
      element_run run{{}, true, whole};
      for (uint32 c = 0; c < columns_; ++c) {
        position at = outer_;
        at.at[m_] = m;
        at.at[n_] = first_column_ + word(c);
        at.flat = start + at.at[n_];
        run.at.push_back(at);
      }
      const auto fix = [&](uint32 c) { code_.fix(head_, round_to(e_.type.element, sums.result(r * columns_ + c))); };
      k_.if_(rows_ == 1 ? flag(true) : below(m, rows), [&] {
        if (whole) return compute_run(k_, code_, to, e_.type, run, run.at[0].flat, fix);
        for (uint32 c = 0; c < columns_; ++c)
          k_.if_(columns_ == 1 ? flag(true) : below(run.at[c].at[n_], columns), [&] {
            fix(c);
            store_each(k_, code_, to, e_.type, run.at[c], run.at[c].flat);
          });
      });
    }
  }

  builder& k_;
  const ir::graph_view& g_;
  region_code& code_;
  const geometry& shape_;
  uint32 head_;
  const ir::eqn& e_;
  uint32 a_, b_;
  bool indexed_, packed_, transposed_ = false;
  int m_, n_;  ///< axes of the result
  uint32 rows_ = 1, columns_ = 1, depth_ = 1;
  word first_row_{}, first_column_{}, batch_{};
  position outer_{};  ///< the indices along the batch axes
};

}  // namespace poot::kernel
