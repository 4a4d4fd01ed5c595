#include <poot/kernel/grid.hpp>

#include <doctest/doctest.h>

#include <initializer_list>

using namespace poot;
using kernel::chunk;
using kernel::fold;
using kernel::grid;

static_assert(fold(0, 65535, 65535) == grid{0, 1} && fold(65535, 65535, 65535) == grid{65535, 1});
static_assert(fold(65536, 65535, 65535) == grid{32768, 2} && fold(131071, 65535, 65535) == grid{43691, 3});
static_assert(fold(65535u * 65535u, 65535, 65535) == grid{65535, 65535} && fold(65535u * 65535u + 1, 65535, 65535) == grid{0, 0});
static_assert(fold(0xffffffffu, 0x7fffffff, 65535) == grid{0x55555555, 3});

TEST_CASE("a grid holds its workgroups within the device's limits, and less than a row more") {
  for (uint32 most_x : {1u, 7u, 64u, 65535u})
    for (uint32 most_y : {1u, 9u, 65535u})
      for (uint64 groups = 0; groups < 0xffffffffu; groups = groups * 3 + 1) {
        const grid g = fold(static_cast<uint32>(groups), most_x, most_y);
        const bool fits = groups <= uint64{most_x} * most_y;
        CHECK((g.y != 0) == fits);
        if (!fits) continue;
        CHECK(g.x <= most_x);
        CHECK(g.y <= most_y);
        CHECK(uint64{g.x} * g.y >= groups);
        CHECK(uint64{g.x} * g.y < groups + g.y);
      }
}

TEST_CASE("chunks of equal grids hold all workgroups, each once, and number no other twice") {
  for (uint32 most_x : {1u, 3u, 7u})
    for (uint32 most_y : {1u, 2u, 9u})
      for (uint32 groups = 0; groups < 300; ++groups) {
        const uint32 most = most_x * most_y, least = groups / most + (groups % most != 0);
        for (uint32 chunks : {least ? least : 1, least + 1, least + 4}) {
          const grid g = chunk(groups, chunks, most_x, most_y);
          CHECK(g.x <= most_x);
          CHECK((g.y > 0 && g.y <= most_y));
          CHECK(g.x * g.y * chunks >= groups);
        }
        if (least > 1) CHECK(chunk(groups, least - 1, most_x, most_y) == grid{0, 0});
      }
  CHECK(chunk(10, 1, 65535, 65535) == fold(10, 65535, 65535));
  CHECK(chunk(0xf0000000u, 2, 65535, 65535) == grid{65534, 30721});
  CHECK(chunk(0xffffffffu, 65535, 65535, 65535) == grid{0, 0});  // more than words number, with the rest of the last chunk
}
