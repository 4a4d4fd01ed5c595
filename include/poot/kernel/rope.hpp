#pragma once
/// Rope: one invocation for each word of a result.
///
///   element i of the first `width` of a row: x[i] · cos − x[partner] · sin, or + for the second of a pair and for tables
///   with signs; each step rounds to the element type
///   element i beyond: its bits

#include <poot/kernel/store.hpp>

namespace poot::kernel {

/// Writes the words of `id`, number `i` from here on; returns how many there are.
constexpr word turn_rows(builder& k, region_code& code, uint32 id, buffer_id to, word i) {
  const ir::graph_view& g = code.graph();
  const geometry& shape = code.shape();
  const uint32 x = g.operands(id)[0], cos = g.operands(id)[1], sin = g.operands(id)[2];
  const view<int64> attrs = g.attrs(id);  // turned width, adjacent, signed
  const tensor_type type = g.type(id);
  const dtype t = type.element;
  const int last = type.rank - 1;
  const uint32 pack = elements_per_word(t), width = static_cast<uint32>(attrs[0]), half = width / 2;
  const bool adjacent = attrs[1] != 0, has_signs = attrs[2] != 0;
  const tensor_type entries = type.with(last, g.type(cos).last());
  const word words = k.meta({meta_word::what::product, id, 0, type.rank, pack, 0}), count = pack == 1 ? words : shape.count(id);
  k.count_work(words);
  const word length = shape.extent_of(id, last), in_table = shape.extent_of(cos, g.type(cos).rank - 1);

  const auto element = [&](word flat) {
    const position at = shape.locate(id, flat);
    const word own = at.at[last];
    const variable<word> result = k.declare(word(0u));
    const scalar kept_bits = load_element(k, code.input(x), t, shape.index(x, type, at));
    k.assign(result, kept_bits.bits);
    k.if_(below(own, width), [&] {
      const flag second = adjacent ? same(own & 1u, 1u) : not_(below(own, half));
      const word partner = adjacent ? own ^ 1u : select(second, own - word(half), own + word(half));
      const word pair = adjacent ? own >> 1u : select(second, own - word(half), own);
      position with = at, entry = at;
      with.at[last] = partner;
      with.flat = flat - own + partner;
      entry.at[last] = g.type(cos).last() == extent(width) ? own : pair;
      entry.flat = flat / length * in_table + entry.at[last];
      const auto table = [&](uint32 of) { return load_element(k, code.input(of), t, shape.index(of, entries, entry)); };
      const scalar other = apply(op::mul, t, load_element(k, code.input(x), t, shape.index(x, type, with)), table(sin));
      const scalar kept = apply(op::mul, t, kept_bits, table(cos)), turned = apply(op::neg, t, other);
      const word term = has_signs ? other.bits : select(second, other.bits, turned.bits);  // a − b is a + (−b)
      k.assign(result, apply(op::add, t, kept, {t, term}).bits);
    });
    return scalar{t, k.read(result)};
  };
  k.if_(below(i, words), [&] {
    word_packer packer(t);
    for (uint32 j = 0; j < pack; ++j) packer.add(element(element_in_word(i, j, pack, count)));
    k.store(to, i, packer.packed());
  });
  return words;
}

/// Independent ropes stand one after the other in the grid.
constexpr kernel rope_kernel(const program_view& p, const launch& l) {
  builder k("rope", 64);
  region_code code(k, p, l);
  return beside_each_other(k, code, [&](uint32 id, buffer_id to, word i) { return turn_rows(k, code, id, to, i); });
}

}  // namespace poot::kernel
