#include "bench_loops.hpp"

#include <poot/run/host/isa.hpp>
#include <poot/run/host/memory.hpp>

#include <atomic>
#include <chrono>
#include <cstring>

#if POOT_X86
#include <immintrin.h>
#endif

namespace poot::tool {

namespace {

using run::host::isa;

inline float step(float x) {
  const float y = ((x * 1.5f + 0.25f) * x - 0.75f) * x + 0.5f;
  return (y > 0 ? y : 0) * 0.9f;
}
#if POOT_X86
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
void chain_plain(const float* from, float* to, int64 begin, int64 end) {
  for (int64 i = begin; i < end; ++i) to[i] = step(from[i]);
}

double nanoseconds() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

#if POOT_X86
__attribute__((target("avx512f"))) void chain_avx512(const float* from, float* to, int64 begin, int64 end) {
  for (; begin < end && reinterpret_cast<uintptr_t>(to + begin) % 64; ++begin) to[begin] = step(from[begin]);
  for (; begin + 16 <= end; begin += 16) {
    const __m512 x = _mm512_loadu_ps(from + begin);
    const __m512 y = ((x * 1.5f + 0.25f) * x - 0.75f) * x + 0.5f;
    _mm512_stream_ps(to + begin, (y > 0 ? y : y - y) * 0.9f);
  }
  _mm_sfence();
  chain_plain(from, to, begin, end);
}
__attribute__((target("avx512f"))) int64 read_avx512(const char* from, int64 bytes) {
  constexpr int streams = 8;  // prefetchers follow several streams faster than one
  const int64 each = bytes / streams / 64 * 64;
  __m512i sum = _mm512_setzero_si512();
  for (int64 i = 0; i < each; i += 64)
    for (int s = 0; s < streams; ++s) sum ^= _mm512_load_si512(from + s * each + i);
  int64 words[8];
  std::memcpy(words, &sum, sizeof words);
  return words[0] ^ words[1] ^ words[2] ^ words[3] ^ words[4] ^ words[5] ^ words[6] ^ words[7];
}
__attribute__((target("avx512f"))) void stream_avx512(const char* from, char* to, int64 bytes) {
  for (int64 i = 0; i < bytes; i += 64) _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_load_si512(from + i));
  _mm_sfence();
}
__attribute__((target("avx512f"))) float multiply_avx512(int64 times) {
  __m512 sum[24], x = _mm512_set1_ps(1.0001f), y = _mm512_set1_ps(1e-9f);  // latency times units, twice over
  for (__m512& s : sum) s = y;
  for (int64 i = 0; i < times; ++i) {
#pragma GCC unroll 24
    for (int k = 0; k < 24; ++k) sum[k] = _mm512_fmadd_ps(sum[k], x, y);
    asm volatile("" : "+v"(x), "+v"(y));
  }
  float total = 0;
  for (const __m512& s : sum) total += _mm512_cvtss_f32(s);
  return total;
}
__attribute__((target("avx2,fma"))) float multiply_avx2(int64 times) {
  __m256 sum[12], x = _mm256_set1_ps(1.0001f), y = _mm256_set1_ps(1e-9f);
  for (__m256& s : sum) s = y;
  for (int64 i = 0; i < times; ++i) {
#pragma GCC unroll 12
    for (int k = 0; k < 12; ++k) sum[k] = _mm256_fmadd_ps(sum[k], x, y);
    asm volatile("" : "+x"(x), "+x"(y));
  }
  float total = 0;
  for (const __m256& s : sum) total += _mm256_cvtss_f32(s);
  return total;
}
#endif

int64 read_plain(const char* from, int64 bytes) {
  uint64 sum[32]{};
  for (int64 i = 0; i < bytes / 256; ++i)
    for (int k = 0; k < 32; ++k) {
      uint64 word;
      std::memcpy(&word, from + i * 256 + k * 8, 8);
      sum[k] ^= word;
    }
  uint64 total = 0;
  for (uint64 s : sum) total += s;
  return static_cast<int64>(total);
}
float multiply_plain(int64 times) {
  float sum[32], x = 1.0001f, y = 1e-9f;
  for (float& s : sum) s = y;
  for (int64 i = 0; i < times; ++i)
    for (float& s : sum) s = s * x + y;
  float total = 0;
  for (float s : sum) total += s;
  return total;
}

/// The least time of several tries of `body` on a part of its own for each thread, in ns.
template <class Body>
double best_of(int tries, run::host::pool& threads, Body body) {
  double best = 1e300;
  for (int i = 0; i < tries; ++i) {
    const double start = nanoseconds();
    threads.parallel(threads.threads(), [&](int64 begin, int64 end, int) {
      for (int64 part = begin; part < end; ++part) body(part);
    });
    const double took = nanoseconds() - start;
    best = took < best ? took : best;
  }
  return best;
}

machine_limits::speeds probe_memory(int64 bytes, run::host::pool& threads) {
  const run::host::storage room(bytes);
  std::memset(room.data(), 1, static_cast<size_t>(bytes));
  const int64 part = bytes / threads.threads() / 8192 * 8192, half = part / 2;
  const int64 times = (int64{1} << 28) / bytes + 1;
  std::atomic<int64> sink{0};  // so that nothing is left out
  const bool wide = run::host::detect() == isa::avx512;
  const auto rate = [&](auto body) {
    return static_cast<double>(part * threads.threads() * times) / best_of(7, threads, [&](int64 p) {
             char* const mine = room.data() + p * part;
             for (int64 i = 0; i < times; ++i) body(mine);
           });
  };
  machine_limits::speeds s{bytes};
  s.copy = rate([&](char* mine) { std::memcpy(mine + half, mine, static_cast<size_t>(half)); });
#if POOT_X86
  if (wide) {
    s.read = rate([&](char* mine) { sink += read_avx512(mine, part); });
    s.streaming = rate([&](char* mine) { stream_avx512(mine, mine + half, half); });
    return s;
  }
#endif
  (void)wide;
  s.read = rate([&](char* mine) { sink += read_plain(mine, part); });
  s.streaming = s.copy;
  return s;
}

}  // namespace

void chain_loop(const float* from, float* to, int64 begin, int64 end) {
#if POOT_X86
  if (run::host::detect() == isa::avx512 && end - begin > (1 << 20)) return chain_avx512(from, to, begin, end);
#endif
  chain_plain(from, to, begin, end);
}

machine_limits probe(run::host::pool& threads) {
  machine_limits limits;
  for (int i = 0; i < 3; ++i) limits.memory[i] = probe_memory(int64{1} << (19 + 5 * i), threads);  // 512 KiB, 16 MiB, 512 MiB
  std::atomic<bool> sink{false};
  constexpr int64 times = 1'000'000;
  double of_step = 64;
  float (*multiply)(int64) = multiply_plain;
#if POOT_X86
  if (run::host::detect() == isa::avx512) multiply = multiply_avx512, of_step = 24 * 16 * 2;
  else if (run::host::detect() == isa::avx2) multiply = multiply_avx2, of_step = 12 * 8 * 2;
#endif
  limits.fma_gflops = of_step * static_cast<double>(times * threads.threads()) /
                      best_of(7, threads, [&](int64) { if (multiply(times) < 0) sink = true; });
  return limits;
}

}  // namespace poot::tool
