#include <doctest/doctest.h>

#include <poot/core/packed.hpp>
#include <poot/run/host/contraction.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <math.h>
#include <string>
#include <vector>

using namespace poot;
namespace host = poot::run::host;

namespace {

struct random_numbers {
  uint64 state;
  explicit random_numbers(uint64 seed) : state(seed * 0x9e3779b97f4a7c15u + 1) { next(), next(); }
  uint32 next() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return static_cast<uint32>(state >> 32);
  }
  int below(int n) { return static_cast<int>(next() % static_cast<uint32>(n)); }
  /// Signed, over a few binades, so that roundings differ with the order.
  float number() { return (static_cast<float>(next() >> 8) * 0x1p-23f - 1.0f) * static_cast<float>(1 << below(6)); }
};

uint32 bits_of(float x) {
  uint32 b;
  __builtin_memcpy(&b, &x, 4);
  return (b & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : b;  // which NaN arithmetic gives is not promised
}

/// The definition of numerics.md, one element at a time. The library's fma through a pointer: under -ffast-math
/// compilers expand a visible call.
float (*volatile library_fma)(float, float, float) = ::fmaf;

template <class A, class B>
float reference(int64 K, A a, B b) {
  volatile float total = 0;
  for (int64 k0 = 0; k0 < K; k0 += 256) {
    float sum = 0;
    for (int64 k = k0; k < K && k < k0 + 256; ++k) sum = library_fma(a(k), b(k), sum);
    total = total + sum;
  }
  return total;
}

/// Random stored bytes of a matrix [n,k] and their values.
struct matrix {
  dtype type;
  int64 n, k;
  std::vector<uint8> bytes;
  std::vector<float> values;  // [n,k]

  matrix(dtype t, int64 rows, int64 columns, random_numbers& r, bool wild = false)
      : type(t), n(rows), k(columns), bytes(static_cast<size_t>(n * byte_size(t, k))), values(static_cast<size_t>(n * k)) {
    const int block = row(t).block_elements, size = row(t).block_bytes;
    for (int64 b = 0; b < n * k / block; ++b) {
      uint8* p = bytes.data() + b * size;
      float* v = values.data() + b * block;
      if (t == f32) {
        *v = wild && r.below(7) == 0 ? ieee::from_bits(r.next()) : r.number();
        __builtin_memcpy(p, v, 4);
      } else if (t == f16 || t == bf16) {
        const uint16 h = wild ? static_cast<uint16>(r.next()) : t == f16 ? f32_to_f16(r.number()) : f32_to_bf16(r.number());
        __builtin_memcpy(p, &h, 2);
        *v = t == f16 ? f16_to_f32(h) : bf16_to_f32(h);
      } else {
        for (int i = 0; i < size; ++i) p[i] = static_cast<uint8>(r.next());
        const packed_layout at = layout(t);
        for (const int f16_at : {t == mxfp4 ? -1 : at.scale, at.minimum}) {
          const uint16 scale = wild ? static_cast<uint16>(r.next() & 0xfbff) : f32_to_f16(r.number());
          if (f16_at >= 0) __builtin_memcpy(p + f16_at, &scale, 2);
        }
        if (t == mxfp4 && !wild) p[0] = static_cast<uint8>(120 + r.below(12));
        for (int i = 0; i < block; ++i) v[i] = decode(t, p, i);
      }
    }
  }
};

struct interleaved_matrix {
  std::vector<uint8> bytes;
  host::weights view;
  explicit interleaved_matrix(const matrix& m)
      : bytes(static_cast<size_t>(host::interleaved_bytes(m.type, m.n, m.k))), view{m.type, m.n, m.k, bytes.data()} {
    host::interleave(m.type, m.n, m.k, m.bytes.data(), host::matrix_order::nk, bytes.data());
  }
};

template <class Check>
void on_every_isa(Check check) {
  const host::float_environment environment;
  const host::isa before = host::current();
  for (const host::isa i : {host::isa::baseline, host::isa::avx2, host::isa::avx512}) {
    if (host::force(i) != i) {
      MESSAGE("[SKIP] this machine has no ", std::string(host::name(i)));
      continue;
    }
    CAPTURE(std::string(host::name(i)));
    check();
  }
  host::force(before);
}

host::pool& pool_of(int threads) {
  static host::pool one(1), two(2);
  return threads == 1 ? one : two;
}

/// A by callback, C by callback: what a fused prologue and epilogue see.
struct callbacks {
  const float* a;
  int64 K;
  float* c;
  int64 N;
  std::vector<std::atomic<int>> delivered;
  static void fill(void* context, int64 row0, int rows, int64 k0, int count, float* panel, int64 stride) {
    const auto& self = *static_cast<callbacks*>(context);
    for (int r = 0; r < rows; ++r)
      for (int k = 0; k < count; ++k) panel[r * stride + k] = self.a[(row0 + r) * self.K + k0 + k];
  }
  static void sink(void* context, int64 row0, int rows, int64 col0, int cols, float* tile, int64 stride, int64) {
    auto& self = *static_cast<callbacks*>(context);
    for (int r = 0; r < rows; ++r)
      for (int j = 0; j < cols; ++j) {
        ++self.delivered[static_cast<size_t>((row0 + r) * self.N + col0 + j)];
        self.c[(row0 + r) * self.N + col0 + j] = tile[r * stride + j];
      }
  }
};

constexpr dtype weight_types[] = {f32, bf16, f16, q8_0, q4_0, q4_1, q5_0, q4_k, q6_k, iq4_nl, mxfp4};
constexpr int weight_type_count = 11;

void check_shape(int64 M, const matrix& m, const std::vector<float>& a) {
  const int64 N = m.n, K = m.k;
  std::vector<float> expected(static_cast<size_t>(M * N));
  for (int64 i = 0; i < M; ++i)
    for (int64 n = 0; n < N; ++n)
      expected[static_cast<size_t>(i * N + n)] = reference(
          K, [&](int64 k) { return a[static_cast<size_t>(i * K + k)]; }, [&](int64 k) { return m.values[static_cast<size_t>(n * K + k)]; });
  const interleaved_matrix w(m);
  CAPTURE(M);
  CAPTURE(N);
  CAPTURE(K);
  CAPTURE(std::string(name(m.type)));
  on_every_isa([&] {
    for (const int threads : {1, 2})
      for (const bool called : {false, true}) {
        CAPTURE(threads);
        CAPTURE(called);
        std::vector<float> c(expected.size(), -77.0f);
        callbacks calls{a.data(), K, c.data(), N, std::vector<std::atomic<int>>(expected.size())};
        host::left_operand left;
        host::contraction_result result;
        if (called) left.fill = callbacks::fill, left.context = &calls, result.sink = callbacks::sink, result.context = &calls;
        else left.rows = a.data(), left.stride = K, result.rows = c.data(), result.stride = N;
        host::contract(M, w.view, left, result, pool_of(threads));
        int wrong = 0;
        for (size_t i = 0; i < c.size(); ++i) {
          wrong += bits_of(c[i]) != bits_of(expected[i]);
          if (called) wrong += calls.delivered[i] != 1;
        }
        REQUIRE(wrong == 0);
      }
  });
}

}  // namespace

