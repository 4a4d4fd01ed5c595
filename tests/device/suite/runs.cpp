// Rows behind products, which reduce runs of the result's columns; a greedy and a drawn token of more columns than one workgroup reads.
#include "sample.hpp"

namespace poot_tests {

namespace {

/// A product of one row, behind a norm or not, and steps behind it; its result in runs of `run`: their greatest, where it stands, and their softmax.
struct shape {
  int64 depth, columns, run;
  bool norm = false, steps = false, is_read = false;
};

uint32 normed(sample_maker& m, uint32 x) {
  const dtype t = m.type(x).element;
  const uint32 sum = m.apply(op::reduce_sum, {m.apply(op::mul, {x, x})}, {1});
  return m.apply(op::div, {x, m.apply(op::sqrt, {m.apply(op::add, {sum, m.number(t, 0.5)})})});
}

void runs_of_product(sample_maker& m, dtype in, dtype w, dtype to, const shape& s) {
  uint32 x = m.input(type_of(in, 1, s.depth), filling::plain);
  if (s.norm) x = normed(m, x);
  const bool turned = is_packed(w) || s.columns % 2 == 0;
  uint32 y = m.apply(op::matmul, {x, m.weight(turned ? type_of(w, s.columns, s.depth) : type_of(w, s.depth, s.columns))}, {turned}, type_of(to));
  if (s.steps) {  // special values here and there, and ties
    y = m.apply(op::add, {m.apply(op::mul, {y, m.number(to, 0.25)}), m.input(type_of(to, 1, s.columns), filling::mixed)});
    y = m.apply(op::min, {m.apply(op::max, {y, m.weight(type_of(to, s.columns))}), m.number(to, 2)});
  }
  const uint32 rows = m.apply(op::reshape, {y}, {}, type_of(to, 1, s.columns / s.run, s.run));
  const uint32 greatest = m.apply(op::reduce_max, {rows}, {2}), below = m.apply(op::sub, {rows, greatest}), e = m.apply(op::exp, {below});
  m.result(m.apply(op::reduce_argmax, {below}, {2}));
  m.result(m.apply(op::div, {e, m.apply(op::reduce_sum, {e}, {2})}));
  m.result(greatest);
  if (s.is_read) m.result(y);
}

sample reduced(const std::string& name, dtype in, dtype w, dtype to) {
  sample_maker m(name);
  const int64 depth = row(w).block_elements == 256 ? 256 : 64;
  runs_of_product(m, in, w, to, {depth, 192, 64});
  runs_of_product(m, in, w, to, {depth, 64, 64});  // one run
  runs_of_product(m, in, w, to, {depth, 96, 32, true, true});
  runs_of_product(m, in, w, to, {2 * depth, 90, 30, false, true, true});
  runs_of_product(m, in, w, to, {depth, 35, 5, true, false, true});
  if (is_packed(w)) return m.finish();
  runs_of_product(m, in, w, to, {33, 63, 21, true, true});
  runs_of_product(m, in, w, to, {300, 254, 127, false, true, true});
  runs_of_product(m, in, w, to, {64, 512, 256, true});
  runs_of_product(m, in, w, to, {8, 7, 1, false, true});
  return m.finish();
}

/// The head of a language model, and the token that it chooses.
sample token(const std::string& name, dtype w, bool is_drawn, bool is_read) {
  sample_maker m(name);
  const int64 depth = 64, columns = 33 * 256;
  const uint32 x = normed(m, m.input(type_of(f32, 1, depth), filling::plain));
  uint32 y = m.apply(op::matmul, {x, m.weight(type_of(w, columns, depth))}, {1}, type_of(f32));
  if (is_read) m.result(y);
  if (is_drawn) y = m.apply(op::add, {m.apply(op::div, {y, m.number(f32, 0.7)}), m.apply(op::log, {m.input(type_of(f32, 1, columns), filling::plain)})});
  else y = m.apply(op::min, {y, m.number(f32, 3)});
  m.result(m.apply(op::reduce_argmax, {y}, {1}));
  return m.finish();
}

}  // namespace

samples run_samples() {
  samples all;
  const auto list = [&](const std::string& name, auto make) { all.push_back({name, [name, make] { return make(name); }}); };
  const auto types = [](auto... t) { return std::string(((std::string(" ") + std::string(poot::name(t))) + ...)); };
  for (dtype w : {f32, f16, q8_0, q4_k})
    for (dtype to : {f32, bf16}) list("runs of products" + types(f32, w, to), [=](const std::string& n) { return reduced(n, f32, w, to); });
  list("runs of products" + types(bf16, bf16, f16), [](const std::string& n) { return reduced(n, bf16, bf16, f16); });
  for (dtype w : {f32, q8_0})
    for (bool is_drawn : {false, true})
      list(std::string("token") + (is_drawn ? " drawn" : "") + types(w), [=](const std::string& n) { return token(n, w, is_drawn, w == f32); });
  return all;
}

}  // namespace poot_tests
