#pragma once
/// Search in lists that ascend.

#include <poot/core/vec.hpp>

namespace poot {

/// The first of `count` places at which `is_before(place)` no longer holds; it holds up to there and nowhere behind.
template <class IsBefore>
constexpr uint32 first_not_before(uint32 count, IsBefore is_before) {
  uint32 low = 0, high = count;
  while (low < high) {
    const uint32 middle = low + (high - low) / 2;
    if (is_before(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/// Where `id` stands in an ascending list; the list's size where it does not.
constexpr uint32 position_in(view<uint32> ascending, uint32 id) {
  const auto count = static_cast<uint32>(ascending.size());
  const uint32 at = first_not_before(count, [&](uint32 place) { return ascending[place] < id; });
  return at < count && ascending[at] == id ? at : count;
}

}  // namespace poot