TEST_CASE("contractions have the bits of their definition for every shape, type, thread count and instruction set") {
  random_numbers r(1);
  for (int trial = 0; trial < 132; ++trial) {
    const dtype type = weight_types[trial % weight_type_count];
    const int64 M = trial % 3 == 0 ? 1 : 1 + r.below(40), N = 1 + r.below(100);
    int64 K = trial % 7 == 0 ? 256 : r.below(trial % 4 == 0 ? 1100 : 300);
    const int block = row(type).block_elements;
    if (is_packed(type)) K = (K + block - 1) / block * block;
    const matrix m(type, N, K, r);
    std::vector<float> a(static_cast<size_t>(M * K));
    for (float& x : a) x = r.number();
    check_shape(M, m, a);
  }
}

TEST_CASE("infinities, NaN, zeros of both signs and subnormals enter contractions as IEEE says") {
  random_numbers r(2);
  for (int trial = 0; trial < 44; ++trial) {
    const dtype type = weight_types[trial % weight_type_count];
    const int64 M = 1 + r.below(17), N = 1 + r.below(70), K = row(type).block_elements == 256 ? 256 * (1 + r.below(2)) : 32 * (1 + r.below(10));
    const matrix m(type, N, K, r, true);
    std::vector<float> a(static_cast<size_t>(M * K));
    for (float& x : a) x = r.below(9) == 0 ? ieee::from_bits(r.next() & 0x807fffffu) : r.below(50) == 0 ? ieee::from_bits(r.next()) : r.number();
    check_shape(M, m, a);
  }
}

