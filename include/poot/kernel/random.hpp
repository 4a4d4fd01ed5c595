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

/// Makes the elements of counter `i` of `id`; returns how many counters there are.
constexpr word random_elements(builder& k, region_code& code, uint32 id, buffer_id to, word i) {
  const view<uint32> in = code.graph().operands(id);
  const word counters = k.meta({meta_word::what::product, id, 0, code.graph().type(id).rank, 4, 0});
  k.count_work(counters);
  const word count = code.shape().count(id);
  k.if_(below(i, counters), [&] {
    const word seed = code.get(in[0], {}, {}).bits, offset = code.get(in[1], {}, {}).bits;
    const detail::random_words w = detail::philox(i, offset, seed);
    for (uint32 j = 0; j < 4; ++j) {
      const word at = i * 4u + word(j);
      k.if_(below(at, count), [&] { k.store(to, at, to_bits(mul(to_float(w.at[j] >> 8u), 0x1p-24f))); });
    }
  });
  return counters;
}

constexpr kernel random_kernel(const program_view& p, const launch& l) {
  builder k("random_uniform", 64);
  region_code code(k, p, l);
  random_elements(k, code, code.members()[0], code.output(0), k.invocation());
  return k.finish();
}

}  // namespace poot::kernel
