#pragma once
/// The grid of a launch on a device that counts workgroups along two axes. A kernel numbers its workgroups row by row, and
/// a grid may hold more than it needs.

#include <poot/core/integers.hpp>

namespace poot::kernel {

struct grid {
  uint32 x = 0, y = 1;
  constexpr bool operator==(const grid&) const = default;
};

/// At least `groups` workgroups, fewer than one row more, at most `most_x` in a row; no more rows than are needed. A device
/// that runs fewer than that, `most_y` rows, gets a grid of 0 by 0.
constexpr grid fold(uint32 groups, uint32 most_x, uint32 most_y) {
  if (groups <= most_x) return {groups, 1};
  const uint32 y = groups / most_x + (groups % most_x != 0);
  if (y > most_y) return {0, 0};
  return {groups / y + (groups % y != 0), y};
}

}  // namespace poot::kernel
