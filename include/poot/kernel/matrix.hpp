#pragma once
/// What kernels of a matrix product share: where operands lie, how large the tile of one invocation is, and how a tile is
/// stored, with the steps behind the product.
///
/// How large a tile is follows the most rows and columns that there can be, and what stands behind the product; results do
/// not depend on it.

#include <poot/fuse/parts.hpp>
#include <poot/kernel/shared_rows.hpp>
#include <poot/kernel/shared_run.hpp>
#include <poot/kernel/sums.hpp>

namespace poot::kernel {

/// Results from which on a driver's time to compile a large tile is won back.
inline constexpr int64 large_result = 1 << 17;

/// Whether a product reads b[n, k]: weights as checkpoints keep them, packed or chosen by an index.
constexpr bool reads_b_along_k(const ir::graph_view& g, const ir::eqn& e) {
  const view<int64> attrs = g.attrs(e);
  return g.operands(e).size() == 3 || is_packed(g.type(g.operands(e)[1]).element) || (!attrs.empty() && attrs[0] != 0);
}

/// One part of a contraction region: tiles of its products, which have equal extents, and what stands behind them.
class matrix_code {
 public:
  /// `rows`: what the products read where a row prologue makes it; `run`: where a row epilogue reduces the result; else null.
  constexpr matrix_code(builder& k, const program_view& p, region_code& code, const fuse::contraction_part& part, const shared_rows* rows,
                        shared_run* run)
      : k_(k), is_processor_(p.planned_for.caps.is_processor()), g_(p.graph), code_(code), shape_(code.shape()), part_(part), made_(rows), kept_(run),
        space_(g_.type(part.heads[0])), m_(space_.rank - 2), n_(space_.rank - 1) {
    for (size_t o = 0; o < code.outputs().size(); ++o)
      if (part.holds(code.outputs()[o])) to_.add(g_, code.outputs()[o], code.output(o));
    if (run) to_.ids.push_back(run->value());
    for (uint32 head : part.heads) {
      take(head);
      any_packed_ = any_packed_ || packed_;
    }
    choose_size();
  }

 protected:
  /// The product that the following lines compute.
  constexpr void take(uint32 head) {
    head_ = head;
    const view<uint32> in = g_.operands(head);
    a_ = in[0];
    b_ = in[1];
    indexed_ = in.size() == 3;
    packed_ = is_packed(g_.type(b_).element);
    transposed_ = reads_b_along_k(g_, g_[head]);
  }

  constexpr void choose_size() {
    const int64 rows = space_.extents[m_].bound(), columns = space_.extents[n_].bound();
    const uint32 weight = text_weight(g_, part_.steps);
    uint32 most = any_packed_ ? 16 : 64;  // results: the text of the steps behind the product is written for each
    if (weight > 8) most = 32;
    if (weight > 24) most = 16;
    rows_ = indexed_ || rows <= 1 ? 1 : rows <= 2 ? 2 : rows <= 4 || any_packed_ ? 4 : 8;
    columns_ = rows_ == 1 || any_packed_ ? 4 : 8;
    while (columns_ > 1 && columns_ / 2 >= columns) columns_ /= 2;
    // few columns in whole tiles rather than many branches at their end
    while (columns_ > 1 && !detail::divides_row(columns_, space_) && columns < 64) columns_ /= 2;
    const int64 results = space_.element_count();
    // processors compile their own tiles, which are long: where few results may be there, shorter ones
    const uint32 enough = results < small_space / 2 ? 4 : is_processor_ && (results < large_result || space_.is_dynamic()) ? 16 : 64;
    if (columns_ > 4 && enough < 64) columns_ = 4;
    if (enough < most) most = enough;
    if (part_.heads.size() > 1) most = most / 2;  // sums of all products are kept until the steps behind them
    while (rows_ > 1 && rows_ * columns_ > most) rows_ /= 2;
    end_with_runs();
  }
  /// Tiles do not cross from one run to the next.
  constexpr void end_with_runs() {
    while (kept_ && kept_->columns() % columns_ != 0) columns_ /= 2;
  }

  /// Sets which matrices of the batch this tile belongs to, whose number is `batch`.
  constexpr void locate_matrices(word batch) {
    batch_ = batch;
    word rest = batch;
    for (int axis = m_ - 1; axis >= 0; --axis) {
      const word e = shape_.extent_of(head_, axis);
      outer_.at[axis] = axis ? rest % e : rest;
      rest = rest / e;
    }
  }

  /// Index `i` along an axis, or the last one where tiles reach beyond it.
  constexpr word last_of(int axis, word i, uint32 tile) {
    if (ends_with(axis, tile)) return i;
    const word last = shape_.extent_of(head_, axis) - 1u;
    return select(below(last, i), last, i);
  }

