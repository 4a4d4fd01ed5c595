#pragma once
/// Rope.
///
///   element i of the first `width` of a row: x[i] · cos − x[partner] · sin, or + for the second of a pair and for tables
///   with signs; each step rounds to the element type
///   element i beyond: its bits

#include <poot/kernel/tail.hpp>

namespace poot::kernel {

/// Writes piece `i` of the part that begins with a rope; returns how many there are.
constexpr word turn_rows(builder& k, region_code& code, view<uint32> part, buffer_id to, word i) {
  const ir::graph_view& g = code.graph();
  const geometry& shape = code.shape();
  const uint32 id = part[0], x = g.operands(id)[0], cos = g.operands(id)[1], sin = g.operands(id)[2];
  const view<int64> attrs = g.attrs(id);  // turned width, adjacent, signed
  const tensor_type type = g.type(id);
  const dtype t = type.element;
  const int last = type.rank - 1;
  const uint32 width = static_cast<uint32>(attrs[0]), half = width / 2;
  const bool adjacent = attrs[1] != 0, has_signs = attrs[2] != 0;
  const tensor_type entries = type.with(last, g.type(cos).last());
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
  return tail_code(k, code, part).store_all(to, i, element);
}

}  // namespace poot::kernel
