// Typed pointwise regions as straight-line code: the bits of one dispatch per equation, on every instruction set.
#include <poot/poot.hpp>
#include <poot/run/host/device.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <vector>

using namespace poot;
using namespace poot::literals;

namespace {

constexpr auto every_op = [](auto x, auto b) {
  auto h = x * b + 0.5_f;
  h = max(h, -h) / 3_f - min(x, b);
  h = tanh(h) - exp(-h) * sin(x);
  h = erf(h) + cos(b) * log(abs(x) + 1_f);
  return pow(sqrt(abs(h)) + recip(b), number<1.5>) - floor(x);
};

/// Nothing of `b` alone: values of one element stay with the interpreter.
constexpr auto with_scalar = [](auto x, auto b) { return max(x * b + 0.5_f, x / b) - pow(abs(x), b); };

template <int64 Rows, int64 Columns>
constexpr auto dense = output<"y">(block(every_op, input<"x", f32, Rows, Columns>, input<"b", f32, Rows, Columns>));
template <int64 Rows, int64 Columns>
constexpr auto uniform = output<"y">(block(with_scalar, input<"x", f32, Rows, Columns>, input<"b", f32>));
constexpr auto several = outputs(output<"sum">(input<"x", f32, 7, 9> + input<"b", f32, 7, 9>),
                                 output<"half">((input<"x", f32, 7, 9> + input<"b", f32, 7, 9>) * 0.5_f));
constexpr auto broadcast_row = output<"y">(input<"x", f32, 4, 8> * input<"b", f32, 8>);

template <auto Model>
constexpr bool straight = run::host::is_straight(planned<Model, targets::host>, planned<Model, targets::host>.launches[0]);
static_assert(straight<dense<3, 5>> && straight<uniform<3, 5>> && straight<several>);
static_assert(!straight<broadcast_row>);  // the interpreter's

std::vector<float> values(size_t count, uint32 seed) {
  const float special[] = {0.0f, -0.0f, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN(), 1e-40f, -3.4e38f, 88.5f};
  std::vector<float> v(count);
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    v[i] = seed % 11 == 0 ? special[seed / 11 % 8] : static_cast<float>(static_cast<int32>(seed >> 8)) * 0x1p-20f - 8.0f;
  }
  return v;
}

/// Equal bits, any NaN equal to any NaN.
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(&a[i], &b[i], 4) != 0 && !(ieee::is_nan(a[i]) && ieee::is_nan(b[i]))) return false;
  return true;
}

template <auto Model>
void compare(size_t x_count, size_t b_count) {
  const std::vector<float> x = values(x_count, 1), b = values(b_count, 99);
  std::vector<float> fast(x_count), apart(x_count);
  plan::options one_by_one;
  one_by_one.fuse = false;
  run::host::session s = host(1).load(compile(frozen<Model>.view(), targets::host, one_by_one));
  const auto shape = [&](std::string_view name) {
    const ir::graph_view& g = s.program().graph;
    return g.type(g.find_leaf(name));
  };
  s.bind("x", {const_cast<float*>(x.data()), shape("x")}).bind("b", {const_cast<float*>(b.data()), shape("b")});
  s.into("y", {apart.data(), shape("x")}).run();
  for (run::host::isa i : {run::host::isa::baseline, run::host::isa::avx2, run::host::isa::avx512}) {
    run::host::force(i);
    for (int threads : {1, 2}) {
      auto run = host(threads).load<Model>();
      run(bind<"x">(x), bind<"b">(b), into<"y">(fast));
      CHECK(same(fast, apart));
    }
  }
  run::host::force(run::host::isa::avx512);
}

}  // namespace

TEST_CASE("a typed pointwise region has the bits of its equations, whatever its length and alignment") {
  compare<dense<1, 3>>(3, 3);
  compare<dense<3, 5>>(15, 15);
  compare<dense<1, 64>>(64, 64);
  compare<dense<103, 977>>(103 * 977, 103 * 977);
  compare<uniform<13, 33>>(13 * 33, 1);
}

TEST_CASE("large results are written past the caches without a gap at either end") {
  constexpr int64 count = 3'000'001;
  constexpr static auto model = output<"y">(input<"x", f32, count> * 2_f + 1_f);
  static_assert(straight<model>);
  std::vector<float> x(count), room(count + 16, -1.0f);
  for (int64 i = 0; i < count; ++i) x[static_cast<size_t>(i)] = static_cast<float>(i % 1000);
  auto run = host(2).load<model>();
  for (size_t shift : {0, 1, 5}) {
    run(bind<"x">(x), into<"y">(room.data() + shift, static_cast<size_t>(count)));
    int64 wrong = 0;
    for (int64 i = 0; i < count; ++i) wrong += room[shift + static_cast<size_t>(i)] != x[static_cast<size_t>(i)] * 2.0f + 1.0f;
    CHECK(wrong == 0);
  }
  CHECK(room.back() == -1.0f);
}

TEST_CASE("a region with several results writes each") {
  const std::vector<float> x = values(63, 3), b = values(63, 4);
  std::vector<float> sum(63), half(63), wanted_sum(63), wanted_half(63);
  auto run = host(1).load<several>();
  run(bind<"x">(x), bind<"b">(b), into<"sum">(sum), into<"half">(half));
  for (size_t i = 0; i < 63; ++i) {
    wanted_sum[i] = ieee::add(x[i], b[i]);
    wanted_half[i] = ieee::mul(wanted_sum[i], 0.5f);
  }
  CHECK(same(sum, wanted_sum));
  CHECK(same(half, wanted_half));
}
