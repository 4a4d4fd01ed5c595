#include <doctest/doctest.h>

#include <poot/fuse/run_order.hpp>

#include <support/draws.hpp>

#include <algorithm>
#include <vector>

using namespace poot;

// 0 1 2 3 4 → 3 and 4 before 1 → 0 3 4 1 2 → 1 and 2 merge where 1 stands, then 2 keeps the name
static_assert([] {
  fuse::run_order o(5);
  const vec<uint32> moved{3, 4};
  o.move_before(moved, 1);
  if (!(o.is_before(0, 3) && o.is_before(3, 4) && o.is_before(4, 1) && o.is_before(1, 2))) return false;
  o.merge(2, 1, 1);
  return o.is_before(4, 2) && o.is_before(0, 2);
}());

TEST_CASE("equals a plain list under moves and merges") {
  for (uint64 seed = 0; seed < 60; ++seed) {
    poot_tests::draws d(seed);
    const uint32 size = static_cast<uint32>(2 + d.less_than(60));
    fuse::run_order order(size);
    std::vector<uint32> list(size);
    for (uint32 i = 0; i < size; ++i) list[i] = i;
    for (int step = 0; step < 400; ++step) {
      if (list.size() > 3 && d.less_than(12) == 0) {
        const size_t a = d.less_than(list.size() - 1), b = a + 1 + d.less_than(list.size() - a - 1);
        const bool keep_first = d.less_than(2), at_first = d.less_than(2);
        const uint32 kept = list[keep_first ? a : b], gone = list[keep_first ? b : a];
        order.merge(kept, gone, list[at_first ? a : b]);
        list[at_first ? a : b] = kept;
        list.erase(list.begin() + static_cast<long>(at_first ? b : a));
      } else {
        const size_t at = d.less_than(list.size());
        const uint32 anchor = list[at];
        std::vector<uint32> moved, rest(list.begin(), list.begin() + static_cast<long>(at));
        for (size_t i = at + 1; i < list.size(); ++i)
          if (d.less_than(4) == 0) moved.push_back(list[i]);
        order.move_before({moved.data(), moved.size()}, anchor);
        std::vector<uint32> result = rest;
        result.insert(result.end(), moved.begin(), moved.end());
        for (size_t i = at; i < list.size(); ++i)
          if (std::find(moved.begin(), moved.end(), list[i]) == moved.end()) result.push_back(list[i]);
        list = result;
      }
      for (size_t i = 1; i < list.size(); ++i) REQUIRE(order.is_before(list[i - 1], list[i]));
    }
  }
}

TEST_CASE("finds room for any number of moves to one place") {
  fuse::run_order order(1000);
  for (int round = 0; round < 200; ++round)
    for (uint32 id : {998u, 999u}) {
      // behind 999 or 998 first, so that each move is one: 999 stands before 500, then 998 before 999 …
      const uint32 anchor = id == 998 ? 999u : 998u;
      if (order.is_before(anchor, id)) order.move_before({&id, 1}, anchor);
      CHECK(order.is_before(id, anchor));
    }
  CHECK(order.is_before(996, 997));
  CHECK(order.is_before(997, 998));
}
