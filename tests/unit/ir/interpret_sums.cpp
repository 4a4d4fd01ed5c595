#include "interpret_values.hpp"

#include <doctest/doctest.h>

using namespace interpret_values;

namespace {

/// The sum as numerics.md words it.
template <class Float, class Get>
Float rows_by_hand(int64 n, Get get) {
  Float total = 0;
  for (int64 c = 0; c * 4096 < n; ++c) {
    Float lane[256] = {};
    for (int64 i = 0; i < 256; ++i)
      for (int64 k = c * 4096 + i; k < n && k < (c + 1) * 4096; k += 256) lane[i] = lane[i] + get(k);
    for (int half = 128; half >= 1; half /= 2)
      for (int i = 0; i < half; ++i) lane[i] = lane[i] + lane[i + half];
    total = total + lane[0];
  }
  return total;
}

}  // namespace

TEST_CASE("row sums keep their order for every length and axis") {
  for (int64 n : {0, 1, 2, 100, 255, 256, 257, 511, 513, 4095, 4096, 4097, 8192, 9999}) {
    graph g("rows");
    const uint32 x = g.input("x", f32, {3, n, 2}).id;
    g.add_output("y", apply(g, op::reduce_sum, {x}, {1}));
    const tensor in = random_floats(type_of(f32, 3, n, 2), 17 + static_cast<uint64>(n));
    const tensor y = first_output(g, {{"x", in}});
    REQUIRE(y.type == type_of(f32, 3, 1, 2));
    for (int64 i = 0; i < 3; ++i)
      for (int64 j = 0; j < 2; ++j)
        REQUIRE(at(y, i * 2 + j) == rows_by_hand<float>(n, [&](int64 k) { return at(in, (i * n + k) * 2 + j); }));
  }
}

TEST_CASE("narrow sums accumulate in f32 and round once, f64 in f64") {
  for (dtype t : {f16, bf16, f64}) {
    graph g("sums");
    const uint32 x = g.input("x", t, {5000}).id;
    g.add_output("y", apply(g, op::reduce_sum, {x}, {0}));
    const tensor in = random_floats(type_of(t, 5000), 3);
    const uint64 got = first_output(g, {{"x", in}}).bits[0];
    if (t == f64) CHECK(got == ieee::to_bits(rows_by_hand<double>(5000, [&](int64 k) { return ieee::from_bits(in.bits[size_t(k)]); })));
    else
      CHECK(got == evaluate(op::cast, f32, t, ieee::to_bits(rows_by_hand<float>(5000, [&](int64 k) {
              return ieee::from_bits(static_cast<uint32>(evaluate(op::cast, t, f32, in.bits[size_t(k)])));
            }))));
  }
}

TEST_CASE("contractions add chunks of 256 products, fused unless the order says otherwise") {
  const int64 m = 3, k = 700, n = 4;
  for (bool transpose : {false, true})
    for (int which = 0; which < 3; ++which) {
      graph g("matmul");
      const uint32 a = g.input("a", f32, {m, k}).id;
      const uint32 b = transpose ? g.input("b", f32, {n, k}).id : g.input("b", f32, {k, n}).id;
      const uint32 y = apply(g, op::matmul, {a, b}, {transpose}, type_of(f32));
      g.add_output("y", y);
      const int64 lanes = which == 2 ? 4 : 1;
      if (which == 1) g.eqns[y].sum = {1, 256, false};
      if (which == 2) g.eqns[y].sum = {4, 300, true};
      const int64 chunk = which == 2 ? 300 : 256;
      const tensor ta = random_floats(g.eqns[a].type, 1), tb = random_floats(g.eqns[b].type, 2);
      const tensor got = first_output(g, {{"a", ta}, {"b", tb}});
      for (int64 i = 0; i < m; ++i)
        for (int64 j = 0; j < n; ++j) {
          volatile float total = 0;
          for (int64 c = 0; c < k; c += chunk) {
            volatile float partial[4] = {};
            for (int64 l = 0; l < lanes; ++l)
              for (int64 s = c + l; s < k && s < c + chunk; s += lanes) {
                const float u = at(ta, i * k + s), v = at(tb, transpose ? j * k + s : s * n + j);
                volatile float product = u * v;
                if (which == 1) partial[l] = partial[l] + product;
                else partial[l] = std::fma(u, v, partial[l]);
              }
            for (int64 half = lanes / 2; half; half /= 2)
              for (int64 l = 0; l < half; ++l) partial[l] = partial[l] + partial[l + half];
            total = total + partial[0];
          }
          REQUIRE(at(got, i * n + j) == total);
        }
    }
}