  /// Where the matrix of `x` that belongs to this tile begins: its batch axes broadcast.
  constexpr word matrix_of(uint32 x) {
    const tensor_type& t = g_.type(x);
    word base = is_packed(t.element) ? word(0u) : shape_.offset(x);
    for (int i = 0; i < t.rank - 2; ++i)
      if (t.extents[i] != extent(1)) base = base + outer_.at[i + space_.rank - t.rank] * shape_.stride(x, i);
    return base;
  }
  constexpr word row_of_a(word m) {
    if (made_) return (batch_ * shape_.extent_of(head_, m_) + m) * made_->columns();
    if (indexed_) return shape_.offset(a_) + m * shape_.stride(a_, 0);
    return matrix_of(a_) + m * shape_.stride(a_, g_.type(a_).rank - 2);
  }
  /// `count` elements of a from element `first` of its storage on, which is a multiple of `count`.
  constexpr vec<number> values_of_a(word first, uint32 count) {
    return made_ ? made_->load(first, count) : code_.load_numbers(a_, first, count, true);
  }
  constexpr word row_of_b(word n) {
    if (!indexed_) return matrix_of(b_) + n * shape_.stride(b_, g_.type(b_).rank - 2);
    return shape_.offset(b_) + expert(first_row_) * shape_.stride(b_, 0) + n * shape_.stride(b_, g_.type(b_).rank - 2);
  }
  /// The expert of row `m`, moved inside.
  constexpr word expert(word m) {
    const uint32 index = g_.operands(head_)[2];
    const word chosen = load_element(k_, code_.input(index), dtype::i32, m + shape_.offset(index)).bits;
    return moved_inside(chosen, shape_.extent_of(b_, 0));
  }

  /// Whether tiles of `tile` end where an axis of the result does.
  constexpr bool ends_with(int axis, uint32 tile) const {
    const extent e = space_.extents[axis];
    return tile == 1 || (!e.is_dynamic() && e.code % tile == 0);
  }

  /// How many tiles of `tall` × `wide` results there are: what the launch counts.
  constexpr word tiles(uint32 tall, uint32 wide) {
    return k_.meta({meta_word::what::tiles, part_.heads[0], 0, space_.rank, wide, tall});
  }

  /// Stores this invocation's part of a tile of `tall` × `wide` results, whose sums are those of each product.
  constexpr void store(vec<chunked_sums>& sums, uint32 tall, uint32 wide) {
    const bool whole = detail::divides_row(columns_, space_) && columns_ % to_.pack == 0;
    const word rows = shape_.extent_of(part_.heads[0], m_), columns = shape_.extent_of(part_.heads[0], n_);
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
      const auto fix = [&](uint32 c) {
        for (uint32 h = 0; h < sums.size(); ++h)
          code_.fix(part_.heads[h], round_to(g_.type(part_.heads[h]).element, sums[h].result(r * columns_ + c)));
      };
      const word column = kept_ ? first_column_ - first_of_run_ : word(0u);  // in the run
      const flag is_column = kept_ ? (kept_->columns() % wide == 0 ? flag(true) : below(column, kept_->columns()))
                                  : ends_with(n_, wide) ? flag(true) : below(run.at[0].at[n_], columns);
      k_.if_((ends_with(m_, tall) ? flag(true) : below(m, rows)) & is_column, [&] {
        if (whole) {
          const vec<vec<scalar>> made = compute_run(k_, code_, to_, space_, run, run.at[0].flat, fix);
          for (uint32 c = 0; kept_ && c < columns_; ++c) kept_->keep(column + word(c), made.back()[c]);
          return;
        }
        for (uint32 c = 0; c < columns_; ++c)
          k_.if_(c == 0 || ends_with(n_, columns_) ? flag(true) : below(run.at[c].at[n_], columns), [&] {
            fix(c);
            store_each(k_, code_, to_, space_, run.at[c], run.at[c].flat);
            if (kept_) kept_->keep(column + word(c), code_.get(kept_->value(), space_, run.at[c]));
          });
      });
    }
  }

  builder& k_;
  bool is_processor_;
  const ir::graph_view& g_;
  region_code& code_;
  const geometry& shape_;
  const fuse::contraction_part& part_;
  const shared_rows* made_;
  shared_run* kept_;
  output_list to_;
  tensor_type space_;  ///< of each result
  int m_, n_;          ///< its last axes
  uint32 head_ = 0, a_ = 0, b_ = 0;  ///< of the product that is computed
  bool indexed_ = false, packed_ = false, transposed_ = false, any_packed_ = false;
  uint32 rows_ = 1, columns_ = 1;  ///< of the tile of one invocation
  word first_row_{}, first_column_{}, batch_{}, first_of_run_{};
  position outer_{};  ///< the indices along the batch axes
};

}  // namespace poot::kernel
