#include <poot/core/hash.hpp>
#include <poot/core/hash_index.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace poot;

static_assert([] {
  hash_index index;
  for (uint32 i = 0; i < 100; ++i) index.insert(i * 7, i);
  for (uint32 i = 0; i < 100; ++i)
    if (index.find(i * 7, [&](uint32 k) { return k == i; }) != i) return false;
  return index.find(3, [](uint32) { return true; }) == hash_index::none;
}());

TEST_CASE("finds every name with about one comparison") {
  hash_index index;
  uint64 comparisons = 0;
  const uint32 count = 100'000;
  const auto name = [](uint32 i) { return "blk." + std::to_string(i) + ".attn_q.weight"; };
  const auto find = [&](uint32 i) {
    return index.find(hash_text(name(i)), [&](uint32 k) { return ++comparisons, k == i; });
  };
  for (uint32 i = 0; i < count; ++i) {
    if (find(i) != hash_index::none) FAIL(i);
    index.insert(hash_text(name(i)), i);
  }
  CHECK(comparisons == 0);  // no two names have one hash
  for (uint32 i = 0; i < count; ++i)
    if (find(i) != i) FAIL(i);
  CHECK(comparisons == count);
}

TEST_CASE("tells items of one hash apart") {
  hash_index index;
  for (uint32 i = 0; i < 50; ++i) index.insert(12345, i);
  for (uint32 i = 0; i < 50; ++i) CHECK(index.find(12345, [&](uint32 k) { return k == i; }) == i);
  CHECK(index.find(12345, [](uint32 k) { return k == 50; }) == hash_index::none);
  CHECK(hash_index{}.find(1, [](uint32) { return true; }) == hash_index::none);
}
