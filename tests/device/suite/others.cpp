// Leaves, random numbers, states that are computed, dynamic extents, user's ops, and programs that ask for much.
#include "sample.hpp"

#include <poot/nn/sampling.hpp>

namespace poot_tests {

namespace {

/// Of floats: a function of the host, refused elsewhere.
struct doubled {
  static constexpr std::string_view name = "doubled";
  static constexpr int arity = 1, flops = 1;
  static constexpr float evaluate(float x) { return x + x; }
};

/// Recorded, and so of every device.
struct blended {
  static constexpr std::string_view name = "blended";
  static constexpr int arity = 2, flops = 30;
  static constexpr auto evaluate = [](auto x, auto y) { return x * tanh(y) + y / x; };
};

sample random_numbers(const std::string& name) {
  sample_maker m(name);
  const uint32 seed = m.input(type_of(u32)), offset = m.input(type_of(u32)), one = m.graph().literal(u32, 1);
  for (int64 n : {1, 3, 4, 257, 4099}) m.result(m.apply(op::random_uniform, {seed, offset}, {}, type_of(f32, n)));
  m.result(m.apply(op::random_uniform, {one, offset}, {}, type_of(f32, 2, 3, 5, 7)));
  m.result(m.apply(op::random_uniform, {seed, seed}, {}, type_of(f32)));
  m.result(m.apply(op::random_uniform, {seed, one}, {}, type_of(f32, 0)));
  return m.finish(3);
}

ir::value handle(sample_maker& m, uint32 id) { return {&m.graph(), id}; }

/// Tokens: the greatest, drawn, and drawn of those that are not unlikely.
sample samplers(const std::string& name) {
  sample_maker m(name);
  const auto logits = handle(m, m.input(type_of(f32, 3, 300), filling::plain));
  const auto seed = handle(m, m.input(type_of(u32))), offset = handle(m, m.input(type_of(u32)));
  m.result(nn::greedy(logits).id);
  m.result(nn::gumbel_argmax(logits, 0.75f, seed, offset).id);
  m.result(nn::draw(nn::min_p(logits, 0.02f), seed, offset).id);
  return m.finish(3);
}

/// Numbers along each axis, as results and as operands.
sample iotas(const std::string& name, dtype t) {
  sample_maker m(name);
  for (int64 axis = 0; axis < 3; ++axis) {
    const uint32 i = m.graph().leaf(op::iota, type_of(t, 3, 5, 300), {&axis, 1});
    m.result(i);
    m.result(m.apply(op::add, {i, m.input(type_of(t, 3, 5, 300), filling::plain)}));
  }
  return m.finish();
}

/// One value for all elements, or one for each; as results and as operands.
sample constants(const std::string& name, dtype t) {
  sample_maker m(name);
  vec<int64> each;
  for (uint64 bits : edges_of(t)) each.push_back(static_cast<int64>(bits));
  const uint32 all = m.graph().leaf(op::constant, type_of(t, each.size()), each), same = m.graph().leaf(op::constant, type_of(t, 2, 5), view<int64>(&each[1], 1));
  m.result(all);
  m.result(same);
  m.result(m.apply(op::concat, {all, m.weight(type_of(t, 3), filling::edges), all}, {0}));
  m.result(m.apply(op::gather, {all, m.places(type_of(i32, 17), static_cast<int64>(each.size()))}, {0}));
  return m.finish_moving();
}

/// A state that is added to, one that takes the other's value, one that only is read.
sample computed_states(const std::string& name, dtype t) {
  sample_maker m(name);
  const uint32 a = m.state(type_of(t, 5, 7), filling::plain), b = m.state(type_of(t, 5, 7), filling::plain), c = m.state(type_of(t, 257), filling::plain);
  m.update(a, m.apply(op::add, {a, m.input(type_of(t, 5, 7), filling::plain)}));
  m.update(b, a);
  m.result(m.apply(op::mul, {c, c}));
  m.result(m.apply(op::sub, {b, a}));
  return m.finish(3);
}

/// A cache that grows: a row of it is written, and the part that lives is read.
sample cache(const std::string& name, dtype t) {
  sample_maker m(name);
  const extent live = m.graph().dynamic("L", 24);
  const uint32 kept = m.state(type_of(t, 3, 24, 16), filling::plain), row = m.input(type_of(t, 3, 1, 16), filling::plain), at = m.places(type_of(i32, 3), 24);
  const uint32 grown = m.apply(op::dynamic_update_slice, {kept, row, at}), q = m.input(type_of(f32, 3, 2, 16), filling::plain), mask = m.input(type_of(f32, live), filling::plain);
  m.update(kept, grown);
  const uint32 part = m.apply(op::slice, {grown}, {0, 0, 0, 3, live.code, 16, 1, 1, 1});
  const uint32 scores = m.apply(op::add, {m.apply(op::matmul, {q, part}, {1}, type_of(f32)), mask});
  const uint32 e = m.apply(op::exp, {m.apply(op::sub, {scores, m.apply(op::reduce_max, {scores}, {2})})});
  m.result(m.apply(op::matmul, {m.apply(op::div, {e, m.apply(op::reduce_sum, {e}, {2})}), part}, {0}, type_of(f32)));
  return m.finish(5);
}

/// Every family over an extent that changes from run to run.
sample dynamic(const std::string& name, dtype t) {
  sample_maker m(name);
  const extent n = m.graph().dynamic("N", 300), k = m.graph().dynamic("K", 7);
  const uint32 x = m.input(type_of(t, n, 5), filling::mixed), y = m.input(type_of(t, k, n), filling::mixed);
  m.result(m.apply(op::mul, {x, x}));
  m.result(m.apply(op::reduce_sum, {x}, {0}));
  m.result(m.apply(op::reduce_max, {y}, {1}));
  m.result(m.apply(op::transpose, {y}, {1, 0}));
  m.result(m.apply(op::gather, {x, m.places(type_of(i32, k), 3)}, {0}));
  return m.finish(6);
}

/// Numbers through functions of the user's.
template <class Op>
sample custom(const std::string& name, dtype t) {
  sample_maker m(name);
  const uint32 x = m.input(type_of(t, 257));
  vec<uint32> in{m.apply(op::neg, {x})};
  if (Op::arity == 2) in.push_back(m.input(type_of(t, 257), filling::mixed));
  m.result(m.graph().apply(ir::custom_row_of<Op>, in));
  return m.finish();
}

/// One equation of 40 operands.
sample many_operands(const std::string& name) {
  sample_maker m(name);
  vec<uint32> parts;
  for (int64 i = 0; i < 40; ++i) parts.push_back(m.input(type_of(f32, i % 3 + 1)));
  const int64 axis = 0;
  m.result(m.graph().apply(op::concat, parts, {&axis, 1}));
  return m.finish_moving();
}

}  // namespace

samples leaf_samples() {
  samples all;
  const auto list = [&](const std::string& name, auto make) { all.push_back({name, [name, make] { return make(name); }}); };
  list("random_uniform", random_numbers);
  list("samplers", samplers);
  for (dtype t : unpacked_types) {
    const std::string of = " of " + std::string(name(t));
    if (t != boolean) list("iota" + of, [=](const std::string& n) { return iotas(n, t); });
    list("constant" + of, [=](const std::string& n) { return constants(n, t); });
  }
  for (dtype t : {f32, f16, bf16}) {
    list("custom of the host of " + std::string(name(t)), [=](const std::string& n) { return custom<doubled>(n, t); });
    list("custom of every device of " + std::string(name(t)), [=](const std::string& n) { return custom<blended>(n, t); });
  }
  list("concat of 40 values", many_operands);
  return all;
}

samples state_samples() {
  samples all;
  for (dtype t : unpacked_types) {
    if (t == boolean) continue;
    const std::string name = "state of " + std::string(poot::name(t)) + ", computed";
    all.push_back({name, [=] { return computed_states(name, t); }});
  }
  return all;
}

samples dynamic_samples() {
  samples all;
  for (dtype t : {f32, f16, bf16}) {
    const std::string name = "cache of " + std::string(poot::name(t));
    all.push_back({name, [=] { return cache(name, t); }});
  }
  for (dtype t : unpacked_types) {
    if (t == boolean) continue;
    const std::string name = "dynamic extents of " + std::string(poot::name(t));
    all.push_back({name, [=] { return dynamic(name, t); }});
  }
  return all;
}

}  // namespace poot_tests
