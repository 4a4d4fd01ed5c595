#pragma once
/// random_uniform: Philox 4x32 with 10 rounds, a function of seed, offset and element number (numerics.md). One invocation
/// makes the four elements of a counter.

#include <poot/kernel/region.hpp>

namespace poot::kernel {

namespace detail {

/// The four words of counter (c, 0, offset, 0) under key (seed, 0).
struct random_words {
  word at[4];
};
constexpr random_words philox(word c, word offset, word seed) {
  random_words w{{c, 0u, offset, 0u}};
  word key0 = seed, key1 = 0u;
  for (int round = 0; round < 10; ++round) {
    const word x_low = w.at[0] * 0xd2511f53u, x_high = mul_high(w.at[0], 0xd2511f53u);
    const word y_low = w.at[2] * 0xcd9e8d57u, y_high = mul_high(w.at[2], 0xcd9e8d57u);
    w = {{y_high ^ w.at[1] ^ key0, y_low, x_high ^ w.at[3] ^ key1, x_low}};
    key0 = key0 + 0x9e3779b9u;
    key1 = key1 + 0xbb67ae85u;
  }
  return w;
}

}  // namespace detail

constexpr kernel random_kernel(const program_view& p, const launch& l) {
  builder k("random_uniform", 64);
  region_code code(k, p, l);
  const uint32 id = code.members()[0];
  const view<uint32> in = p.graph.operands(id);
  const word counters = k.meta({meta_word::what::product, id, 0, p.graph.type(id).rank, 4, 0});
  const word count = code.shape().count(id), c = k.invocation();
  k.if_(below(c, counters), [&] {
    const word seed = code.get(in[0], {}, {}).bits, offset = code.get(in[1], {}, {}).bits;
    const detail::random_words w = detail::philox(c, offset, seed);
    for (uint32 j = 0; j < 4; ++j) {
      const word at = c * 4u + word(j);
      k.if_(below(at, count), [&] { k.store(code.output(0), at, to_bits(mul(to_float(w.at[j] >> 8u), 0x1p-24f))); });
    }
  });
  return k.finish();
}

}  // namespace poot::kernel