TEST_CASE("batches broadcast, a narrow contraction rounds once, f64 stays f64") {
  graph g("batches");
  const uint32 a = g.input("a", bf16, {2, 1, 3, 5}).id, b = g.input("b", f16, {4, 5, 2}).id;
  g.add_output("y", apply(g, op::matmul, {a, b}, {0}, type_of(bf16)));
  const uint32 c = g.input("c", f64, {1, 3}).id;
  g.add_output("z", apply(g, op::matmul, {c, c}, {1}, type_of(f64)));
  const tensor ta = random_floats(g.eqns[a].type, 5), tb = random_floats(g.eqns[b].type, 6), tc = random_floats(g.eqns[c].type, 7);
  const named_tensor in[] = {{"a", ta}, {"b", tb}, {"c", tc}};
  const interpretation r = interpret(g, {in, 3});
  const tensor& y = r.outputs[0].value;
  REQUIRE(y.type == type_of(bf16, 2, 4, 3, 2));
  auto value = [](const tensor& t, int64 i) {
    return ieee::from_bits(static_cast<uint32>(evaluate(op::cast, t.type.element, f32, t.bits[static_cast<size_t>(i)])));
  };
  for (int64 p = 0; p < 2; ++p)
    for (int64 q = 0; q < 4; ++q)
      for (int64 i = 0; i < 3; ++i)
        for (int64 j = 0; j < 2; ++j) {
          float sum = 0;
          for (int64 k = 0; k < 5; ++k) sum = std::fma(value(ta, (p * 3 + i) * 5 + k), value(tb, (q * 5 + k) * 2 + j), sum);
          REQUIRE(y.bits[static_cast<size_t>(((p * 4 + q) * 3 + i) * 2 + j)] == evaluate(op::cast, f32, bf16, ieee::to_bits(sum)));
        }
  double sum = 0;
  for (uint64 bits : tc.bits) sum = std::fma(ieee::from_bits(bits), ieee::from_bits(bits), sum);
  CHECK(r.outputs[1].value.bits[0] == ieee::to_bits(sum));
}

TEST_CASE("convolution reads windows with stride, padding, dilation and groups") {
  struct setting {
    int64 stride[2], pad[4], dilation[2], groups;
  };
  for (const setting& s : {setting{{1, 1}, {0, 0, 0, 0}, {1, 1}, 1}, setting{{2, 1}, {1, 2, 0, 3}, {1, 2}, 2},
                           setting{{1, 3}, {2, 0, 1, 1}, {2, 1}, 4}}) {
    const int64 n = 2, c = 4, h = 7, w = 8, o = 8, kh = 3, kw = 2;
    graph g("conv");
    const uint32 x = g.input("x", f32, {n, c, h, w}).id, k = g.input("w", f32, {o, c / s.groups, kh, kw}).id;
    g.add_output("y", apply(g, op::conv2d, {x, k},
                            {s.stride[0], s.stride[1], s.pad[0], s.pad[1], s.pad[2], s.pad[3], s.dilation[0], s.dilation[1], s.groups},
                            type_of(f32)));
    const tensor tx = random_integers(g.eqns[x].type, 1, -4, 4), tw = random_integers(g.eqns[k].type, 2, -4, 4);
    const tensor y = first_output(g, {{"x", tx}, {"w", tw}});
    size_t at_y = 0;
    for (int64 b = 0; b < n; ++b)
      for (int64 out = 0; out < o; ++out)
        for (int64 i = 0; i < y.type.extents[2].code; ++i)
          for (int64 j = 0; j < y.type.extents[3].code; ++j) {
            float sum = 0;
            for (int64 ch = 0; ch < c / s.groups; ++ch)
              for (int64 p = 0; p < kh; ++p)
                for (int64 q = 0; q < kw; ++q) {
                  const int64 hh = i * s.stride[0] + p * s.dilation[0] - s.pad[0], ww = j * s.stride[1] + q * s.dilation[1] - s.pad[2];
                  if (hh < 0 || hh >= h || ww < 0 || ww >= w) continue;
                  const int64 from = out / (o / s.groups) * (c / s.groups) + ch;
                  sum += at(tx, ((b * c + from) * h + hh) * w + ww) * at(tw, ((out * (c / s.groups) + ch) * kh + p) * kw + q);
                }
            REQUIRE(at(y, static_cast<int64>(at_y++)) == sum);
          }
    CHECK(at_y == y.bits.size());
  }
}

