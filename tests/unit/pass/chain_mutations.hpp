#pragma once
/// Chains as lists of steps, changed in one random place: what a recogniser must keep the values of, or decline.

#include "before_after.hpp"

#include <poot/pass/pipeline.hpp>

#include <cmath>

namespace chain_mutations {

using namespace before_after;
using poot_tests::draws;

/// A number in a type.
inline uint64 bits_of(dtype t, double x) { return ir::detail::cast_bits(dtype::f64, t, std::bit_cast<uint64>(x)); }

struct step {
  ir::op kind;
  vec<int> in;               ///< steps
  vec<int64> attrs{};
  tensor_type declared{};    ///< of leaves, constants, casts, contractions, broadcasts and reshapes
  const char* name = "";     ///< of a leaf
};

struct chain {
  std::vector<step> steps;
  std::vector<int> outputs;
  std::vector<int> unread;  ///< computed for nobody
  int64 bound = 0;          ///< of the dynamic extent S, if there is one

  int add(step s) {
    steps.push_back(std::move(s));
    return static_cast<int>(steps.size()) - 1;
  }
  int leaf(const char* name, const tensor_type& t, ir::op kind = ir::op::input) { return add({kind, {}, {}, t, name}); }
  int number(float v) { return add({ir::op::constant, {}, {static_cast<int64>(std::bit_cast<uint32>(v))}, type_of(f32)}); }
  int apply(ir::op o, std::initializer_list<int> in, std::initializer_list<int64> attrs = {}, const tensor_type& declared = type_of(f32)) {
    return add({o, vec<int>(in), vec<int64>(attrs), declared});
  }

  /// The graph, or false where a typing rule forbids it: `why` says which. Steps stand in order of need; `placed`: where each stands.
  bool build(ir::graph& g, std::vector<uint32>* placed = nullptr, std::string* why = nullptr) const {
    try {
      g = ir::graph("t");
      if (bound) g.dynamic("S", bound);
      std::vector<uint32> made(steps.size(), ~0u);
      for (int o : outputs) make(g, o, made, 0);
      for (int u : unread) make(g, u, made, 0);
      if (placed) *placed = made;
      int number = 0;
      for (int o : outputs) g.add_output("y" + std::to_string(number++), made[static_cast<size_t>(o)]);
      return ir::verify(g);
    } catch (const error& refused) {
      if (why) *why = refused.what();
      return false;
    }
  }

