#include <doctest/doctest.h>

#include <poot/run/host/indexed_contraction.hpp>

#include <atomic>
#include <math.h>
#include <string>
#include <vector>

using namespace poot;
namespace host = poot::run::host;

namespace {

float (*volatile library_fma)(float, float, float) = ::fmaf;

float number(uint32 i) { return static_cast<float>(static_cast<int32>(i * 2654435761u) >> 9) * 0x1p-12f; }

struct rows_by_call {
  const float* a;
  int64 K;
  float* c;
  int64 N;
  std::atomic<int> delivered{0};
  static void fill(void* context, int64 row0, int rows, int64 k0, int count, float* panel, int64 stride) {
    const auto& self = *static_cast<rows_by_call*>(context);
    for (int r = 0; r < rows; ++r)
      for (int k = 0; k < count; ++k) panel[r * stride + k] = self.a[(row0 + r) * self.K + k0 + k];
  }
  static void sink(void* context, int64 row0, int rows, int64 col0, int cols, float* tile, int64 stride, int64) {
    auto& self = *static_cast<rows_by_call*>(context);
    self.delivered += rows * cols;
    for (int r = 0; r < rows; ++r)
      for (int j = 0; j < cols; ++j) self.c[(row0 + r) * self.N + col0 + j] = tile[r * stride + j];
  }
};

}  // namespace

TEST_CASE("each row is multiplied by the matrix it names, alone or with others; indices outside are moved inside") {
  const int64 E = 4, N = 37, K = 300;
  std::vector<float> w(static_cast<size_t>(E * N * K));
  for (size_t i = 0; i < w.size(); ++i) w[i] = number(static_cast<uint32>(i));
  const int64 between = host::interleaved_bytes(f32, N, K);
  std::vector<uint8> interleaved(static_cast<size_t>(E * between));
  for (int64 e = 0; e < E; ++e)
    host::interleave(f32, N, K, &w[static_cast<size_t>(e * N * K)], host::matrix_order::nk, interleaved.data() + e * between);

  // an expert without rows, one with all rows, one row, indices outside
  const std::vector<std::vector<int32>> choices = {{2}, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {3, 0, 3, 2, 0}, {-5, 99, 0, 3}, {}};
  for (const auto& index : choices) {
    const int64 T = static_cast<int64>(index.size());
    std::vector<float> a(static_cast<size_t>(T * K)), expected(static_cast<size_t>(T * N));
    for (size_t i = 0; i < a.size(); ++i) a[i] = number(static_cast<uint32>(i * 7 + 3));
    for (int64 t = 0; t < T; ++t)
      for (int64 n = 0; n < N; ++n) {
        const int64 e = index[static_cast<size_t>(t)] < 0 ? 0 : index[static_cast<size_t>(t)] > 3 ? 3 : index[static_cast<size_t>(t)];
        volatile float total = 0;
        for (int64 k0 = 0; k0 < K; k0 += 256) {
          float sum = 0;
          for (int64 k = k0; k < K && k < k0 + 256; ++k)
            sum = library_fma(a[static_cast<size_t>(t * K + k)], w[static_cast<size_t>((e * N + n) * K + k)], sum);
          total = total + sum;
        }
        expected[static_cast<size_t>(t * N + n)] = total;
      }
    for (const int threads : {1, 2}) {
      host::pool p(threads);
      std::vector<float> c(expected.size()), d(expected.size());
      const auto first = host::source_of({f32, N, K, interleaved.data()});
      host::contract_indexed(T, index.data(), E, first, between, {a.data(), K}, {c.data(), N}, p);
      CHECK(c == expected);
      rows_by_call calls{a.data(), K, d.data(), N};
      host::contract_indexed(T, index.data(), E, first, between, {nullptr, 0, rows_by_call::fill, &calls},
                             {nullptr, 0, rows_by_call::sink, &calls}, p);
      CHECK(d == expected);
      CHECK(calls.delivered == T * N);
    }
  }
}

TEST_CASE("there must be a matrix to choose from") {
  const int32 zero = 0;
  float x = 0;
  CHECK_THROWS_WITH(host::contract_indexed(1, &zero, 0, host::source_of({f32, 1, 1, nullptr}), 0, {&x, 1}, {&x, 1}),
                    "indexed contraction: there is no matrix to choose from");
}
