// Every pointwise op on every element type that it accepts: rows of many lengths, every pair of edge values, every way of
// broadcasting, results of several widths, chains.
#include "sample.hpp"

namespace poot_tests {

namespace {

std::vector<op> ops_of(op first, op last, dtype t) {
  std::vector<op> made;
  for (int i = static_cast<int>(first); i <= static_cast<int>(last); ++i)
    if (const op o = static_cast<op>(i); ir::accepts(ir::row(o).accepts, t)) made.push_back(o);
  return made;
}
std::vector<op> unary_ops(dtype t) { return ops_of(op::neg, op::bit_not, t); }
std::vector<op> binary_ops(dtype t) { return ops_of(op::add, op::ge, t); }

/// 255, 256 and 257 elements: around a workgroup; 4099: several, and a tail in every storage.
constexpr int64 lengths[] = {255, 256, 257, 4099};

sample unary(const std::string& name, dtype t, op o) {
  sample_maker m(name);
  for (int64 n : lengths) m.result(m.apply(o, {m.input(type_of(t, n))}));
  return m.finish();
}

sample binary(const std::string& name, dtype t, op o) {
  sample_maker m(name);
  const auto n = static_cast<int64>(edges_of(t).size());
  m.result(m.apply(o, {m.input(type_of(t, n, 1)), m.input(type_of(t, 1, n))}));
  m.result(m.apply(o, {m.input(type_of(t, 257)), m.input(type_of(t, 257))}));
  return m.finish();
}

/// Constants as operands: what a kernel knows of them it may compute when it is made.
sample by_constants(const std::string& name, dtype t) {
  sample_maker m(name);
  const uint32 x = m.input(type_of(t, 257));
  for (op o : binary_ops(t))
    for (uint64 bits : {uint64{0}, edges_of(t).back()}) {
      const uint32 constant = m.graph().literal(t, bits);
      m.result(m.apply(o, {x, constant}));
      m.result(m.apply(o, {constant, x}));
    }
  return m.finish();
}

/// Bits of what is picked, NaNs of the branch not taken included.
sample selection(const std::string& name, dtype t) {
  sample_maker m(name);
  const auto n = static_cast<int64>(edges_of(t).size());
  m.result(m.apply(op::select, {m.input(type_of(i32, 20, 1, 1)), m.input(type_of(t, n, 1)), m.input(type_of(t, 1, n))}));
  m.result(m.apply(op::select, {m.input(type_of(i32, 257)), m.input(type_of(t, 257)), m.input(type_of(t, 257))}));
  return m.finish_moving();
}

/// Every set of axes of [2,3,5,7] along which y has one element, y on either side; and y of lower rank.
sample broadcasts(const std::string& name, dtype t, bool on_the_left) {
  sample_maker m(name);
  const uint32 x = m.input(type_of(t, 2, 3, 5, 7), filling::mixed);
  const auto both = [&](uint32 y) { m.result(on_the_left ? m.apply(op::sub, {y, x}) : m.apply(op::sub, {x, y})); };
  for (int axes = 0; axes < 16; ++axes) {
    tensor_type t_y = type_of(t, 2, 3, 5, 7);
    for (int i = 0; i < 4; ++i)
      if (axes >> i & 1) t_y.extents[i] = extent(1);
    both(m.input(t_y, filling::mixed));
  }
  for (const tensor_type& t_y : {type_of(t), type_of(t, 7), type_of(t, 1), type_of(t, 5, 1), type_of(t, 3, 1, 7)}) both(m.input(t_y, filling::mixed));
  return m.finish();
}

/// Scalars, rows of one, axes of one, and no elements at all.
sample shapes(const std::string& name, dtype t) {
  sample_maker m(name);
  for (const std::vector<int64>& s : {std::vector<int64>{}, {1}, {2}, {3}, {0}, {2, 0, 3}, {1, 1, 1, 1}, {2, 3, 5, 7}, {1, 3, 1, 5, 1, 2}}) {
    const uint32 x = m.input(shaped(t, s)), y = m.input(shaped(t, s));
    m.result(t == boolean ? m.apply(op::ne, {x, y}) : m.apply(op::max, {x, y}));
  }
  return m.finish();
}

/// The ops of `t` in chains of six: drivers compile long kernels slowly.
std::vector<std::vector<op>> chains_of(dtype t) {
  std::vector<std::vector<op>> all(1);
  for (const std::vector<op>& ops : {unary_ops(t), binary_ops(t)})
    for (op o : ops) {
      if (all.back().size() == 6) all.emplace_back();
      all.back().push_back(o);
    }
  return all;
}

/// One value through several ops.
sample chain(const std::string& name, dtype t, const std::vector<op>& ops, int64 n) {
  sample_maker m(name);
  uint32 x = m.input(type_of(t, 3, n), filling::mixed);
  const uint32 y = m.input(type_of(t, n), filling::mixed);
  for (op o : ops) {
    x = ir::row(o).arity == 1 ? m.apply(o, {x}) : m.apply(o, {x, y});
    if (ir::is_comparison(o)) x = m.cast(x, t);
  }
  m.result(x);
  return m.finish();
}

sample widths(const std::string& name, int64 n) {
  sample_maker m(name);
  const uint32 x = m.input(type_of(f32, n));
  for (dtype t : {f16, i8, bf16, u8, i32}) m.result(m.cast(x, t));
  m.result(m.apply(op::lt, {x, m.number(f32, 0.5)}));
  m.result(m.apply(op::neg, {x}));
  return m.finish();
}

}  // namespace

samples pointwise_samples() {
  samples all;
  const auto list = [&](const std::string& name, auto make) { all.push_back({name, [name, make] { return make(name); }}); };
  for (dtype t : unpacked_types) {
    const std::string of(name(t));
    for (op o : unary_ops(t)) list("pointwise " + std::string(name(o)) + " of " + of, [=](const std::string& n) { return unary(n, t, o); });
    for (op o : binary_ops(t)) list("pointwise " + std::string(name(o)) + " of " + of, [=](const std::string& n) { return binary(n, t, o); });
    if (is_integer(t)) list("pointwise by constants of " + of, [=](const std::string& n) { return by_constants(n, t); });
    list("pointwise select of " + of, [=](const std::string& n) { return selection(n, t); });
    list("pointwise shapes of " + of, [=](const std::string& n) { return shapes(n, t); });
    if (t == boolean) continue;
    for (const std::vector<op>& ops : chains_of(t))
      list("pointwise chain of " + of + " from " + std::string(name(ops[0])) + " on", [=](const std::string& n) { return chain(n, t, ops, 257); });
  }
  for (dtype t : {f32, f16, i8})
    for (bool left : {false, true})
      list("pointwise broadcasts of " + std::string(name(t)) + (left ? " on the left" : ""), [=](const std::string& n) { return broadcasts(n, t, left); });
  for (int64 length : {1, 6, 7, 1027}) list("pointwise results of several widths over " + std::to_string(length), [=](const std::string& n) { return widths(n, length); });
  return all;
}

samples cast_samples() {
  samples all;
  for (dtype from : unpacked_types)
    for (dtype to : unpacked_types) {
      const std::string name = "cast of " + std::string(poot::name(from)) + " to " + std::string(poot::name(to));
      all.push_back({name, [=] {
                       sample_maker m(name);
                       for (int64 n : {1, 301}) m.result(m.cast(m.input(type_of(from, n)), to));
                       return m.finish();
                     }});
    }
  return all;
}

}  // namespace poot_tests
