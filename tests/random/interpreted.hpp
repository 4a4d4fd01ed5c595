#pragma once
/// Values for random graphs, what the interpreter makes of them, and where two interpretations differ.

#include <poot/ir/interpret.hpp>
#include <poot/ir/print.hpp>

#include "random_values.hpp"

namespace poot_tests {

/// Values for the leaves, run after run; those of states and weights count in the first run only. What a run has in
/// common with the one before is not bound again.
using runs = std::vector<std::vector<ir::named_tensor>>;

inline runs draw_runs(uint64 seed, const ir::graph_view& g, int count = 2) {
  draws d(seed ^ 0x5eed0fda7a5eed0full);
  runs made;
  bool keeps_counts = false;  // the extents of a state stay as they are
  for (uint32 id = 0; id < g.size(); ++id) keeps_counts |= g[id].kind == ir::op::state && g.type(id).is_dynamic();
  drawn_counts counts;
  for (int i = 0; i < count; ++i) {
    if (i == 0 || !keeps_counts) counts = draw_counts(d, g);
    made.push_back(draw_bindings(d, g, counts));
    if (i > 0)
      for (uint32 id = 0, k = 0; id < g.size(); ++id) {
        if (!ir::is_named_leaf(g[id].kind)) continue;
        const ir::tensor& before = made[static_cast<size_t>(i) - 1][k].value;
        ir::tensor& now = made[static_cast<size_t>(i)][k].value;
        if (g[id].kind == ir::op::weight || (before.type == now.type && d.less_than(4) == 0)) now = before;
        ++k;
      }
  }
  made.push_back(made.back());
  return made;
}

/// What the interpreter gives for each run.
inline std::vector<ir::interpretation> interpret_runs(const ir::graph_view& g, const runs& given, ir::outside index = ir::outside::clamp,
                                                      subnormals small = subnormals::kept) {
  std::vector<ir::interpretation> all;
  for (std::vector<ir::named_tensor> values : given) {
    if (!all.empty())
      for (ir::named_tensor& v : values)
        if (const ir::tensor* kept = ir::find(all.back().states, v.name)) v.value = *kept;
    ir::interpret_options options;
    options.index = index;
    options.small = small;
    all.push_back(ir::interpret(g, {values.data(), values.size()}, options));
  }
  return all;
}

/// Whether any NaN is as good as another. Where bits are moved, it is not.
enum class nans : uint8 { alike, by_their_bits };

inline bool same_element(dtype t, uint64 a, uint64 b, nans which = nans::alike) {
  if (a == b || which == nans::by_their_bits) return a == b;
  return is_float(t) && is_nan_bits(format_of(t), a) && is_nan_bits(format_of(t), b);
}

/// Where two tensors differ first, in words; empty if nowhere.
inline std::string difference(const ir::tensor& want, const ir::tensor& got, nans which = nans::alike) {
  text t;
  if (!(want.type == got.type) || want.bits.size() != got.bits.size()) {
    t << "the type should be ";
    ir::write_type(t, want.type);
    t << " and is ";
    ir::write_type(t, got.type);
    return std::string(t.str());
  }
  for (size_t i = 0; i < want.bits.size(); ++i) {
    if (same_element(want.type.element, want.bits[i], got.bits[i], which)) continue;
    t << "element " << i << " of ";
    ir::write_type(t, want.type);
    t << " should be ";
    ir::write_number(t, want.type.element, want.bits[i]);
    t << " (";
    (t.hex(want.bits[i]) << ") and is ");
    ir::write_number(t, want.type.element, got.bits[i]);
    t << " (";
    t.hex(got.bits[i]) << ')';
    return std::string(t.str());
  }
  return {};
}

inline std::string difference(const ir::interpretation& want, const ir::interpretation& got, nans which = nans::alike) {
  for (const auto& [wanted, had] : {std::pair{&want.outputs, &got.outputs}, std::pair{&want.states, &got.states}})
    for (const ir::named_tensor& w : *wanted) {
      const ir::tensor* g = ir::find(*had, w.name);
      if (!g) return "\"" + std::string(w.name) + "\" is missing";
      if (const std::string d = difference(w.value, *g, which); !d.empty()) return "\"" + std::string(w.name) + "\": " + d;
    }
  return {};
}

}  // namespace poot_tests
