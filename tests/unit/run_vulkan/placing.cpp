#include <doctest/doctest.h>

#include <poot/run/vulkan/placing.hpp>

#include <support/draws.hpp>

using namespace poot;
using run::vulkan::realign;

TEST_CASE("arrays that are realigned keep apart what was apart") {
  for (uint64 seed = 0; seed < 300; ++seed) {
    poot_tests::draws d(seed);
    vec<int64> offsets, bytes;
    const int count = 1 + static_cast<int>(d.less_than(12));
    for (int i = 0; i < count; ++i) {
      offsets.push_back(static_cast<int64>(64 * d.less_than(20)));
      bytes.push_back(static_cast<int64>(64 * d.less_than(8)));
    }
    const vec<int64> before = offsets;
    const int64 span = realign(offsets, bytes, 256);
    int64 last = 0;
    for (uint32 i = 0; i < offsets.size(); ++i) {
      CHECK(offsets[i] % 256 == 0);
      last = std::max(last, offsets[i] + bytes[i]);
      for (uint32 j = 0; j < offsets.size(); ++j)
        if (before[i] + bytes[i] <= before[j] && bytes[i] > 0) CHECK(offsets[i] + bytes[i] <= offsets[j]);
    }
    CHECK(span == last);
  }
}

TEST_CASE("arrays of one size behind each other stay dense") {
  vec<int64> offsets{0, 256, 512};
  CHECK(realign(offsets, vec<int64>{256, 256, 256}, 256) == 768);
  CHECK(offsets == vec<int64>{0, 256, 512});
}
