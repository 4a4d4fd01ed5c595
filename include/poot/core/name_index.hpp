#pragma once
/// Finds items by name among items that only grow in number.

#include <poot/core/hash.hpp>
#include <poot/core/hash_index.hpp>

namespace poot {

/// Looks through few items, and keeps an index of many: constant evaluations, whose graphs are small, build none.
class name_index {
 public:
  /// Items from which on an index pays.
  static constexpr uint32 indexed_from = 128;

  /// An item of 0 … count−1 called `wanted`; `count` if there is none. `name_of(i)` is the name of item i, and
  /// `std::string_view{}` of items that have none; a name never changes.
  template <class NameOf>
  constexpr uint32 find(uint32 count, std::string_view wanted, NameOf name_of) {
    const auto is_wanted = [&](uint32 i) {
      const std::string_view name = name_of(i);
      return name.data() && name == wanted;
    };
    if (count < indexed_from) {
      for (uint32 i = 0; i < count; ++i)
        if (is_wanted(i)) return i;
      return count;
    }
    for (; seen_ < count; ++seen_)
      if (const std::string_view name = name_of(seen_); name.data()) index_.insert(hash_text(name), seen_);
    const uint32 found = index_.find(hash_text(wanted), is_wanted);
    return found == hash_index::none ? count : found;
  }

 private:
  hash_index index_;
  uint32 seen_ = 0;
};

}  // namespace poot
