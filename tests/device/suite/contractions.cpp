// Contractions in every layout, element type and number of rows, alone and with the steps that may follow them; packed weights
// in every format.
#include "sample.hpp"

namespace poot_tests {

namespace {

constexpr int64 row_counts[] = {1, 2, 7, 17, 65};
constexpr int64 depths[] = {1, 33, 255, 256, 257, 520};

sample matmul(const std::string& name, dtype a, dtype b, dtype to, bool transposed) {
  sample_maker m(name);
  const auto contract = [&](int64 rows, int64 depth, int64 columns) {
    const uint32 w = m.weight(transposed ? type_of(b, columns, depth) : type_of(b, depth, columns), filling::mixed);
    m.result(m.apply(op::matmul, {m.input(type_of(a, rows, depth), filling::plain), w}, {transposed}, type_of(to)));
  };
  for (int64 rows : row_counts) contract(rows, 257, 33);
  for (int64 depth : depths) contract(3, depth, 5);
  for (int64 columns : {1, 64, 67}) contract(17, 40, columns);
  contract(2, 0, 3);
  contract(0, 4, 3);
  return m.finish();
}

/// Rows by themselves: one value on both sides.
sample squared(const std::string& name, dtype t) {
  sample_maker m(name);
  for (int64 rows : {5, 70}) {
    const uint32 x = m.input(type_of(t, rows, 64), filling::plain), square = m.input(type_of(t, rows, rows), filling::plain);
    m.result(m.apply(op::matmul, {x, x}, {1}, type_of(f32)));
    m.result(m.apply(op::matmul, {square, square}, {0}, type_of(f32)));
  }
  return m.finish();
}

sample batched(const std::string& name, dtype t, bool transposed) {
  sample_maker m(name);
  const auto contract = [&](const std::vector<int64>& left, const std::vector<int64>& right) {
    m.result(m.apply(op::matmul, {m.input(shaped(t, left), filling::plain), m.input(shaped(t, right), filling::plain)}, {transposed}, type_of(t == f64 ? f64 : f32)));
  };
  for (int64 rows : {1, 5}) {
    contract({2, 3, rows, 9}, transposed ? std::vector<int64>{2, 3, 7, 9} : std::vector<int64>{2, 3, 9, 7});
    contract({2, 3, rows, 9}, transposed ? std::vector<int64>{1, 3, 7, 9} : std::vector<int64>{1, 3, 9, 7});
    contract({2, 1, rows, 9}, transposed ? std::vector<int64>{3, 7, 9} : std::vector<int64>{3, 9, 7});
    contract({4, rows, 9}, transposed ? std::vector<int64>{7, 9} : std::vector<int64>{9, 7});
    contract({rows, 9}, transposed ? std::vector<int64>{4, 7, 9} : std::vector<int64>{4, 9, 7});
  }
  return m.finish();
}

/// Bias, gate, a scalar, a column, a residual of the whole and rounding at the end.
void add_steps(sample_maker& m, uint32 head, dtype store) {
  const tensor_type t = m.type(head);
  const uint32 biased = m.apply(op::add, {head, m.weight(type_of(t.element, t.last()))});
  const uint32 gate = m.apply(op::mul, {biased, m.apply(op::recip, {m.apply(op::add, {m.apply(op::exp, {m.apply(op::neg, {biased})}), m.number(t.element, 1)})})});
  const uint32 scaled = m.apply(op::mul, {gate, m.apply(op::max, {m.input(t.with(t.rank - 1, extent(1)), filling::plain), m.number(t.element, 0.5)})});
  const uint32 sum = m.apply(op::add, {scaled, m.input(t, filling::plain)});
  m.result(m.cast(sum, store));
  m.result(biased);
}

sample epilogue(const std::string& name, dtype a, dtype b, dtype to, dtype store) {
  sample_maker m(name);
  for (int64 rows : {1, 3, 33})
    add_steps(m, m.apply(op::matmul, {m.input(type_of(a, rows, 300), filling::plain), m.weight(type_of(b, 37, 300))}, {1}, type_of(to)), store);
  add_steps(m, m.apply(op::matmul, {m.input(type_of(a, 2, 5, 31), filling::plain), m.input(type_of(b, 2, 31, 9), filling::plain)}, {0}, type_of(to)), store);
  return m.finish();
}

/// Three projections of one value, two of them narrower and one with steps; two of one value, gated.
sample siblings(const std::string& name, dtype t, dtype in) {
  sample_maker m(name);
  const int64 depth = row(t).block_elements == 256 ? 256 : 96;
  for (int64 rows : {1, 3, 9, 65}) {
    const uint32 x = m.input(type_of(in, rows, depth), filling::plain);
    m.result(m.apply(op::matmul, {x, m.weight(type_of(t, 70, depth))}, {1}, type_of(f32)));
    m.result(m.apply(op::matmul, {x, m.weight(type_of(t, 12, depth))}, {1}, type_of(bf16)));
    m.result(m.apply(op::add, {m.apply(op::matmul, {x, m.weight(type_of(t, 12, depth))}, {1}, type_of(f32)), m.weight(type_of(f32, 12))}));
  }
  for (int64 rows : {1, 9, 33}) {
    const uint32 x = m.input(type_of(in, rows, depth), filling::plain);
    const uint32 a = m.apply(op::matmul, {x, m.weight(type_of(t, 40, depth))}, {1}, type_of(f32));
    const uint32 b = m.apply(op::matmul, {x, m.weight(type_of(t, 40, depth))}, {1}, type_of(f32));
    m.result(m.apply(op::mul, {m.apply(op::tanh, {a}), b}));
  }
  return m.finish();
}

/// An RMS norm of x, or a softmax, and two products of it; one has a step, and reads x again where it can.
void behind_rows(sample_maker& m, dtype in, dtype t, bool norm, const std::vector<int64>& extents, int64 columns) {
  const tensor_type rows = shaped(in, extents);
  const int64 depth = extents.back(), last = rows.rank - 1;
  const uint32 x = m.input(rows, filling::plain);
  uint32 h = 0;
  if (norm) {
    const uint32 mean = m.apply(op::mul, {m.apply(op::reduce_sum, {m.apply(op::mul, {x, x})}, {last}), m.number(in, 1.0 / static_cast<double>(depth))});
    h = m.apply(op::mul, {m.apply(op::div, {x, m.apply(op::sqrt, {m.apply(op::add, {mean, m.number(in, 1e-3)})})}), m.weight(type_of(in, depth))});
  } else {
    const uint32 e = m.apply(op::exp, {m.apply(op::sub, {x, m.apply(op::reduce_max, {x}, {last})})});
    h = m.apply(op::div, {e, m.apply(op::reduce_sum, {e}, {last})});
  }
  const uint32 a = m.apply(op::matmul, {h, m.weight(type_of(t, depth, depth))}, {1}, type_of(in));
  m.result(m.apply(op::add, {m.apply(op::tanh, {a}), x}));
  m.result(is_packed(t) ? m.apply(op::matmul, {h, m.weight(type_of(t, columns, depth))}, {1}, type_of(f32))
                        : m.apply(op::matmul, {h, m.weight(type_of(t, depth, columns))}, {0}, type_of(f32)));
  if (rows.rank == 3 || depth == 288 || depth == 5) m.result(h);  // of several workgroups, and of one
}
sample rows_before(const std::string& name, dtype in, dtype t, bool norm) {
  sample_maker m(name);
  behind_rows(m, in, t, norm, {1, 288}, 70);
  behind_rows(m, in, t, norm, {8, 32}, 20);
  if (is_packed(t)) return m.finish();
  for (int64 depth : {1, 5}) behind_rows(m, in, t, norm, {3, depth}, 5);
  behind_rows(m, in, t, norm, {2, 3, 64}, 9);
  return m.finish();
}

sample indexed(const std::string& name, dtype x, dtype w, dtype to) {
  sample_maker m(name);
  const int64 depth = is_packed(w) ? 256 : 70;
  for (int64 rows : {1, 3, 11}) {
    const uint32 product = m.apply(op::indexed_matmul, {m.input(type_of(x, rows, depth), filling::plain), m.weight(type_of(w, 4, 9, depth)), m.places(type_of(i32, rows), 4)}, {}, type_of(to));
    m.result(product);
    if (to != f64) m.result(m.apply(op::tanh, {m.apply(op::add, {product, m.weight(type_of(to, 9))})}));
  }
  return m.finish();
}

sample convolution(const std::string& name, dtype x, dtype w, dtype to) {
  sample_maker m(name);
  const auto convolve = [&](const std::vector<int64>& image, const std::vector<int64>& window, const std::vector<int64>& attrs) {
    const uint32 y = m.apply(op::conv2d, {m.input(shaped(x, image), filling::plain), m.weight(shaped(w, window))}, attrs, type_of(to));
    m.result(to == f64 ? y : m.apply(op::max, {m.apply(op::add, {y, m.weight(type_of(to, window[0], 1, 1))}), m.number(to, 0)}));
  };
  convolve({2, 4, 7, 6}, {6, 4, 3, 3}, {1, 1, 1, 1, 1, 1, 1, 1, 1});
  convolve({1, 4, 7, 6}, {6, 2, 3, 2}, {2, 1, 2, 1, 1, 0, 1, 1, 2});
  convolve({1, 3, 9, 9}, {5, 3, 3, 3}, {1, 1, 0, 0, 0, 0, 2, 2, 1});
  convolve({2, 5, 8, 3}, {5, 1, 2, 3}, {3, 2, 1, 0, 0, 2, 1, 1, 5});
  convolve({1, 33, 2, 2}, {3, 33, 1, 1}, {1, 1, 0, 0, 0, 0, 1, 1, 1});
  return m.finish();
}

sample packed_matmul(const std::string& name, dtype w, dtype x, dtype to) {
  sample_maker m(name);
  const int64 block = row(w).block_elements;
  for (int64 rows : {1, 2, 17})
    for (int64 depth : {block, int64{512}}) m.result(m.apply(op::matmul, {m.input(type_of(x, rows, depth), filling::plain), m.weight(type_of(w, 37, depth))}, {1}, type_of(to)));
  for (int64 rows : {1, 5}) add_steps(m, m.apply(op::matmul, {m.input(type_of(x, rows, 256), filling::plain), m.weight(type_of(w, 33, 256))}, {1}, type_of(to)), f16);
  m.result(m.apply(op::matmul, {m.input(type_of(x, 2, 3, 256), filling::plain), m.weight(type_of(w, 2, 5, 256))}, {1}, type_of(to)));
  return m.finish();
}

/// Rows as they are, decoded rows, the whole decoded; places outside are moved to the edge.
sample packed_rows(const std::string& name, dtype w, dtype to) {
  sample_maker m(name);
  for (int64 depth : {int64{row(w).block_elements}, int64{512}}) {
    const uint32 table = m.weight(type_of(w, 7, depth)), kept = m.state(type_of(w, 3, depth));
    m.result(m.apply(op::gather, {table, m.places(type_of(i32, 11), 7)}, {0}));
    m.result(m.cast(m.apply(op::gather, {table, m.places(type_of(i32, 2, 3), 7)}, {0}), to));
    m.result(m.cast(m.apply(op::gather, {kept, m.places(type_of(i32), 3)}, {0}), to));
    m.result(m.cast(m.input(type_of(w, 3, depth)), to));
  }
  return m.finish();
}

}  // namespace

samples contraction_samples() {
  samples all;
  const auto list = [&](const std::string& name, auto make) { all.push_back({name, [name, make] { return make(name); }}); };
  const auto types = [](auto... t) { return std::string(((std::string(" ") + std::string(poot::name(t))) + ...)); };
  const auto over_types = [&](auto each) {
    for (dtype a : {f32, f16, bf16})
      for (dtype b : {f32, f16, bf16}) each(a, b);
    each(f64, f64);
  };
  over_types([&](dtype a, dtype b) {
    for (dtype to : {f32, f16, bf16, f64}) {
      if ((to == f64) != (a == f64) || (a != b && to != f32)) continue;  // rounding at the end does not ask where operands come from
      const bool narrow = to == f16 || to == bf16;
      for (bool transposed : {false, true})
        if (!narrow || transposed == (to == a))
          list(std::string("matmul") + (transposed ? " transposed" : "") + types(a, b, to), [=](const std::string& n) { return matmul(n, a, b, to, transposed); });
      if (to != f64) list("matmul with steps" + types(a, b, to), [=](const std::string& n) { return epilogue(n, a, b, to, b == f32 ? to : bf16); });
      if (a == b && (to == a || to == f32)) {
        list("indexed_matmul" + types(a, b, to), [=](const std::string& n) { return indexed(n, a, b, to); });
        list("conv2d" + types(a, b, to), [=](const std::string& n) { return convolution(n, a, b, to); });
      }
    }
    if (a == b)
      for (bool transposed : {false, true}) list(std::string("matmul batched") + (transposed ? " transposed" : "") + types(a), [=](const std::string& n) { return batched(n, a, transposed); });
  });
  for (dtype t : {f32, f16, bf16, q8_0, q4_k})
    for (dtype in : {f32, bf16}) list("matmul of siblings" + types(in, t), [=](const std::string& n) { return siblings(n, t, in); });
  for (dtype t : {f32, f16, bf16}) list("matmul by itself" + types(t), [=](const std::string& n) { return squared(n, t); });
  for (dtype t : {f32, q8_0}) list("norm before products" + types(f32, t), [=](const std::string& n) { return rows_before(n, f32, t, true); });
  list("norm before products" + types(bf16, f16), [](const std::string& n) { return rows_before(n, bf16, f16, true); });
  list("softmax before products" + types(f32, bf16), [](const std::string& n) { return rows_before(n, f32, bf16, false); });
  return all;
}

samples packed_samples() {
  samples all;
  const auto list = [&](const std::string& name, auto make) { all.push_back({name, [name, make] { return make(name); }}); };
  for (dtype w : packed_types) {
    const std::string of = " " + std::string(name(w));
    for (dtype x : {f32, f16, bf16}) {
      const dtype to = x == bf16 ? f16 : x == f16 ? bf16 : f32;
      list("packed matmul" + of + " by " + std::string(name(x)), [=](const std::string& n) { return packed_matmul(n, w, x, to); });
      list("packed rows" + of + " to " + std::string(name(x)), [=](const std::string& n) { return packed_rows(n, w, x); });
    }
    list("packed rows" + of + " to f64", [=](const std::string& n) { return packed_rows(n, w, f64); });
    list("packed indexed_matmul" + of, [=](const std::string& n) { return indexed(n, f32, w, f32); });
  }
  return all;
}

}  // namespace poot_tests