TEST_CASE("scales that are infinite, NaN, zero or subnormal scale as IEEE says") {
  random_numbers r(6);
  constexpr uint16 scales[] = {0x7c00, 0xfc00, 0x7e00, 0x8000, 0x0000, 0x0001, 0x83ff, 0x7bff, 0x3c00};
  for (const dtype type : {q4_0, q8_0}) {
    matrix m(type, 70, 96, r);
    const int block = row(type).block_elements, size = row(type).block_bytes;
    for (int64 b = 0; b < 70 * 96 / block; ++b) {
      const uint16 scale = b < 64 ? scales[8] : scales[r.below(9)];  // the first rows stay finite
      uint8* const p = m.bytes.data() + b * size;
      for (int i = 0; i < size; ++i) p[i] = static_cast<uint8>(type == q4_0 ? p[i] | 0x99 : (p[i] & 0x7f) | 1);  // above 0
      __builtin_memcpy(p + layout(type).scale, &scale, 2);
      for (int i = 0; i < block; ++i) m.values[static_cast<size_t>(b * block + i)] = decode(type, p, i);
    }
    for (const int64 M : {1, 2, 5, 20}) {
      std::vector<float> a(static_cast<size_t>(M * 96));
      for (float& x : a) x = std::abs(r.number());  // so that infinities of one sign stay infinite
      check_shape(M, m, a);
    }
  }
}

TEST_CASE("a sum of negative zeros is positive, and a sum of nothing is zero") {
  random_numbers r(3);
  matrix m(f32, 5, 3, r);
  for (size_t i = 0; i < m.values.size(); ++i) m.values[i] = -0.0f;
  __builtin_memcpy(m.bytes.data(), m.values.data(), m.bytes.size());
  check_shape(2, m, std::vector<float>(6, 1.0f));
  const interleaved_matrix w(m);
  float c[5];
  const float ones[3] = {1, 1, 1};
  host::contract(1, w.view, {ones, 3}, {c, 5});
  for (const float x : c) CHECK(bits_of(x) == 0);
  check_shape(3, matrix(bf16, 40, 0, r), {});
  // a product that underflows is -0 within its chunk, +0 once added to the total
  matrix least(f32, 33, 1, r);
  for (size_t i = 0; i < least.values.size(); ++i) least.values[i] = -0x1p-149f;
  __builtin_memcpy(least.bytes.data(), least.values.data(), least.bytes.size());
  for (const int64 M : {1, 2, 5, 20}) check_shape(M, least, std::vector<float>(static_cast<size_t>(M), 0x1p-149f));
}

TEST_CASE("many rows and columns: several blocks, packed in more than one go") {
  random_numbers r(4);
  const int64 shapes[][3] = {{260, 40, 513}, {30, 1100, 64}, {1, 5000, 300}, {3, 1111, 520}, {9, 700, 64}};
  for (const auto& [M, N, K] : shapes) {
    for (const dtype type : {f32, q4_0}) {
      const matrix m(type, N, is_packed(type) ? K / 32 * 32 : K, r);
      std::vector<float> a(static_cast<size_t>(M * m.k));
      for (float& x : a) x = r.number();
      check_shape(M, m, a);
    }
  }
}

TEST_CASE("rows of a result are written where they belong and nothing beside them, in columns up to 256 to a sink") {
  random_numbers r(8);
  const int64 shapes[][3] = {{127, 300, 530}, {113, 32, 256}, {15, 289, 257}, {29, 64, 0}, {126, 512, 40}};
  for (const auto& [M, N, K] : shapes) {
    const matrix m(f32, N, K, r);
    std::vector<float> a(static_cast<size_t>(M * K + 1));
    for (float& x : a) x = r.number();
    check_shape(M, m, a);
    const interleaved_matrix w(m);
    const int64 stride = N + 3;
    const float *const left = a.data(), *const right = m.values.data();
    std::vector<float> expected(static_cast<size_t>(M * stride), -77.0f);
    for (int64 i = 0; i < M * N; ++i)
      expected[static_cast<size_t>(i / N * stride + i % N)] = reference(
          K, [&](int64 k) { return left[i / N * K + k]; }, [&](int64 k) { return right[i % N * K + k]; });
    CAPTURE(M);
    on_every_isa([&] {
      for (const int threads : {1, 2}) {
        std::vector<float> c(expected.size(), -77.0f);
        host::contract(M, w.view, {a.data(), K}, {c.data(), stride}, pool_of(threads));
        int wrong = 0;
        for (size_t i = 0; i < c.size(); ++i) wrong += bits_of(c[i]) != bits_of(expected[i]);
        REQUIRE(wrong == 0);
      }
    });
  }
}

TEST_CASE("interleaving takes either order, strides and any split of the groups") {
  random_numbers r(5);
  const int64 N = 70, K = 37;
  for (const dtype type : {f32, bf16, f16}) {
    const matrix m(type, N, K, r);
    const interleaved_matrix expected(m);
    const int64 size = byte_size(type, 1), stride = N + 9;
    std::vector<uint8> turned(static_cast<size_t>(K * stride * size)), got(expected.bytes.size(), 0xaa);
    for (int64 n = 0; n < N; ++n)
      for (int64 k = 0; k < K; ++k)
        __builtin_memcpy(&turned[static_cast<size_t>((k * stride + n) * size)], &m.bytes[static_cast<size_t>((n * K + k) * size)],
                         static_cast<size_t>(size));
    host::interleave(type, N, K, turned.data(), host::matrix_order::kn, stride, got.data(), 1, 3);
    host::interleave(type, N, K, turned.data(), host::matrix_order::kn, stride, got.data(), 0, 1);
    CHECK(got == expected.bytes);
  }
}

