#pragma once
/// Finds items by hash: open addressing over indices; the caller keeps the items and says which are the same.

#include <poot/core/vec.hpp>

namespace poot {

class hash_index {
 public:
  static constexpr uint32 none = ~uint32{0};

  /// The index inserted under `hash` for which `same(index)` holds; `none` if there is none.
  template <class Same>
  constexpr uint32 find(uint64 hash, Same same) const {
    if (slots_.empty()) return none;
    const size_t mask = slots_.size() - 1;
    for (size_t at = place(hash, mask); slots_[at].index != none; at = (at + 1) & mask)
      if (slots_[at].hash == hash && same(slots_[at].index)) return slots_[at].index;
    return none;
  }
  /// Adds `index` under `hash`; equal items are the caller's to refuse.
  constexpr void insert(uint64 hash, uint32 index) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    put({hash, index});
    ++count_;
  }

 private:
  struct slot {
    uint64 hash = 0;
    uint32 index = none;
  };
  static constexpr size_t place(uint64 hash, size_t mask) { return static_cast<size_t>(hash ^ hash >> 32) & mask; }
  constexpr void put(slot s) {
    const size_t mask = slots_.size() - 1;
    size_t at = place(s.hash, mask);
    while (slots_[at].index != none) at = (at + 1) & mask;
    slots_[at] = s;
  }
  constexpr void grow() {
    const vec<slot> old = std::move(slots_);
    slots_ = vec<slot>(old.empty() ? 16 : 2 * old.size());
    for (const slot& s : old)
      if (s.index != none) put(s);
  }

  vec<slot> slots_;
  size_t count_ = 0;
};

}  // namespace poot
