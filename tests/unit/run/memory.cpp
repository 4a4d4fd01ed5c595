#include <doctest/doctest.h>

#include <poot/run/host/memory.hpp>

#include <fstream>
#include <vector>

using namespace poot;
using run::host::paging;
using run::host::storage;

namespace {

/// Bytes of this process that are resident.
int64 resident() {
  std::ifstream statm("/proc/self/statm");
  int64 all = 0, pages = 0;
  statm >> all >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

constexpr int64 large = int64{64} << 20;

}  // namespace

TEST_CASE("memory is aligned to a cache line and zero when new, of any size") {
  for (int pass = 0; pass < 2; ++pass)  // the second time the heap hands out what the first wrote
    for (const int64 bytes : {int64{1}, int64{64}, int64{4097}, (int64{2} << 20) - 1, int64{2} << 20, (int64{4} << 20) + 65}) {
      for (const paging p : {paging::huge, paging::as_filled}) {
        const storage s(bytes, p);
        CHECK(s.bytes() == bytes);
        CHECK(reinterpret_cast<uintptr_t>(s.data()) % 64 == 0);
        int64 set = 0;
        for (int64 i = 0; i < bytes; ++i) set += s.data()[i] != 0;
        CHECK(set == 0);
        std::memset(s.data(), 1, static_cast<size_t>(bytes));
      }
    }
  CHECK(storage(0).data() == nullptr);
}

TEST_CASE("large memory is resident where it was touched") {
  const int64 before = resident();
  if (before == 0) {
    MESSAGE("[SKIP] this system does not say how much memory is resident");
    return;
  }
  const storage weights(large), cache(large, paging::as_filled);
  CHECK(resident() - before < large / 8);
  for (int64 i = 0; i < large; i += large / 32) cache.data()[i] = 1;  // a page of each head
  CHECK(resident() - before < large / 8);
  std::memset(weights.data(), 1, large);
  CHECK(resident() - before >= large);
}

TEST_CASE("the last, partial huge page is resident as far as it was touched") {
  constexpr int64 bytes = (int64{2} << 20) + 4096;
  const int64 before = resident();
  if (before == 0) {
    MESSAGE("[SKIP] this system does not say how much memory is resident");
    return;
  }
  std::vector<storage> all;
  for (int i = 0; i < 16; ++i) {
    all.emplace_back(bytes);
    std::memset(all.back().data(), 1, bytes);
  }
  CHECK(resident() - before < 16 * bytes * 5 / 4);
}

TEST_CASE("memory moves with its owner") {
  storage a(large);
  a.data()[0] = 7;
  const char* const at = a.data();
  storage b(std::move(a));
  CHECK(b.data() == at);
  b = storage(16);
  CHECK(b.bytes() == 16);
  CHECK(b.data()[0] == 0);
}
