#pragma once
/// Tiles of a matrix product computed by a workgroup from what it stages in shared memory, 32 elements along K at a time.
///
///   [down · rows, across · columns] of the result for a workgroup of down × across invocations; those beyond the result
///   read the last rows and columns and are not stored
///   a_staged[down · rows][8 quads], b_staged[across · columns][8 quads]: f32, decoded; quad q of a row lies at place
///   q ^ (row / rows of an invocation), so that invocations side by side read from different banks
///   b[k, n] is staged by blocks of 4 × 4, turned
///   a that a row prologue made lies in shared memory and is not staged
///
/// For operands whose K is a whole number of stages, and whose N is one of quads where b is not transposed.

#include <poot/core/target.hpp>
#include <poot/kernel/decode.hpp>
#include <poot/kernel/matrix.hpp>

namespace poot::kernel {

class staged_tile_code : matrix_code {
 public:
  static constexpr uint32 stage = 32, quads = stage / 4;  ///< elements along K, and the quads of them
  static constexpr uint32 workgroup = 64;

  constexpr staged_tile_code(builder& k, const program_view& p, region_code& code, const fuse::contraction_part& part, const shared_rows* rows,
                             shared_run* run)
      : matrix_code(k, p, code, part, rows, run) {
    across_ = rows_ == 1 ? workgroup : 8;
    if (rows_ == 1) columns_ = to_.pack;
    end_with_runs();
    down_ = workgroup / across_;
  }

  /// Whether the product of equation `head` has this form and the device's invocations share memory that is worth it.
  static constexpr bool takes(const program_view& p, uint32 head) {
    if (p.planned_for.caps.is_processor()) return false;
    const ir::eqn& e = p.graph[head];
    const tensor_type &a = p.graph.type(p.graph.operands(e)[0]), &b = p.graph.type(p.graph.operands(e)[1]);
    const uint32 chunk = e.sum.chunk ? e.sum.chunk : 256;
    return a.last().bound() > 0 && detail::divides_row(stage, a) && chunk % stage == 0 && (reads_b_along_k(p.graph, e) || detail::divides_row(4, b));
  }

  /// How many tiles there are, each a workgroup's.
  constexpr word count() { return tiles(down_ * rows_, across_ * columns_); }
  /// Quads that the rows of each operand take in shared memory.
  constexpr uint32 quads_of_a() const { return made_ ? 0 : down_ * rows_ * quads; }
  constexpr uint32 quads_of_b() const { return across_ * columns_ * quads; }

  /// Tile `i`, the same for all invocations of a workgroup, staged in two shared arrays.
  constexpr void build(word i, shared_id a, shared_id b) {
    const uint32 tall = down_ * rows_, wide = across_ * columns_, head = part_.heads[0];
    const word over = shape_.product(head, n_, n_ + 1, wide), under = shape_.product(head, m_, m_ + 1, tall);
    group_column_ = i % over * word(wide);
    group_row_ = i / over % under * word(tall);
    locate_matrices(i / over / under);
    compute(a, b);
  }
  /// Run `i` of the only row, which is no wider than a tile.
  constexpr void build_run(word i, shared_id a, shared_id b) {
    group_row_ = 0u;
    locate_matrices(0u);
    first_of_run_ = group_column_ = i * word(kept_->columns());
    compute(a, b);
    kept_->reduce(i);
  }

 private:
  constexpr void compute(shared_id a, shared_id b) {
    const uint32 tall = down_ * rows_, wide = across_ * columns_;
    const word lane = k_.lane(), x = lane % word(across_), y = lane / word(across_);
    first_row_ = group_row_;
    vec<chunked_sums> sums;
    for (uint32 each : part_.heads) {
      take(each);
      k_.note(each);
      sums.push_back(chunked_sums(k_, g_[each].sum, rows_ * columns_));
      sum(sums.back(), a, b, x, y);
    }
    first_row_ = group_row_ + y * word(rows_);
    first_column_ = group_column_ + x * word(columns_);
    store(sums, tall, wide);
  }

