#pragma once
/// One program of the suite: a graph and the values that it runs on, both fixed by its name.

#include <poot/ir/graph.hpp>

#include "../../random/interpreted.hpp"

#include <functional>

namespace poot_tests {

using ir::op;

struct sample {
  ir::graph graph;
  runs given;
  bool moves = false;  ///< copies bits: those of a NaN too
};

/// A sample is made when it is needed.
struct listed_sample {
  std::string name;
  std::function<sample()> make;
  bool has_long_kernels = false;
};
using samples = std::vector<listed_sample>;

/// What the elements of a leaf are in the first run; later runs draw others.
enum class filling : uint8 {
  edges,   ///< the edges of the type, in order, and then any bits
  plain,   ///< numbers of moderate size
  mixed,   ///< numbers of moderate size, a special one here and there
  places,  ///< places along an axis, and places outside it
};

/// Where formats, operations and conversions change their ways.
std::vector<uint64> edges_of(dtype t);

/// Dtypes that are no packed format, and those that kernels compute in.
inline constexpr dtype unpacked_types[] = {f32, f16, bf16, f64, i32, u32, i8, u8, boolean};
inline constexpr dtype packed_types[] = {q4_0, q4_1, q5_0, q8_0, q4_k, q6_k, iq4_nl, mxfp4};

inline std::string spelt(const tensor_type& t) {
  text out;
  ir::write_type(out, t);
  return std::string(out.str());
}

/// Extents that are known when the test runs.
tensor_type shaped(dtype t, const std::vector<int64>& extents);

class sample_maker {
 public:
  explicit sample_maker(std::string_view name) : graph_(name), draws_(hash_text(name)) {}

  uint32 input(const tensor_type& t, filling how = filling::edges) { return leaf(op::input, t, how); }
  uint32 weight(const tensor_type& t, filling how = filling::plain) { return leaf(op::weight, t, how); }
  uint32 state(const tensor_type& t, filling how = filling::edges) { return leaf(op::state, t, how); }
  /// An i32 input of places along an axis of `count`.
  uint32 places(const tensor_type& t, int64 count) {
    counts_.push_back(count);
    return leaf(op::input, t.with(i32), filling::places);
  }
  uint32 apply(op o, std::initializer_list<uint32> in, const std::vector<int64>& attrs = {}, const tensor_type& declared = {}) {
    return graph_.apply(o, {in.begin(), in.size()}, {attrs.data(), attrs.size()}, declared);
  }
  uint32 cast(uint32 x, dtype t) { return apply(op::cast, {x}, {}, type(x).with(t)); }
  uint32 number(dtype t, double x) {
    return graph_.literal(t, is_float(t) ? float_bits(t, x) : ir::detail::cast_bits(f64, t, std::bit_cast<uint64>(x)));
  }
  /// Results are called y0, y1, …, and states by their leaf.
  void result(uint32 id) { graph_.add_output("y" + std::to_string(results_++), id); }
  void update(uint32 state, uint32 id) { graph_.add_output(graph_.view_of().name_of(state), id); }
  const tensor_type& type(uint32 id) const { return graph_.eqns[id].type; }
  ir::graph& graph() { return graph_; }

  sample finish(int steps = 2);
  /// For programs of bits that are only copied.
  sample finish_moving(int steps = 2) {
    sample s = finish(steps);
    s.moves = true;
    return s;
  }

 private:
  uint32 leaf(op kind, const tensor_type& t, filling how) {
    fillings_.push_back(how);
    if (how != filling::places) counts_.push_back(0);
    return graph_.leaf(kind, t, {}, "x" + std::to_string(fillings_.size() - 1));
  }
  ir::tensor filled(const tensor_type& t, filling how, int64 count, int step);

  ir::graph graph_;
  draws draws_;
  std::vector<filling> fillings_;  ///< per named leaf
  std::vector<int64> counts_;
  int results_ = 0;
};

/// The samples of each family.
samples pointwise_samples();
samples cast_samples();
samples movement_samples();
samples reduction_samples();
samples row_samples();
samples contraction_samples();
samples run_samples();
samples packed_samples();
samples leaf_samples();
samples state_samples();
samples dynamic_samples();
samples chain_samples();
samples tail_samples();

}  // namespace poot_tests
