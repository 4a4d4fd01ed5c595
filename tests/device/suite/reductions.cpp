// Reductions over every axis of rank 4 and of lengths around lanes and chunks, of every element type; and rows: the regions
// that models are made of, in each float type.
#include "sample.hpp"

namespace poot_tests {

namespace {

/// (Extents of one are a structure of their own, and so a kernel: there are few of them.)
sample reduction(const std::string& name, dtype t, op o) {
  sample_maker m(name);
  const auto reduce = [&](int64 axis, int64 n, filling how = filling::mixed) {
    m.result(m.apply(o, {m.input(type_of(t, 2, 3, 2, 2).with(static_cast<int>(axis), extent(n)), how)}, {axis}));
  };
  for (int64 axis = 0; axis < 4; ++axis)
    for (int64 n : {3, 255, 256, 257}) reduce(axis, n);
  for (int64 axis : {0, 3}) reduce(axis, 4099);
  for (filling how : {filling::edges, filling::plain}) reduce(3, 41, how);
  reduce(1, 1);
  if (o != op::reduce_argmax) reduce(1, 0);
  m.result(m.apply(o, {m.input(type_of(t, 2, 3, 0, 2))}, {1}));
  return m.finish();
}

/// Lengths around lanes and chunks. Kernels of rows are long, those of narrow types most, and drivers compile them slowly.
std::vector<int64> row_lengths(dtype t) {
  if (is_narrow(t)) return {257, 4099};
  return {2, 255, 256, 257, 4096, 4099, 8193};
}

/// softmax(x) and its sum.
void softmax(sample_maker& m, dtype t, int64 rows, int64 n) {
  const uint32 x = m.input(type_of(t, rows, n), filling::mixed);
  const uint32 e = m.apply(op::exp, {m.apply(op::sub, {x, m.apply(op::reduce_max, {x}, {1})})});
  const uint32 sum = m.apply(op::reduce_sum, {e}, {1});
  m.result(m.apply(op::div, {e, sum}));
  m.result(sum);
}

/// (x + r − mean) / sqrt(variance) · gain + bias, and x + r.
void layer_norm(sample_maker& m, dtype t, int64 rows, int64 n) {
  const uint32 x = m.apply(op::add, {m.input(type_of(t, rows, n), filling::plain), m.input(type_of(t, rows, n), filling::plain)});
  const uint32 share = m.number(t, 1.0 / static_cast<double>(n));
  const uint32 centred = m.apply(op::sub, {x, m.apply(op::mul, {m.apply(op::reduce_sum, {x}, {1}), share})});
  const uint32 squares = m.apply(op::reduce_sum, {m.apply(op::mul, {centred, centred})}, {1});
  const uint32 scale = m.apply(op::recip, {m.apply(op::sqrt, {m.apply(op::add, {m.apply(op::mul, {squares, share}), m.number(t, 1e-5)})})});
  const uint32 gain = m.weight(type_of(t == f32 ? bf16 : t, n));
  const uint32 scaled = m.apply(op::mul, {m.apply(op::mul, {centred, scale}), t == f32 ? m.cast(gain, f32) : gain});
  m.result(m.apply(op::add, {scaled, m.weight(type_of(t, n))}));
  m.result(x);
}

/// Where a row is greatest, and how great it is.
void greatest(sample_maker& m, dtype t, int64 rows, int64 n) {
  const uint32 x = m.input(type_of(t, rows, n), filling::mixed), square = m.apply(op::mul, {x, x});
  m.result(m.apply(op::reduce_argmax, {square}, {1}));
  m.result(m.apply(op::reduce_max, {square}, {1}));
}

/// A threshold for each row, found bit by bit: trials that kernels write once, in a loop. What they hand on begins as a number, a
/// value of each row and one of an input.
void searched(sample_maker& m, dtype t, int64 rows, int64 n) {
  const uint32 x = m.input(type_of(t, rows, n), filling::mixed), limit = m.apply(op::mul, {m.apply(op::reduce_max, {x}, {1}), m.number(t, 0.5)});
  const auto passes = [&](uint32 a, uint32 b) {  // 1 where a is beyond b, by one or more
    return m.apply(op::min, {m.apply(op::max, {m.apply(op::sub, {a, b}), m.number(t, 0)}), m.number(t, 1)});
  };
  uint32 found = m.number(t, 0.5), step = m.input(type_of(t, rows, 1), filling::plain), seen = limit;
  for (int trial = 0; trial < 5; ++trial) {
    step = m.apply(op::mul, {step, m.number(t, 0.75)});
    const uint32 tried = m.apply(op::add, {found, step});
    const uint32 count = m.apply(op::reduce_sum, {passes(tried, x)}, {1});
    seen = m.apply(op::max, {seen, count});
    found = m.apply(op::add, {found, m.apply(op::mul, {passes(seen, count), step})});
  }
  m.result(found);
  m.result(seen);
  m.result(m.apply(op::sub, {x, found}));
}

/// Trials whose last one a product reads, a whole row of it, and what stands behind it a single value.
void searched_product(sample_maker& m, dtype t, int64, int64 n) {
  const uint32 x = m.input(type_of(t, 1, n), filling::plain);
  uint32 found = m.apply(op::reduce_max, {x}, {1}), row = x;
  for (int trial = 0; trial < 5; ++trial) {
    row = m.apply(op::sub, {x, m.apply(op::mul, {found, m.number(t, 0.5)})});
    found = m.apply(op::add, {found, m.apply(op::reduce_max, {row}, {1})});
  }
  m.result(m.apply(op::matmul, {row, m.weight(type_of(t, n, 24))}, {0}, type_of(t)));
  m.result(found);
}

}  // namespace

samples reduction_samples() {
  samples all;
  for (dtype t : unpacked_types) {
    for (op o : {op::reduce_sum, op::reduce_max, op::reduce_min, op::reduce_argmax}) {
      if (t == boolean) continue;
      const std::string name = std::string(ir::name(o)) + " of " + std::string(poot::name(t));
      all.push_back({name, [=] { return reduction(name, t, o); }});
    }
  }
  return all;
}

samples row_samples() {
  samples all;
  const auto list = [&](const std::string& what, auto add) {
    for (dtype t : {f32, f16, bf16, f64})
      for (bool edges : {false, true}) {  // rows and extents of one are a structure of their own
        if (edges && t != f32) continue;
        const std::string name = "row " + what + " of " + std::string(poot::name(t)) + (edges ? ", rows of one and one row" : "");
        all.push_back({name, [=] {
                         sample_maker m(name);
                         if (edges) add(m, t, 3, 1), add(m, t, 1, 257);
                         else
                           for (int64 n : row_lengths(t)) add(m, t, 3, n);
                         return m.finish();
                       }});
      }
  };
  list("softmax", softmax);
  list("norm", layer_norm);
  list("greatest", greatest);
  list("searched", searched);
  list("searched before a product", searched_product);
  return all;
}

}  // namespace poot_tests
