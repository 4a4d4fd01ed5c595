#pragma once
/// An order in which groups can run, kept while they merge: every group stands after those it reads. It bounds the search
/// for cycles from below: what stands before a group cannot depend on it. (Equation ids do not bound it. A group can read
/// another through an early member whose late members read what comes in between.)

#include <poot/core/vec.hpp>

namespace poot::fuse {

/// A list of groups with labels that ascend along it; comparing two positions is comparing two labels.
class run_order {
 public:
  /// Groups 0 … size−1 in order of their numbers.
  constexpr explicit run_order(uint32 size) : end_(size), label_(size + size_t{1}), next_(size + size_t{1}), previous_(size + size_t{1}) {
    for (uint32 i = 0; i <= size; ++i) {
      next_[i] = i == size ? 0 : i + 1;
      previous_[i] = i == 0 ? size : i - 1;
      label_[i] = (i + uint64{1}) * gap;
    }
    label_[end_] = 0;  // the list is a ring through its end, which counts as the least
  }

  constexpr bool is_before(uint32 a, uint32 b) const { return label_[a] < label_[b]; }

  /// Moves `groups`, which stand behind `at` in this order, directly before it.
  constexpr void move_before(view<uint32> groups, uint32 at) {
    uint64 step = step_before(at, groups.size());
    if (step == 0) {
      relabel();
      step = step_before(at, groups.size());
    }
    for (uint32 id : groups) {
      const uint32 before = previous_[at];
      unlink(id);
      link(before, id);
      link(id, at);
      label_[id] = label_[before] + step;
    }
  }

  /// Takes group `gone` out; the merged group `kept` stands where `at`, one of the two, stands.
  constexpr void merge(uint32 kept, uint32 gone, uint32 at) {
    if (at == kept) {
      unlink(gone);
      return;
    }
    unlink(kept);
    link(previous_[gone], kept);
    link(kept, next_[gone]);
    label_[kept] = label_[gone];
  }

 private:
  static constexpr uint64 gap = uint64{1} << 24;

  constexpr uint64 step_before(uint32 at, size_t count) const { return (label_[at] - label_[previous_[at]]) / (count + 1); }
  constexpr void link(uint32 a, uint32 b) {
    next_[a] = b;
    previous_[b] = a;
  }
  constexpr void unlink(uint32 id) { link(previous_[id], next_[id]); }
  constexpr void relabel() {
    uint64 label = 0;
    for (uint32 id = next_[end_]; id != end_; id = next_[id]) label_[id] = label += gap;
  }

  uint32 end_;
  vec<uint64> label_;
  vec<uint32> next_, previous_;
};

}  // namespace poot::fuse
