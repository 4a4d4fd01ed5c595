#include <doctest/doctest.h>

#include <poot/core/error.hpp>
#include <poot/run/host/pool.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

using namespace poot;
using poot::run::host::float_environment;
using poot::run::host::pool;
using poot::run::host::split;

namespace {
/// Halves the least normal number at run time: zero where subnormals are flushed.
bool keeps_subnormals() {
  volatile float least = 0x1p-126f, half = 0.5f;
  volatile float product = least * half;
  volatile uint32 bits;
  const float p = product;
  static_assert(sizeof bits == sizeof p);
  __builtin_memcpy(const_cast<uint32*>(&bits), &p, sizeof p);
  return bits != 0;
}
}  // namespace

TEST_CASE("a split covers the range with parts of nearly equal size") {
  for (int64 count = 0; count < 70; ++count)
    for (int parts = 1; parts < 12; ++parts) {
      int64 next = 0;
      for (int p = 0; p < parts; ++p) {
        const auto r = split(count, parts, p);
        REQUIRE(r.begin == next);
        REQUIRE((r.end - r.begin == count / parts || r.end - r.begin == count / parts + 1));
        next = r.end;
      }
      REQUIRE(next == count);
    }
}

TEST_CASE("every index runs once, whatever the threads, the grain and the count") {
  for (const int threads : {1, 2, 3, 5}) {
    pool p(threads);
    CHECK(p.threads() == threads);
    for (const int64 count : {0, 1, 2, 3, 7, 64, 1000})
      for (const int64 grain : {1, 3, 100}) {
        std::vector<std::atomic<int>> hits(static_cast<size_t>(count));
        std::atomic<int> calls{0};
        p.parallel(
            count,
            [&](int64 begin, int64 end, int thread) {
              ++calls;
              if (thread < 0 || thread >= threads) ++calls, calls += 1000;
              for (int64 i = begin; i < end; ++i) ++hits[static_cast<size_t>(i)];
            },
            grain);
        for (auto& h : hits) REQUIRE(h == 1);
        REQUIRE(calls <= threads);
        REQUIRE(calls <= (count + grain - 1) / grain);
      }
  }
}

TEST_CASE("many loops in sequence, with and without pauses that park the workers") {
  pool p(3);
  int64 total = 0;
  for (int i = 0; i < 3000; ++i) {
    std::array<int64, 3> sums{};
    p.parallel(30, [&](int64 begin, int64 end, int thread) {
      for (int64 k = begin; k < end; ++k) sums[static_cast<size_t>(thread)] += k;
    });
    total += sums[0] + sums[1] + sums[2];
    if (i % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(total == 3000 * 435);
}

TEST_CASE("a loop inside a loop runs on the thread that reached it") {
  pool p(2);
  std::atomic<int> inner{0}, strayed{0};
  p.parallel(4, [&](int64 begin, int64 end, int thread) {
    for (int64 i = begin; i < end; ++i) {
      const auto id = std::this_thread::get_id();
      p.parallel(10, [&](int64 b, int64 e, int t) {
        inner += static_cast<int>(e - b);
        strayed += t != thread || id != std::this_thread::get_id();
      });
    }
  });
  CHECK(inner == 40);
  CHECK(strayed == 0);
}

TEST_CASE("an exception of any thread reaches the caller, and the pool works on") {
  pool p(2);
  for (const int64 bad : {0, 1}) {
    std::string message;
    try {
      p.parallel(2, [&](int64 begin, int64, int) {
        if (begin == bad) fail(text{} << "part " << begin);
      });
    } catch (const error& e) {
      message = e.what();
    }
    CHECK(message == "part " + std::to_string(bad));
    std::atomic<int> n{0};
    p.parallel(2, [&](int64, int64, int) { ++n; });
    CHECK(n == 2);
  }
}

TEST_CASE("callers on several threads take turns") {
  pool p(2);
  std::atomic<int64> total{0};
  const auto call = [&] {
    for (int i = 0; i < 300; ++i) p.parallel(10, [&](int64 b, int64 e, int) { total += e - b; });
  };
  std::thread other(call);
  call();
  other.join();
  CHECK(total == 6000);
}

#if defined(__x86_64__)
TEST_CASE("bodies keep subnormals and the caller's environment comes back") {
  pool p(2);
  const uint32 before = __builtin_ia32_stmxcsr();
  const uint32 flushing = before | 0x8040u | 0x6000u;  // flush to zero, denormals are zero, round toward zero
  __builtin_ia32_ldmxcsr(flushing);
  std::array<bool, 2> kept{};
  std::array<uint32, 2> word{};
  p.parallel(2, [&](int64, int64, int thread) {
    kept[static_cast<size_t>(thread)] = keeps_subnormals();
    word[static_cast<size_t>(thread)] = __builtin_ia32_stmxcsr();
  });
  const uint32 after = __builtin_ia32_stmxcsr();
  const bool flushed = !keeps_subnormals();
  __builtin_ia32_ldmxcsr(before);
  CHECK(kept[0]);
  CHECK(kept[1]);
  CHECK((word[0] & 0xe040u) == 0);
  CHECK((word[1] & 0xe040u) == 0);
  CHECK((after & ~0x3fu) == (flushing & ~0x3fu));
  CHECK(flushed);
}
#endif