  constexpr void sum(chunked_sums& sums, shared_id a, shared_id b, word x, word y) {
    const uint32 tall = down_ * rows_, wide = across_ * columns_;
    const word lane = k_.lane(), length = shape_.extent_of(a_, g_.type(a_).rank - 1);
    vec<word> made;  // where the rows of this invocation begin, where they are not staged
    if (made_)
      for (uint32 r = 0; r < rows_; ++r) made.push_back(row_of_a(inside(m_, group_row_ + y * word(rows_) + word(r))));
    sums.run(length, [&](word first, word end) {
      k_.for_(first, end, stage, [&](word k) {
        if (!made_) stage_rows(a, side::left, rows_, tall, lane, k);
        if (transposed_) stage_rows(b, side::right, columns_, wide, lane, k);
        else stage_turned(b, wide, lane, k);
        k_.barrier();
        k_.for_(0u, quads, 1u, [&](word q) {
          vec<vec<number>> left, right;
          for (uint32 r = 0; r < rows_; ++r) left.push_back(made_ ? made_->load(made[r] + k + q * 4u, 4) : staged(a, y * word(rows_) + word(r), q, y));
          for (uint32 c = 0; c < columns_; ++c) right.push_back(staged(b, x * word(columns_) + word(c), q, x));
          for (uint32 d = 0; d < 4; ++d)
            for (uint32 r = 0; r < rows_; ++r)
              for (uint32 c = 0; c < columns_; ++c) sums.take(r * columns_ + c, left[r][d], right[c][d]);
        });
        k_.barrier();
      });
    });
  }

  /// Where quad `q` of staged row `row` lies; `owner` is the row's invocation along its axis.
  static constexpr word place(word row, word q, word owner) { return row * word(quads) + (q ^ (owner & word(quads - 1))); }

  constexpr vec<number> staged(shared_id from, word row, word q, word owner) {
    const quad four = k_.load<quad>(from, place(row, q, owner));
    vec<number> out;
    for (uint32 d = 0; d < 4; ++d) out.push_back(from_bits(k_.part(four, d)));
    return out;
  }

  enum class side : uint8 { left, right };  // one value may stand on both

  /// Element k of a row of an operand, moved to the last row where there is none.
  constexpr word row_at(side of, word row) {
    if (of == side::left) return row_of_a(inside(m_, group_row_ + row));
    return row_of_b(inside(n_, group_column_ + row));
  }
  constexpr word inside(int axis, word i) const {
    const word last = shape_.extent_of(head_, axis) - 1u;
    return select(below(last, i), last, i);
  }

  /// Stages `count` rows along K, `own` of them an invocation's: unit after unit of 4, 8 or 16 elements.
  constexpr void stage_rows(shared_id to, side of, uint32 own, uint32 count, word lane, word k) {
    const uint32 id = of == side::left ? a_ : b_;
    const dtype t = g_.type(id).element;
    const uint32 unit = is_packed(t) ? 16 : elements_per_word(t) == 2 ? 8 : 4, units = stage / unit;
    for (uint32 first = 0; first < count * units; first += workgroup) {
      const word u = lane + word(first);
      const flag works = first + workgroup <= count * units ? flag(true) : below(u, count * units);
      k_.if_(works, [&] {
        const word row = u / word(units), at = u % word(units), from = row_at(of, row) + k + at * word(unit);
        vec<number> x;
        if (is_packed(t)) {
          packed_reader reader(k_, code_.input(id), t);
          x = decode_elements(reader, t, from);
        } else {
          x = code_.load_numbers(id, from, unit, true);
        }
        put(to, row, at * word(unit / 4), row / word(own), x);
      });
    }
  }

  /// Stages b[k, n]: each unit is 4 elements along K for 4 columns.
  constexpr void stage_turned(shared_id to, uint32 count, word lane, word k) {
    const word step = shape_.stride(b_, g_.type(b_).rank - 2), matrix = row_of_b(0u);
    const uint32 blocks = count / 4;
    for (uint32 first = 0; first < blocks * quads; first += workgroup) {
      const word u = lane + word(first);
      const flag works = first + workgroup <= blocks * quads ? flag(true) : below(u, blocks * quads);
      k_.if_(works, [&] {
        const word column = u % word(blocks) * 4u, q = u / word(blocks), n = group_column_ + column;
        const word last = shape_.extent_of(head_, n_) - 4u, from = matrix + select(below(last, n), last, n);
        vec<vec<number>> x;
        for (uint32 d = 0; d < 4; ++d) x.push_back(code_.load_numbers(b_, from + (k + q * 4u + word(d)) * step, 4, true));
        for (uint32 c = 0; c < 4; ++c) put(to, column + word(c), q, (column + word(c)) / word(columns_), {x[0][c], x[1][c], x[2][c], x[3][c]});
      });
    }
  }

  constexpr void put(shared_id to, word row, word q, word owner, const vec<number>& x) {
    for (uint32 i = 0; i < x.size(); i += 4)
      k_.store(to, place(row, q + word(i / 4), owner), k_.join({to_bits(x[i]), to_bits(x[i + 1]), to_bits(x[i + 2]), to_bits(x[i + 3])}));
  }

  uint32 down_ = 1, across_ = 1;
  word group_row_{}, group_column_{};
};

}  // namespace poot::kernel
