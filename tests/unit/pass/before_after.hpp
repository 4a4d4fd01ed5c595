#pragma once
/// What every test of a pass asks: the text of the graph before and after, equal bits on random values, and that a second run changes nothing.

#include <doctest/doctest.h>

#include <poot/ir/interpret.hpp>
#include <poot/ir/parse.hpp>
#include <poot/ir/print.hpp>
#include <poot/ir/verify.hpp>
#include <poot/pass/rewriter.hpp>

#include <support/draws.hpp>
#include <support/fusion_draws.hpp>

#include <string>
#include <vector>

namespace before_after {

using namespace poot;

inline std::string printed(const ir::graph_view& g) { return std::string(ir::print(g).str()); }
inline ir::graph parsed(const std::string& body) { return ir::parse("graph t {\n" + body + "\n}\n"); }
/// The text of a graph as `print` writes it.
inline std::string normal(const std::string& body) { return printed(parsed(body)); }

template <class Pass>
std::string after(Pass pass, const std::string& body, pass::record* record = nullptr) {
  pass::record notes;
  const ir::graph made = pass(parsed(body), notes);
  ir::verify(made);
  if (record) *record = notes;
  return printed(made);
}
template <class Pass>
bool unchanged(Pass pass, const std::string& body) {
  pass::record notes;
  const std::string now = after(pass, body, &notes);
  return now == normal(body) && notes.changed.empty();
}

inline uint64 drawn_bits(poot_tests::draws& d, dtype t) {
  const int width = 8 * row(t).block_bytes;
  const uint64 all = ~uint64{0} >> (64 - width);
  if (t == dtype::boolean) return d.less_than(2);
  if (!is_float(t)) return (d.less_than(3) ? d.less_than(5) - 2 : d.next()) & all;
  const float_format f = format_of(t);
  const uint64 infinity = ((uint64{1} << f.exponent_bits) - 1) << f.fraction_bits, sign = d.less_than(2) ? f.sign_bit() : 0;
  switch (d.less_than(12)) {
    case 0: return sign;
    case 1: return sign | infinity;
    case 2: return sign | infinity | uint64{1} << (f.fraction_bits - 1);
    case 3: return sign | (d.next() & ((uint64{1} << f.fraction_bits) - 1));  // subnormal
    case 4: return d.next() & all;
    default: return sign | static_cast<uint64>(f.bias() + static_cast<int>(d.less_than(7)) - 3) << f.fraction_bits |
                    (d.next() & ((uint64{1} << f.fraction_bits) - 1));
  }
}

/// Random values for every leaf, dynamic extents at their bounds.
inline vec<ir::named_tensor> drawn_values(const ir::graph_view& g, poot_tests::draws& d) {
  vec<ir::named_tensor> given;
  for (uint32 id = 0; id < g.size(); ++id) {
    if (!ir::is_named_leaf(g[id].kind)) continue;
    tensor_type t = g.type(id);
    for (int i = 0; i < t.rank; ++i) t.extents[i] = extent(t.extents[i].bound());
    ir::tensor value(t);
    for (uint64& bits : value.bits) bits = is_packed(t.element) ? d.less_than(t.element == mxfp4 ? 120 : 60) : drawn_bits(d, t.element);
    given.push_back({g.name_of(id), std::move(value)});
  }
  return given;
}

/// Equal bits; any NaN equals any NaN.
inline bool same(const ir::tensor& a, const ir::tensor& b) {
  if (!(a.type == b.type)) return false;
  for (size_t i = 0; i < a.bits.size(); ++i) {
    if (a.bits[i] == b.bits[i]) continue;
    if (!is_float(a.type.element)) return false;
    const float_format f = format_of(a.type.element);
    const uint64 infinity = ((uint64{1} << f.exponent_bits) - 1) << f.fraction_bits, magnitude = f.sign_bit() - 1;
    if ((a.bits[i] & magnitude) <= infinity || (b.bits[i] & magnitude) <= infinity) return false;
  }
  return true;
}

/// Do two graphs give the same bits for these values?
inline bool same_results(const ir::graph_view& a, const ir::graph_view& b, const vec<ir::named_tensor>& given) {
  const ir::interpret_options clamp{ir::arithmetic::exact, ir::outside::clamp};
  const ir::interpretation x = ir::interpret(a, given, clamp), y = ir::interpret(b, given, clamp);
  bool equal = x.outputs.size() == y.outputs.size() && x.states.size() == y.states.size();
  for (size_t i = 0; equal && i < x.outputs.size(); ++i) equal = x.outputs[i].name == y.outputs[i].name && same(x.outputs[i].value, y.outputs[i].value);
  for (size_t i = 0; equal && i < x.states.size(); ++i) equal = same(x.states[i].value, y.states[i].value);
  return equal;
}

inline bool same_values(const ir::graph_view& a, const ir::graph_view& b, poot_tests::draws& d) { return same_results(a, b, drawn_values(a, d)); }

/// Over random graphs: well formed, the same bits, `changed` tells the truth.
template <class Pass>
void check_bits(Pass pass, uint64 first_seed, int graphs = 400) {
  int changed = 0;
  for (int k = 0; k < graphs; ++k) {
    poot_tests::fusion_draws d(first_seed + static_cast<uint64>(k));
    const ir::graph g = d.make(3 + d.below(25));
    pass::record notes;
    const ir::graph made = pass(g, notes);
    INFO("seed " << k << "\n" << printed(g) << printed(made));
    CHECK(ir::verify(made));
    CHECK(same_values(g, made, d.d));
    CHECK(notes.changed.empty() == (printed(made) == printed(g) && made.size() == g.size()));
    changed += !notes.changed.empty();
  }
  CHECK(changed > 0);
}

/// Over random graphs: a second run has nothing to do.
template <class Pass>
void check_settles(Pass pass, uint64 first_seed, int graphs = 400) {
  for (int k = 0; k < graphs; ++k) {
    poot_tests::fusion_draws d(first_seed + static_cast<uint64>(k));
    pass::record notes, again;
    const ir::graph once = pass(d.make(3 + d.below(25)), notes), twice = pass(once, again);
    INFO("seed " << k << "\n" << printed(once) << printed(twice));
    CHECK(again.changed.empty());
    CHECK(printed(once) == printed(twice));
  }
}

}  // namespace before_after