 private:
  void make(ir::graph& g, int at, std::vector<uint32>& made, int depth) const {
    const step& s = steps[static_cast<size_t>(at)];
    if (made[static_cast<size_t>(at)] != ~0u) return;
    if (depth > 64) fail(text("a cycle"));
    vec<uint32> in;
    for (int k : s.in) {
      make(g, k, made, depth + 1);
      in.push_back(made[static_cast<size_t>(k)]);
    }
    made[static_cast<size_t>(at)] = ir::is_leaf(s.kind) ? g.leaf(s.kind, s.declared, s.attrs, s.name) : g.apply(s.kind, in, s.attrs, s.declared);
  }
};

/// Changes one place; says what, in a word.
inline const char* mutate(chain& c, draws& d) {
  const auto below = [&](size_t n) { return static_cast<size_t>(d.less_than(n)); };
  const auto any = [&] { return below(c.steps.size()); };
  const auto computed = [&] {
    size_t at = any();
    while (ir::is_leaf(c.steps[at].kind)) at = any();
    return at;
  };
  switch (d.less_than(12)) {
    case 0: {  // operand order
      step& s = c.steps[computed()];
      if (s.in.size() > 1) std::swap(s.in[0], s.in[1]);
      return "order";
    }
    case 1: c.outputs.push_back(static_cast<int>(computed())); return "output";
    case 2: {  // an extra reader
      const int at = static_cast<int>(computed());
      c.outputs.push_back(c.apply(ir::op::neg, {at}));
      return "reader";
    }
    case 3: {  // another axis, or another attribute
      step& s = c.steps[computed()];
      if (!s.attrs.empty()) s.attrs[below(s.attrs.size())] = static_cast<int64>(below(4));
      return "attribute";
    }
    case 4: {  // another constant
      const float values[] = {0, 1, 2, 0.3f, -1, -1e9f, -INFINITY, INFINITY, NAN};
      for (int tries = 0; tries < 20; ++tries) {
        step& s = c.steps[any()];
        if (s.kind != ir::op::constant) continue;
        s.attrs[below(s.attrs.size())] = static_cast<int64>(std::bit_cast<uint32>(values[below(9)]));
        break;
      }
      return "constant";
    }
    case 5: {  // a cast in between
      const size_t reader = computed();
      const dtype to = d.less_than(2) ? bf16 : f16;
      const size_t k = below(c.steps[reader].in.size());
      const int narrow = c.apply(ir::op::cast, {c.steps[reader].in[k]}, {}, type_of(to));
      const int wide = c.apply(ir::op::cast, {narrow}, {}, type_of(f32));
      c.steps[reader].in[k] = d.less_than(2) ? wide : narrow;
      return "cast";
    }
    case 6: {  // another op
      const ir::op ops[] = {ir::op::add, ir::op::sub,  ir::op::mul, ir::op::div,        ir::op::max,        ir::op::min,
                            ir::op::neg, ir::op::tanh, ir::op::exp, ir::op::reduce_sum, ir::op::reduce_max, ir::op::reduce_min};
      c.steps[computed()].kind = ops[below(12)];
      return "op";
    }
    case 7: {  // one more step
      const size_t reader = computed();
      const ir::op ops[] = {ir::op::neg, ir::op::abs, ir::op::exp, ir::op::floor};
      const size_t k = below(c.steps[reader].in.size());
      c.steps[reader].in[k] = c.apply(ops[below(4)], {c.steps[reader].in[k]});
      return "step";
    }
    case 8: {  // another operand
      step& s = c.steps[computed()];
      s.in[below(s.in.size())] = static_cast<int>(any());
      return "operand";
    }
    case 9: {  // one element more or less of a leaf
      for (int tries = 0; tries < 20; ++tries) {
        step& s = c.steps[any()];
        if (s.kind != ir::op::input || s.declared.rank == 0) continue;
        extent& e = s.declared.extents[below(s.declared.rank)];
        if (d.less_than(2)) e = extent(1);
        else e.code += d.less_than(2) || e.code == 1 ? 1 : -1;
        break;
      }
      return "extent";
    }
    case 10: {  // a scaled value
      const size_t reader = computed();
      const size_t k = below(c.steps[reader].in.size());
      const int factor = c.number(d.less_than(2) ? 0.25f : 1.0f);
      c.steps[reader].in[k] = d.less_than(2) ? c.apply(ir::op::mul, {c.steps[reader].in[k], factor}) : c.apply(ir::op::mul, {factor, c.steps[reader].in[k]});
      return "scaled";
    }
    default: return "nothing";
  }
}

/// Values around one for floats, small numbers for integers.
inline vec<ir::named_tensor> values_of(const ir::graph_view& g, draws& d) {
  vec<ir::named_tensor> given;
  for (uint32 id = 0; id < g.size(); ++id) {
    if (!ir::is_named_leaf(g[id].kind)) continue;
    ir::tensor value(g.type(id));
    for (uint64& bits : value.bits) {
      if (is_float(value.type.element)) bits = ir::detail::store_float(value.type.element, static_cast<float>(d.between(-1.5, 1.5)));
      else bits = d.less_than(3);
    }
    given.push_back({g.name_of(id), std::move(value)});
  }
  return given;
}

inline double number_at(const ir::tensor& t, size_t i) {
  return std::bit_cast<double>(ir::detail::cast_bits(t.type.element, dtype::f64, t.bits[i]));
}

}  // namespace chain_mutations
