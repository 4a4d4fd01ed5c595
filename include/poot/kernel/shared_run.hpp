#pragma once
/// A run of columns of a product's result, which a workgroup leaves in its shared memory, and the rows of a region behind the
/// product that reduce it there: one row for each run.
///
///   run[c]: bits of the result's elements, one a word

#include <poot/fuse/parts.hpp>
#include <poot/kernel/row_code.hpp>

namespace poot::kernel {

class shared_run {
 public:
  /// `runs` views a result of one row by runs; `members` reduce them.
  constexpr shared_run(builder& k, region_code& code, uint32 runs, view<uint32> members)
      : k_(k), code_(code), runs_(runs), made_(code.graph().operands(runs)[0]), columns_(static_cast<uint32>(code.graph().type(runs).last().code)),
        one_(k, code, members), run_(k.shares("run", type::word, columns_)) {}

  /// The value that is reduced: the result, or a step behind it.
  constexpr uint32 value() const { return made_; }
  /// Columns of a run.
  constexpr uint32 columns() const { return columns_; }
  constexpr word count() const { return code_.shape().product(runs_, 0, code_.graph().type(runs_).rank - 1); }

  /// Element `column` of the run.
  constexpr void keep(word column, const scalar& x) { k_.store(run_, column, x.bits); }
  /// Reduces run `number`, once this workgroup has kept its elements, and stores what comes of it. To be called by all of its
  /// invocations.
  constexpr void reduce(word number) {
    k_.barrier();
    code_.read_shared(runs_, run_);
    one_.reduce(number);
    one_.store();
  }

 private:
  builder& k_;
  region_code& code_;
  uint32 runs_, made_, columns_;
  row_code one_;
  shared_id run_;
};

}  // namespace poot::kernel
