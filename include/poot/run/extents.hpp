#pragma once
/// The counts that dynamic extents have in one run.

#include <poot/ir/graph.hpp>

namespace poot::run {

/// Dynamic extents of one program that can be bound at once.
inline constexpr int max_symbols = 16;

/// The count of a named dynamic extent in this run.
struct extent_count {
  uint64 key = 0;
  int64 count = 0;
};

/// Every count of a run. Fixed size, so that binding a run allocates nothing.
class extent_counts {
 public:
  /// Binds `key`; false if it has another count already.
  bool bind(uint64 key, int64 count) {
    for (int i = 0; i < size_; ++i)
      if (bound_[i].key == key) return bound_[i].count == count;
    if (size_ == max_symbols) fail(text{} << "a run binds more than " << max_symbols << " dynamic extents");
    bound_[size_++] = {key, count};
    return true;
  }
  void clear() { size_ = 0; }
  operator view<extent_count>() const { return {bound_, static_cast<size_t>(size_)}; }

  /// The count of an extent; a dynamic one that is not bound stands at its bound.
  int64 operator()(extent e) const {
    if (!e.is_dynamic()) return e.code;
    for (int i = 0; i < size_; ++i)
      if (bound_[i].key == e.key()) return bound_[i].count;
    return e.bound();
  }
  /// `t` with every extent a count.
  tensor_type operator()(tensor_type t) const {
    for (int i = 0; i < t.rank; ++i) t.extents[i] = extent((*this)(t.extents[i]));
    return t;
  }

 private:
  extent_count bound_[max_symbols]{};
  int size_ = 0;
};

}  // namespace poot::run
