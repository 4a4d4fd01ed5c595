#pragma once
/// The grid of a launch on a device that counts workgroups along two axes. A kernel numbers its workgroups row by row, and
/// a grid may hold more than it needs.

#include <poot/core/error.hpp>

namespace poot::kernel {

/// Workgroups for the work that the first `count` words of a launch's metadata count together; fails where 32 bits do not
/// hold it.
constexpr uint32 workgroups(const uint32* words, uint32 count, bool by_group, uint32 workgroup) {
  uint64 all = 0;
  for (uint32 i = 0; i < count; ++i) all += words[i];
  if (all > 0xffffffffu) fail(text{} << "launch: " << all << " pieces of work are more than an index of 32 bits counts");
  return static_cast<uint32>(by_group ? all : (all + workgroup - 1) / workgroup);
}

struct grid {
  uint32 x = 0, y = 1;
  constexpr bool operator==(const grid&) const = default;
};

/// At least `groups` workgroups, fewer than one row more, at most `most_x` in a row; no more rows than are needed. A device
/// that runs fewer than that, `most_y` rows, gets a grid of 0 by 0.
constexpr grid fold(uint32 groups, uint32 most_x, uint32 most_y) {
  if (groups <= most_x) return {groups, 1};
  if (most_x == 0) return {0, 0};
  const uint32 y = groups / most_x + (groups % most_x != 0);
  if (y > most_y) return {0, 0};
  return {groups / y + (groups % y != 0), y};
}

/// The grid of each of `chunks` chunks that hold `groups` workgroups together: chunk i begins with workgroup i · x · y. A grid of 0
/// by 0 where they do not.
constexpr grid chunk(uint32 groups, uint32 chunks, uint32 most_x, uint32 most_y) {
  const uint32 each = groups / chunks + (groups % chunks != 0);
  const grid g = fold(each, most_x, most_y);
  // numbers of workgroups are words: beyond them stand those of an earlier chunk
  return uint64{g.x} * g.y * chunks <= uint64{1} << 32 ? g : grid{0, 0};
}

}  // namespace poot::kernel