TEST_CASE("a tap in the padding is +0 times the weight, so an infinite weight makes NaN") {
  graph g("conv");
  const uint32 x = g.input("x", f32, {1, 1, 1, 1}).id, w = g.input("w", f32, {1, 1, 1, 2}).id;
  g.add_output("y", apply(g, op::conv2d, {x, w}, {1, 1, 0, 0, 0, 1, 1, 1, 1}, type_of(f32)));
  CHECK(std::isnan(at(first_output(g, {{"x", floats({1}, 1, 1, 1, 1)}, {"w", floats({1, infinity}, 1, 1, 1, 2)}}), 0)));
}

TEST_CASE("indexed_matmul multiplies row t by the matrix that idx[t] names") {
  graph g("experts");
  const uint32 x = g.input("x", f32, {3, 2}).id, w = g.input("w", f32, {2, 2, 2}).id, i = g.input("i", i32, {3}).id;
  g.add_output("y", apply(g, op::indexed_matmul, {x, w, i}, {}, type_of(f32)));
  const tensor tx = floats({1, 2, 3, 4, 5, 6}, 3, 2), tw = floats({1, 0, 0, 1, 1, 1, 2, -1}, 2, 2, 2);
  CHECK(first_output(g, {{"x", tx}, {"w", tw}, {"i", words({1, 0, 1}, 3)}}) == floats({3, 0, 3, 4, 11, 4}, 3, 2));
  CHECK(names(refusal(g, {{"x", tx}, {"w", tw}, {"i", words({1, 2, 1}, 3)}}), "indexed_matmul"));
}

TEST_CASE("maxima, minima and argmax: NaN wins, the first of equals, and what no elements give") {
  graph g("extremes");
  const uint32 x = g.input("x", f32, {4, 4}).id, none = g.input("none", f16, {0, 2}).id, ints = g.input("ints", i8, {0, 1}).id;
  g.add_output("max", apply(g, op::reduce_max, {x}, {1}));
  g.add_output("argmax", apply(g, op::reduce_argmax, {x}, {1}));
  g.add_output("low", apply(g, op::reduce_max, {none}, {0}));
  g.add_output("high", apply(g, op::reduce_min, {ints}, {0}));
  g.add_output("sum", apply(g, op::reduce_sum, {none}, {0}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const named_tensor in[] = {{"x", floats({1, 7, 7, 2, nan, 1, nan, infinity, -0.0f, 0, -0.0f, 0, -infinity, -infinity, -infinity, -infinity}, 4, 4)},
                             {"none", tensor(type_of(f16, 0, 2))},
                             {"ints", tensor(type_of(i8, 0, 1))}};
  const interpretation r = interpret(g, {in, 3});
  CHECK(at(r.outputs[0].value, 0) == 7);
  CHECK(std::isnan(at(r.outputs[0].value, 1)));
  CHECK(r.outputs[0].value.bits[2] == 0);
  CHECK(at(r.outputs[0].value, 3) == -infinity);
  CHECK(r.outputs[1].value == words({1, 0, 0, 0}, 4, 1));
  CHECK(r.outputs[2].value.bits == vec<uint64>{0xfc00, 0xfc00});
  CHECK(r.outputs[3].value.bits == vec<uint64>{127});
  CHECK(r.outputs[4].value.bits == vec<uint64>{0, 0});
}

TEST_CASE("integer sums wrap in their own width") {
  graph g("sums");
  const uint32 x = g.input("x", i8, {3}).id, y = g.input("y", i32, {2}).id;
  g.add_output("words", apply(g, op::reduce_sum, {y}, {0}));
  g.add_output("bytes", apply(g, op::reduce_sum, {x}, {0}));
  tensor small(type_of(i8, 3));
  small.bits = {100, 100, 0xff};
  const named_tensor in[] = {{"x", small}, {"y", words({2147483647, 2}, 2)}};
  const interpretation r = interpret(g, {in, 2});
  CHECK(r.outputs[0].value.bits[0] == 0x80000001);
  CHECK(r.outputs[1].value.bits[0] == 199);
}

TEST_CASE("an order that cannot be followed is refused") {
  graph g("order");
  const uint32 x = g.input("x", f32, {2}).id, y = apply(g, op::reduce_sum, {x}, {0});
  g.add_output("y", y);
  g.eqns[y].sum = {3, 16, false};
  CHECK(names(refusal(g, {{"x", floats({1, 2}, 2)}}), "power of two"));
}
