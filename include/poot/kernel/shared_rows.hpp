#pragma once
/// The rows that the products of a contraction region read, computed by each workgroup into its shared memory. What others read of
/// them, or of what makes them, the first workgroup stores.
///
///   rows[r][c]: the left operand as f32, each element rounded to its own type before; quads where the columns are whole ones

#include <poot/kernel/row_code.hpp>

namespace poot::kernel {

class shared_rows {
 public:
  /// `members` make value `left`, which has the extents of the row region.
  constexpr shared_rows(builder& k, region_code& code, view<uint32> members, uint32 left)
      : k_(k), code_(code), left_(left), one_(k, code, members), each_(detail::divides_row(4, one_.space()) ? 4 : 1) {
    const int64 elements = one_.space().element_count(), size = (elements + each_ - 1) / each_;
    rows_ = k.shares("rows", each_ == 4 ? type::quad : type::word, static_cast<uint32>(size > 0 ? size : 1));
  }

  /// To be called by all invocations of every workgroup, before anything reads the rows.
  constexpr void compute() {
    const word count = code_.shape().product(left_, 0, one_.space().rank - 1);
    if (count.is_literal()) return compute_row(0u);
    k_.for_(0u, count, 1u, [&](word row) { compute_row(row); });
  }

  constexpr word columns() const { return one_.columns(); }
  /// `count` elements from number `first` on, both multiples of 4 where the columns are.
  constexpr vec<number> load(word first, uint32 count) const {
    vec<number> out;
    for (uint32 j = 0; j < count; j += each_) {
      if (each_ == 1) {
        out.push_back(from_bits(k_.load<word>(rows_, first + word(j))));
        continue;
      }
      const quad four = k_.load<quad>(rows_, first / 4u + word(j / 4));
      for (uint32 c = 0; c < 4; ++c) out.push_back(from_bits(k_.part(four, c)));
    }
    return out;
  }

 private:
  constexpr void compute_row(word row) {
    one_.reduce(row);
    const word runs = columns() / word(each_), first = row * runs;
    const auto store_run = [&](word run) {
      word bits[4];
      uint32 filled = 0;
      one_.each_in_run({&left_, 1}, run * word(each_), each_, [&](const position& at) {
        bits[filled++] = to_bits(value_of(code_.get(left_, one_.space(), at)));
      });
      if (each_ == 1) k_.store(rows_, first + run, bits[0]);
      else k_.store(rows_, first + run, k_.join(bits));
    };
    if (runs.is_literal()) k_.if_(same(k_.lane(), 0u), [&] { store_run(0u); });  // rows of one element
    else k_.for_(k_.lane(), runs, k_.so_far().workgroup, store_run);
    if (one_.has_outputs()) k_.if_(same(k_.group(), 0u), [&] { one_.store(); });
    k_.barrier();
  }

  builder& k_;
  region_code& code_;
  uint32 left_;
  row_code one_;
  uint32 each_;  ///< elements that lie together
  shared_id rows_{};
};

}  // namespace poot::kernel
