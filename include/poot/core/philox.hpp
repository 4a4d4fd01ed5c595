#pragma once
/// Philox 4x32 with 10 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).

#include <poot/core/integers.hpp>

namespace poot {

struct four_words {
  uint32 word[4];
  constexpr bool operator==(const four_words&) const = default;
};

constexpr four_words philox(four_words counter, uint32 key0, uint32 key1) {
  for (int round = 0; round < 10; ++round) {
    const uint64 x = uint64{0xd2511f53u} * counter.word[0], y = uint64{0xcd9e8d57u} * counter.word[2];
    counter = {{static_cast<uint32>(y >> 32) ^ counter.word[1] ^ key0, static_cast<uint32>(y),
                static_cast<uint32>(x >> 32) ^ counter.word[3] ^ key1, static_cast<uint32>(x)}};
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return counter;
}

static_assert(philox({{0, 0, 0, 0}}, 0, 0) == four_words{{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}});
static_assert(philox({{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}}, 0xa4093822u, 0x299f31d0u) ==
              four_words{{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}});

/// Element i of random_uniform, in [0, 1).
constexpr float uniform_element(uint32 seed, uint32 offset, uint64 i) {
  const four_words w =
      philox({{static_cast<uint32>(i / 4), static_cast<uint32>(i / 4 >> 32), offset, 0}}, seed, 0);
  return static_cast<float>(w.word[i % 4] >> 8) * 0x1p-24f;
}

}  // namespace poot
