#pragma once
/// Values for the leaves of any graph, from a seed: tame ones, any bits, and the special ones that break kernels.

#include <poot/core/packed.hpp>
#include <poot/ir/interpret.hpp>

#include "../support/draws.hpp"

#include <string>
#include <vector>

namespace poot_tests {

using namespace poot;

/// How the elements of one tensor are drawn.
enum class values : uint8 { tame, wide, any_bits, special };

inline uint64 float_bits(dtype t, double x) { return ir::detail::cast_bits(f64, t, std::bit_cast<uint64>(x)); }

inline uint64 draw_float(draws& d, dtype t, values how) {
  const float_format f = format_of(t);
  const uint64 all = f.sign_bit() * 2 - 1, infinity = ((uint64{1} << f.exponent_bits) - 1) << f.fraction_bits;
  switch (how) {
    case values::tame: return float_bits(t, static_cast<double>(static_cast<int64>(d.less_than(65)) - 32) / 8.0);
    case values::wide: return float_bits(t, d.between(-8, 8) * std::ldexp(1.0, static_cast<int>(d.less_than(9)) - 4));
    case values::any_bits: return d.next() & all;
    default: break;
  }
  const uint64 sign = d.less_than(2) ? f.sign_bit() : 0;
  switch (d.less_than(12)) {
    case 0: return sign;
    case 1: return sign | infinity;
    case 2: return sign | infinity | uint64{1} << (f.fraction_bits - 1);
    case 3: return sign | 1;                                                // the least subnormal
    case 4: return sign | ((uint64{1} << f.fraction_bits) - 1);             // the greatest
    case 5: return sign | (infinity - 1);                                   // the greatest finite
    case 6: return sign | uint64{1} << f.fraction_bits;                     // the least normal
    case 7: return sign | float_bits(t, 1.0);
    case 8: return d.next() & all;
    default: return draw_float(d, t, values::wide);
  }
}

inline uint64 draw_integer(draws& d, dtype t, values how) {
  const int bits = 8 * row(t).block_bytes;
  const uint64 all = ~uint64{0} >> (64 - bits);
  if (t == dtype::boolean) return d.less_than(2);
  switch (how) {
    case values::tame: return d.less_than(9) & all;
    case values::wide: return (is_signed(t) ? d.less_than(41) - 20 : d.less_than(41)) & all;
    case values::any_bits: return d.next() & all;
    default: break;
  }
  const uint64 extremes[] = {0, 1, all, all >> 1, (all >> 1) + 1, 31, 32, 33};
  return d.less_than(2) ? extremes[d.less_than(8)] & all : draw_integer(d, t, values::wide);
}

inline uint64 draw_element(draws& d, dtype t, values how) {
  return is_float(t) ? draw_float(d, t, how) : draw_integer(d, t, how);
}

inline values draw_values(draws& d) {
  const uint64 kind = d.less_than(10);
  return kind < 3 ? values::tame : kind < 7 ? values::wide : kind < 9 ? values::special : values::any_bits;
}

/// Random codes with scales of moderate size.
inline void draw_block(draws& d, dtype t, uint64* bytes) {
  const packed_layout at = layout(t);
  for (int i = 0; i < row(t).block_bytes; ++i) bytes[i] = d.less_than(256);
  const auto moderate = [&](int where) {
    const uint64 half = float_bits(f16, d.between(-2, 2) * std::ldexp(1.0, -static_cast<int>(d.less_than(9))));
    bytes[where] = half & 255;
    bytes[where + 1] = half >> 8;
  };
  if (t == mxfp4) bytes[at.scale] = d.less_than(16) ? 116 + d.less_than(24) : d.less_than(255);
  else moderate(at.scale);
  if (at.minimum >= 0) moderate(at.minimum);
}

/// A tensor of concrete type `t`.
inline ir::tensor draw_tensor(draws& d, const tensor_type& t) {
  ir::tensor made(t);
  if (is_packed(t.element)) {
    for (size_t i = 0; i < made.bits.size(); i += row(t.element).block_bytes) draw_block(d, t.element, &made.bits[i]);
    return made;
  }
  const values how = draw_values(d);
  const bool sparse = how >= values::any_bits && d.less_than(2);  // a few special values among tame ones
  for (uint64& bits : made.bits) bits = draw_element(d, t.element, sparse && d.less_than(8) ? values::tame : how);
  return made;
}

/// A count for every dynamic extent of `g`: often 1, the bound or, where no op needs an element, 0.
struct drawn_counts {
  std::vector<std::pair<uint64, int64>> counts;
  tensor_type operator()(tensor_type t) const {
    for (int i = 0; i < t.rank; ++i)
      for (const auto& [key, count] : counts)
        if (t.extents[i].is_dynamic() && t.extents[i].key() == key) {
          t.extents[i] = extent(count);
          break;
        }
    return t;
  }
};

inline bool needs_an_element(const ir::graph_view& g, uint64 key) {
  const auto is_key = [&](extent e) { return e.is_dynamic() && e.key() == key; };
  for (uint32 id = 0; id < g.size(); ++id) {
    const ir::op kind = g[id].kind;
    const bool picks = kind == ir::op::reduce_argmax || kind == ir::op::gather || kind == ir::op::packed_gather;
    if (picks && is_key(g.type(g.operands(id)[0]).extents[g.attrs(id)[0]])) return true;
    if (kind == ir::op::indexed_matmul && is_key(g.type(g.operands(id)[1]).extents[0])) return true;
  }
  return false;
}

inline drawn_counts draw_counts(draws& d, const ir::graph_view& g) {
  drawn_counts all;
  for (const ir::symbol& s : g.symbols) {
    const int64 least = needs_an_element(g, s.key) ? 1 : 0;
    int64 count = least + static_cast<int64>(d.less_than(static_cast<uint64>(s.bound - least + 1)));
    switch (d.less_than(6)) {
      case 0: count = s.bound; break;
      case 1: count = 1; break;
      case 2: count = d.less_than(3) ? count : least; break;
      default: break;
    }
    all.counts.emplace_back(s.key, count);
  }
  return all;
}

/// Values for every input, weight and state of `g`.
inline std::vector<ir::named_tensor> draw_bindings(draws& d, const ir::graph_view& g, const drawn_counts& counts) {
  std::vector<ir::named_tensor> made;
  for (uint32 id = 0; id < g.size(); ++id)
    if (ir::is_named_leaf(g[id].kind)) made.push_back({g.name_of(id), draw_tensor(d, counts(g.type(id)))});
  return made;
}

}  // namespace poot_tests
