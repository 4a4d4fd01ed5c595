#pragma once
/// The counts that dynamic extents have in one run.

#include <poot/ir/graph.hpp>

namespace poot::run {

/// Dynamic extents of one program that can be bound at once.
inline constexpr int max_symbols = 16;

/// Maps the name of a dynamic extent to its count. Fixed size, so that binding a run allocates nothing.
class extent_counts {
 public:
  /// Binds `key`; false if it has another count already.
  bool bind(uint64 key, int64 count) {
    for (int i = 0; i < size_; ++i)
      if (keys_[i] == key) return counts_[i] == count;
    if (size_ == max_symbols) fail(text{} << "a run binds more than " << max_symbols << " dynamic extents");
    keys_[size_] = key;
    counts_[size_++] = count;
    return true;
  }
  void clear() { size_ = 0; }

  /// The count of an extent; a dynamic one that is not bound stands at its bound.
  int64 operator()(extent e) const {
    if (!e.is_dynamic()) return e.code;
    for (int i = 0; i < size_; ++i)
      if (keys_[i] == e.key()) return counts_[i];
    return e.bound();
  }
  /// `t` with every extent a count.
  tensor_type operator()(tensor_type t) const {
    for (int i = 0; i < t.rank; ++i) t.extents[i] = extent((*this)(t.extents[i]));
    return t;
  }
  bool operator==(const extent_counts& other) const {
    if (size_ != other.size_) return false;
    for (int i = 0; i < size_; ++i)
      if (keys_[i] != other.keys_[i] || counts_[i] != other.counts_[i]) return false;
    return true;
  }

 private:
  uint64 keys_[max_symbols]{};
  int64 counts_[max_symbols]{};
  int size_ = 0;
};

}  // namespace poot::run
