#include <poot/ir/interpret.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

using namespace poot;
using namespace poot::ir;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

constexpr uint32 apply(graph& g, op o, std::initializer_list<uint32> in, std::initializer_list<int64> at = {},
                       const tensor_type& declared = {}) {
  return g.apply(o, {in.begin(), in.size()}, {at.begin(), at.size()}, declared);
}

template <class... Extents>
constexpr tensor floats(std::initializer_list<float> values, Extents... extents) {
  tensor t(type_of(f32, extents...));
  size_t i = 0;
  for (float v : values) t.bits[i++] = ieee::to_bits(v);
  return t;
}
template <class... Extents>
constexpr tensor words(std::initializer_list<int32> values, Extents... extents) {
  tensor t(type_of(i32, extents...));
  size_t i = 0;
  for (int32 v : values) t.bits[i++] = static_cast<uint32>(v);
  return t;
}
constexpr float at(const tensor& t, int64 i) { return ieee::from_bits(static_cast<uint32>(t.bits[static_cast<size_t>(i)])); }

constexpr tensor first_output(const graph& g, std::initializer_list<named_tensor> in, interpret_options options = {}) {
  return interpret(g, {in.begin(), in.size()}, options).outputs[0].value;
}

std::string refusal(const graph& g, std::initializer_list<named_tensor> in, interpret_options options = {}) {
  try {
    interpret(g, {in.begin(), in.size()}, options);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}
bool names(const std::string& message, const char* part) { return message.find(part) != std::string::npos; }

struct random_words {
  uint64 state;
  uint64 operator()() {
    state += 0x9E3779B97F4A7C15u;
    uint64 z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  float unit() { return static_cast<float>(static_cast<double>((*this)() >> 11) * 0x1p-52 - 1); }
};

tensor random_floats(const tensor_type& t, uint64 seed) {
  random_words random{seed};
  tensor x(t);
  for (uint64& bits : x.bits) bits = detail::store_float(t.element, random.unit());
  return x;
}
tensor random_integers(const tensor_type& t, uint64 seed, int32 lowest, int32 highest) {
  random_words random{seed};
  tensor x(t);
  for (uint64& bits : x.bits) {
    const int32 v = lowest + static_cast<int32>(random() % static_cast<uint64>(highest - lowest + 1));
    bits = is_float(t.element) ? detail::store_float(t.element, static_cast<float>(v)) : static_cast<uint32>(v);
  }
  return x;
}

// ---- small graphs, run by the compiler
constexpr bool softmax_row() {
  graph g("softmax");
  const uint32 x = g.input("x", f32, {2, 2}).id;
  const uint32 m = apply(g, op::reduce_max, {x}, {1});
  const uint32 e = apply(g, op::exp, {apply(g, op::sub, {x, m})});
  g.add_output("y", apply(g, op::div, {e, apply(g, op::reduce_sum, {e}, {1})}));
  const tensor y = first_output(g, {{"x", floats({1, 1, 3, -infinity}, 2, 2)}});
  return y == floats({0.5f, 0.5f, 1, 0}, 2, 2);
}
static_assert(softmax_row());

constexpr bool matmul_and_bias() {
  graph g("matmul");
  const uint32 a = g.input("a", f32, {2, 3}).id, b = g.weight("b", f32, {3, 2}).id, bias = g.weight("bias", f32, {2}).id;
  g.add_output("y", apply(g, op::add, {apply(g, op::matmul, {a, b}, {0}, type_of(f32)), bias}));
  const tensor y = first_output(g, {{"a", floats({1, 2, 3, 4, 5, 6}, 2, 3)},
                                    {"b", floats({1, 0, 0, 1, 2, 2}, 3, 2)},
                                    {"bias", floats({10, 20}, 2)}});
  return y == floats({17, 28, 26, 37}, 2, 2);
}
static_assert(matmul_and_bias());

constexpr bool movement() {
  graph g("movement");
  const uint32 x = g.input("x", i32, {2, 3}).id;
  const uint32 t = apply(g, op::transpose, {x}, {1, 0});                    // [3,2]
  const uint32 s = apply(g, op::slice, {t}, {0, 1, 2, 1, 2, 1});            // rows 0 and 2, column 1: [2,1]
  const uint32 b = apply(g, op::broadcast, {s}, {}, type_of(i32, 2, 2));
  g.add_output("y", apply(g, op::concat, {b, x}, {1}));                     // [2,5]
  return first_output(g, {{"x", words({1, 2, 3, 4, 5, 6}, 2, 3)}}) == words({4, 4, 1, 2, 3, 6, 6, 4, 5, 6}, 2, 5);
}
static_assert(movement());

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

TEST_CASE("pointwise operands of every rank broadcast") {
  graph g("broadcast");
  const uint32 a = g.input("a", i32, {3, 1}).id, b = g.input("b", i32, {4}).id, c = g.input("c", i32, {2, 1, 1}).id, s = g.input("s", i32, {}).id;
  g.add_output("y", apply(g, op::select, {apply(g, op::lt, {a, b}), apply(g, op::mul, {c, b}), apply(g, op::sub, {s, a})}));
  const tensor y = first_output(g, {{"a", words({1, 2, 3}, 3, 1)}, {"b", words({0, 2, 3, 9}, 4)}, {"c", words({10, 20}, 2, 1, 1)}, {"s", words({7})}});
  REQUIRE(y.type == type_of(i32, 2, 3, 4));
  const int32 av[] = {1, 2, 3}, bv[] = {0, 2, 3, 9}, cv[] = {10, 20};
  for (int k = 0; k < 24; ++k) {
    const int32 p = av[k / 4 % 3], q = bv[k % 4];
    CHECK(y.bits[static_cast<size_t>(k)] == static_cast<uint32>(p < q ? cv[k / 12] * q : 7 - p));
  }
}

TEST_CASE("transposes, strided slices and concatenations move every element to its place") {
  const int64 e[4] = {3, 4, 2, 5};
  graph g("moves");
  const uint32 x = g.input("x", f32, {e[0], e[1], e[2], e[3]}).id;
  g.add_output("t", apply(g, op::transpose, {x}, {2, 0, 3, 1}));
  g.add_output("s", apply(g, op::slice, {x}, {1, 0, 1, 1, 2, 2, 1, 2, 1, 3, 1, 2}));
  g.add_output("c", apply(g, op::concat, {x, x}, {2}));
  const tensor in = random_floats(g.eqns[x].type, 4);
  const named_tensor given{"x", in};
  const interpretation r = interpret(g, {&given, 1});
  auto element = [&](int64 i, int64 j, int64 k, int64 l) { return in.bits[static_cast<size_t>(((i * e[1] + j) * e[2] + k) * e[3] + l)]; };
  size_t n = 0;
  for (int64 k = 0; k < 2; ++k)
    for (int64 i = 0; i < 3; ++i)
      for (int64 l = 0; l < 5; ++l)
        for (int64 j = 0; j < 4; ++j) REQUIRE(r.outputs[0].value.bits[n++] == element(i, j, k, l));
  n = 0;
  for (int64 i = 0; i < 2; ++i)
    for (int64 j = 0; j < 2; ++j)
      for (int64 l = 0; l < 2; ++l) REQUIRE(r.outputs[1].value.bits[n++] == element(1 + i, 3 * j, 1, 1 + 2 * l));
  n = 0;
  for (int64 i = 0; i < 3; ++i)
    for (int64 j = 0; j < 4; ++j)
      for (int64 k = 0; k < 4; ++k)
        for (int64 l = 0; l < 5; ++l) REQUIRE(r.outputs[2].value.bits[n++] == element(i, j, k % 2, l));
}

TEST_CASE("gather takes rows along any axis; an index outside is refused, or clamped on request") {
  graph g("gather");
  const uint32 x = g.input("x", i32, {2, 3, 2}).id, i = g.input("i", i32, {2, 2}).id;
  g.add_output("y", apply(g, op::gather, {x, i}, {1}));
  const tensor in = words({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 2, 3, 2);
  const tensor y = first_output(g, {{"x", in}, {"i", words({2, 0, 0, 1}, 2, 2)}});
  CHECK(y == words({4, 5, 0, 1, 0, 1, 2, 3, 10, 11, 6, 7, 6, 7, 8, 9}, 2, 2, 2, 2));
  const std::string why = refusal(g, {{"x", in}, {"i", words({2, 0, 3, 1}, 2, 2)}});
  CHECK(names(why, "gather"));
  CHECK(names(why, "index 3"));
  CHECK(names(refusal(g, {{"x", in}, {"i", words({-1, 0, 0, 1}, 2, 2)}}), "index -1"));
  const tensor clamped = first_output(g, {{"x", in}, {"i", words({-5, 9, 0, 1}, 2, 2)}}, {arithmetic::exact, outside::clamp});
  CHECK(clamped == first_output(g, {{"x", in}, {"i", words({0, 2, 0, 1}, 2, 2)}}));
}

TEST_CASE("indexed_matmul multiplies row t by the matrix that idx[t] names") {
  graph g("experts");
  const uint32 x = g.input("x", f32, {3, 2}).id, w = g.input("w", f32, {2, 2, 2}).id, i = g.input("i", i32, {3}).id;
  g.add_output("y", apply(g, op::indexed_matmul, {x, w, i}, {}, type_of(f32)));
  const tensor tx = floats({1, 2, 3, 4, 5, 6}, 3, 2), tw = floats({1, 0, 0, 1, 1, 1, 2, -1}, 2, 2, 2);
  CHECK(first_output(g, {{"x", tx}, {"w", tw}, {"i", words({1, 0, 1}, 3)}}) == floats({3, 0, 3, 4, 11, 4}, 3, 2));
  CHECK(names(refusal(g, {{"x", tx}, {"w", tw}, {"i", words({1, 2, 1}, 3)}}), "indexed_matmul"));
}

TEST_CASE("dynamic_update_slice writes at start; a start that does not fit is refused, or clamped on request") {
  graph g("update");
  const uint32 x = g.input("x", i32, {3, 4}).id, u = g.input("u", i32, {2, 2}).id, s = g.input("s", i32, {2}).id;
  g.add_output("y", apply(g, op::dynamic_update_slice, {x, u, s}));
  const tensor in = words({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 3, 4), update = words({90, 91, 92, 93}, 2, 2);
  CHECK(first_output(g, {{"x", in}, {"u", update}, {"s", words({1, 2}, 2)}}) == words({0, 1, 2, 3, 4, 5, 90, 91, 8, 9, 92, 93}, 3, 4));
  CHECK(names(refusal(g, {{"x", in}, {"u", update}, {"s", words({2, 0}, 2)}}), "dynamic_update_slice: start 2"));
  CHECK(first_output(g, {{"x", in}, {"u", update}, {"s", words({7, -3}, 2)}}, {arithmetic::exact, outside::clamp}) ==
        words({0, 1, 2, 3, 90, 91, 6, 7, 92, 93, 10, 11}, 3, 4));
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

TEST_CASE("every read of a state sees its old value, and unwritten states keep theirs") {
  graph g("states");
  const uint32 s = g.state("s", f32, {2}).id, kept = g.state("kept", f32, {1}).id, x = g.input("x", f32, {2}).id;
  g.add_output("s", apply(g, op::add, {s, x}));
  g.add_output("y", apply(g, op::mul, {s, x}));
  g.add_output("k", apply(g, op::neg, {kept}));
  const named_tensor in[] = {{"s", floats({1, 2}, 2)}, {"kept", floats({5}, 1)}, {"x", floats({10, 20}, 2)}};
  const interpretation r = interpret(g, {in, 3});
  REQUIRE(r.states.size() == 2);
  REQUIRE(r.outputs.size() == 2);
  CHECK(*find(r.states, "s") == floats({11, 22}, 2));
  CHECK(*find(r.states, "kept") == floats({5}, 1));
  CHECK(*find(r.outputs, "y") == floats({10, 40}, 2));
}

TEST_CASE("dynamic extents are what the inputs show, and are checked") {
  graph g("dynamic");
  const extent length = g.dynamic("Length", 4);
  const uint32 x = g.input("x", f32, {length, 2}).id, y = g.input("y", f32, {length}).id;
  const int64 axis = 0;
  const uint32 i = g.leaf(op::iota, type_of(f32, length, 2), {&axis, 1});
  g.add_output("sum", apply(g, op::reduce_sum, {apply(g, op::add, {x, i})}, {0}));
  g.add_output("same", y);
  const named_tensor in[] = {{"x", floats({1, 2, 3, 4, 5, 6}, 3, 2)}, {"y", floats({0, 0, 0}, 3)}};
  CHECK(interpret(g, {in, 2}).outputs[0].value == floats({12, 15}, 1, 2));
  const tensor five = random_floats(type_of(f32, 5, 2), 1);
  const std::string above = refusal(g, {{"x", five}, {"y", floats({0, 0, 0}, 3)}});
  CHECK(names(above, "Length"));
  CHECK(names(above, "\"x\""));
  const std::string unlike = refusal(g, {{"x", floats({1, 2}, 1, 2)}, {"y", floats({0, 0}, 2)}});
  CHECK(names(unlike, "Length"));
  CHECK(names(unlike, "\"y\""));
  graph alone("alone");
  const extent free = alone.dynamic("Free", 4);
  alone.add_output("i", alone.leaf(op::iota, [&] { tensor_type t = type_of(i32, 1); t.extents[0] = free; return t; }(), {&axis, 1}));
  CHECK(names(refusal(alone, {}), "Free"));
}

TEST_CASE("a missing value, another dtype and another shape are refused by name") {
  graph g("checks");
  g.add_output("y", apply(g, op::neg, {g.input("hidden", bf16, {2, 2}).id}));
  CHECK(names(refusal(g, {}), "input \"hidden\""));
  CHECK(names(refusal(g, {{"hidden", tensor(type_of(f16, 2, 2))}}), "f16[2,2]"));
  CHECK(names(refusal(g, {{"hidden", tensor(type_of(bf16, 2, 3))}}), "bf16[2,3]"));
  CHECK(names(refusal(g, {{"hidden", tensor(type_of(bf16, 4))}}), "hidden"));
  CHECK(names(refusal(g, {{"hidden", tensor(type_of(bf16, 2, 2), vec<uint64>(3))}}), "3 words"));
  CHECK(refusal(g, {{"hidden", tensor(type_of(bf16, 2, 2))}, {"other", tensor(type_of(f32))}}).empty());
}

TEST_CASE("packed weights are decoded by casts, contractions and gathers of whole rows") {
  graph g("packed");
  const uint32 w = g.weight("w", q8_0, {3, 64}).id, x = g.input("x", f32, {2, 64}).id, i = g.input("i", i32, {2}).id;
  g.add_output("all", apply(g, op::cast, {w}, {}, type_of(f32)));
  g.add_output("half", apply(g, op::cast, {w}, {}, type_of(f16)));
  const uint32 rows = apply(g, op::gather, {w, i}, {0});
  g.add_output("rows", rows);
  g.add_output("y", apply(g, op::matmul, {x, w}, {1}, type_of(f32)));
  // Blocks of 34 bytes: an f16 scale of 2^(block - 2), then 32 signed bytes.
  tensor packed(type_of(q8_0, 3, 64));
  REQUIRE(packed.bits.size() == 6 * 34);
  const uint64 scales[6] = {0x3400, 0x3800, 0x3c00, 0x4000, 0x4400, 0x4800};
  auto weight = [](int64 element) { return std::ldexp(static_cast<float>(element * 37 % 255 - 127), static_cast<int>(element / 32) - 2); };
  for (int64 b = 0; b < 6; ++b) {
    packed.bits[static_cast<size_t>(b * 34)] = scales[b] & 0xff;
    packed.bits[static_cast<size_t>(b * 34 + 1)] = scales[b] >> 8;
    for (int64 k = 0; k < 32; ++k)
      packed.bits[static_cast<size_t>(b * 34 + 2 + k)] = static_cast<uint8>(static_cast<int8>((b * 32 + k) * 37 % 255 - 127));
  }
  const tensor tx = random_integers(type_of(f32, 2, 64), 9, -8, 8);
  const named_tensor in[] = {{"w", packed}, {"x", tx}, {"i", words({2, 0}, 2)}};
  const interpretation r = interpret(g, {in, 3});
  for (int64 k = 0; k < 192; ++k) {
    REQUIRE(at(r.outputs[0].value, k) == weight(k));
    REQUIRE(f16_to_f32(static_cast<uint16>(r.outputs[1].value.bits[static_cast<size_t>(k)])) == weight(k));
  }
  REQUIRE(r.outputs[2].value.type == type_of(q8_0, 2, 64));
  for (int64 k = 0; k < 68; ++k) {
    REQUIRE(r.outputs[2].value.bits[static_cast<size_t>(k)] == packed.bits[static_cast<size_t>(2 * 68 + k)]);
    REQUIRE(r.outputs[2].value.bits[static_cast<size_t>(68 + k)] == packed.bits[static_cast<size_t>(k)]);
  }
  for (int64 m = 0; m < 2; ++m)
    for (int64 n = 0; n < 3; ++n) {
      float sum = 0;  // of multiples of 1/4 below 2^22: exact in any order
      for (int64 k = 0; k < 64; ++k) sum += at(tx, m * 64 + k) * weight(n * 64 + k);
      REQUIRE(at(r.outputs[3].value, m * 3 + n) == sum);
    }
}

TEST_CASE("random_uniform is Philox, element by element") {
  graph g("random");
  const uint32 seed = g.input("seed", u32, {}).id, offset = g.input("offset", u32, {}).id;
  const uint32 in[] = {seed, offset};
  g.add_output("u", g.apply(op::random_uniform, {in, 2}, {}, type_of(f32, 2, 3)));
  const tensor u = first_output(g, {{"seed", tensor(type_of(u32))}, {"offset", tensor(type_of(u32))}});
  const uint32 known[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (int i = 0; i < 4; ++i) CHECK(at(u, i) == std::ldexp(static_cast<float>(known[i] >> 8), -24));
  tensor two(type_of(u32));
  two.bits[0] = 2;
  const tensor other = first_output(g, {{"seed", tensor(type_of(u32))}, {"offset", two}});
  CHECK(!(other == u));
}

TEST_CASE("wide arithmetic carries floats as f64 and rounds only where a cast says so") {
  graph g("wide");
  const uint32 x = g.input("x", f32, {2}).id;
  const uint32 third = apply(g, op::div, {x, g.literal(f32, ieee::to_bits(3.0f))});
  g.add_output("third", third);
  g.add_output("half", apply(g, op::cast, {third}, {}, type_of(f16)));
  g.add_output("up", apply(g, op::cast, {third}, {}, type_of(f64)));
  const named_tensor in{"x", floats({1, 2}, 2)};
  const interpretation r = interpret(g, {&in, 1}, {arithmetic::wide, outside::refuse});
  CHECK(r.outputs[0].value.type == type_of(f64, 2));
  CHECK(r.outputs[0].value.bits[0] == ieee::to_bits(1.0 / 3.0));
  CHECK(r.outputs[1].value.bits[0] == ieee::to_bits(0.333251953125));  // the nearest f16 to 1/3
  CHECK(r.outputs[2].value.bits[1] == ieee::to_bits(2.0 / 3.0));
}

TEST_CASE("an order that cannot be followed is refused") {
  graph g("order");
  const uint32 x = g.input("x", f32, {2}).id, y = apply(g, op::reduce_sum, {x}, {0});
  g.add_output("y", y);
  g.eqns[y].sum = {3, 16, false};
  CHECK(names(refusal(g, {{"x", floats({1, 2}, 2)}}), "power of two"));
}