TEST_CASE("interleaving refuses what it cannot store") {
  uint8 byte = 0;
  CHECK_THROWS_WITH(host::interleave(i8, 1, 1, &byte, host::matrix_order::nk, &byte),
                    "interleave: element type i8 is not a float of at most 32 bits or packed");
  CHECK_THROWS_WITH(host::interleave(q8_0, 1, 33, &byte, host::matrix_order::nk, &byte),
                    "interleave: K = 33 is not a multiple of the block of q8_0");
  CHECK_THROWS_WITH(host::interleave(q8_0, 1, 32, &byte, host::matrix_order::kn, &byte),
                    "interleave: packed q8_0 is stored [N,K]; [K,N] was asked for");
}

TEST_CASE("activations are read where they lie, in either order, every type and stride") {
  random_numbers r(6);
  for (int trial = 0; trial < 60; ++trial) {
    const dtype type = weight_types[trial % 3];
    const bool kn = trial / 3 % 2;
    const int64 M = trial % 4 == 0 ? 1 : 1 + r.below(40), N = trial % 5 == 0 ? 64 : 1 + r.below(100), K = r.below(trial % 7 == 0 ? 600 : 100);
    const int64 rows = kn ? K : N, columns = kn ? N : K, stride = columns + r.below(5), size = byte_size(type, 1);
    const matrix m(type, N, K, r);
    std::vector<uint8> stored(static_cast<size_t>(rows * stride * size + 1));
    for (int64 n = 0; n < N; ++n)
      for (int64 k = 0; k < K; ++k)
        __builtin_memcpy(&stored[static_cast<size_t>((kn ? k * stride + n : n * stride + k) * size)],
                         &m.bytes[static_cast<size_t>((n * K + k) * size)], static_cast<size_t>(size));
    std::vector<float> a(static_cast<size_t>(M * K + 1)), expected(static_cast<size_t>(M * N));
    for (float& x : a) x = r.number();
    for (int64 i = 0; i < M * N; ++i)
      expected[static_cast<size_t>(i)] = reference(
          K, [&](int64 k) { return a[static_cast<size_t>(i / N * K + k)]; }, [&](int64 k) { return m.values[static_cast<size_t>(i % N * K + k)]; });
    const auto b = host::source_of(type, N, K, stored.data(), kn ? host::matrix_order::kn : host::matrix_order::nk, stride);
    CAPTURE(M);
    CAPTURE(N);
    CAPTURE(K);
    CAPTURE(kn);
    on_every_isa([&] {
      for (const int threads : {1, 2}) {
        std::vector<float> c(expected.size());
        host::contract(M, b, {a.data(), K}, {c.data(), N}, pool_of(threads));
        int wrong = 0;
        for (size_t i = 0; i < c.size(); ++i) wrong += bits_of(c[i]) != bits_of(expected[i]);
        REQUIRE(wrong == 0);
      }
    });
  }
}

TEST_CASE("a batch of small products runs each once") {
  random_numbers r(7);
  const int64 batch = 9, N = 40, K = 8;
  std::vector<float> a(batch * K), b(batch * K * N), c(batch * N), expected(batch * N);
  for (float& x : a) x = r.number();
  for (float& x : b) x = r.number();
  for (int64 i = 0; i < batch * N; ++i)
    expected[static_cast<size_t>(i)] = reference(
        K, [&](int64 k) { return a[static_cast<size_t>(i / N * K + k)]; },
        [&](int64 k) { return b[static_cast<size_t>((i / N * K + k) * N + i % N)]; });
  on_every_isa([&] {
    for (const int threads : {1, 2}) {
      std::fill(c.begin(), c.end(), -1.0f);
      host::pool& p = pool_of(threads);
      host::contract_each(batch, K * N, [&](int64 i) {
        host::contract(1, host::source_of(f32, N, K, &b[static_cast<size_t>(i * K * N)], host::matrix_order::kn, N),
                       {&a[static_cast<size_t>(i * K)], K}, {&c[static_cast<size_t>(i * N)], N}, p);
      }, p);
      int wrong = 0;
      for (size_t i = 0; i < c.size(); ++i) wrong += bits_of(c[i]) != bits_of(expected[i]);
      REQUIRE(wrong == 0);
    }
  });
}
