#include <poot/core/vec.hpp>

#include <support/draws.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace poot;
using poot_tests::draws;

namespace {

constexpr vec<int> squares(int count) {
  vec<int> v;
  for (int i = 0; i < count; ++i) v.push_back(i * i);
  return v;
}
constexpr int sum(view<int> items) {
  int total = 0;
  for (const int i : items) total += i;
  return total;
}

static_assert(vec<int>().empty() && vec<int>().data() == nullptr && vec<int>(3, 7) == vec<int>{7, 7, 7});
static_assert(squares(100).size() == 100 && squares(100).back() == 99 * 99 && sum(squares(4)) == 14);
static_assert(sum(view<int>(squares(10)).subview(2, 3)) == 4 + 9 + 16);
static_assert([] {  // elements of its own, moved or not by the growth
  vec<vec<int>> v;
  for (int i = 0; i < 5; ++i) v.push_back(squares(i));
  for (int i = 0; i < 4; ++i) v.append(v);
  for (size_t i = 0; i < v.size(); ++i)
    if (!(v[i] == squares(static_cast<int>(i % 5)))) return false;
  return v.size() == 80;
}());
static_assert([] {
  vec<int> a = squares(20), b = a;
  b[3] = -1;
  const vec<int> c = std::move(a);
  a = b;
  const vec<int>& self = a;
  a = self;
  b.resize(2);
  return c[3] == 9 && a[3] == -1 && a.size() == 20 && b == vec<int>{0, 1};
}());
static_assert([] {
  vec<vec<int>> rows(3, vec<int>{1, 2});
  rows.push_back({});
  rows.resize(20);
  rows.pop_back();
  return rows.size() == 19 && rows[2] == vec<int>{1, 2} && rows[18].empty();
}());
static_assert(vec<int>{1, 2} != vec<int>{1, 3} && vec<int>{1, 2} != vec<int>{1});

/// Counts how many are alive, and moves without copying.
struct counted {
  static inline int alive = 0, copies = 0;
  int value = 0;
  counted(int v = 0) : value(v) { ++alive; }
  counted(const counted& other) : value(other.value) { ++alive, ++copies; }
  counted(counted&& other) noexcept : value(std::exchange(other.value, -1)) { ++alive; }
  counted& operator=(const counted& other) {
    value = other.value, ++copies;
    return *this;
  }
  counted& operator=(counted&& other) noexcept {
    value = std::exchange(other.value, -1);
    return *this;
  }
  ~counted() { --alive; }
};

}  // namespace

TEST_CASE("random operations leave what std::vector holds") {
  draws random(1);
  for (int round = 0; round < 200; ++round) {
    vec<uint64> v;
    std::vector<uint64> expected;
    for (int i = 0; i < 100; ++i) {
      const uint64 value = random.next();
      switch (random.less_than(7)) {
        case 0: {
          const size_t size = random.less_than(40);
          v.resize(size, value), expected.resize(size, value);
          break;
        }
        case 1:
          if (!expected.empty()) v.pop_back(), expected.pop_back();
          break;
        case 2: {
          const vec<uint64> more(random.less_than(9), value);
          v.append(more), expected.insert(expected.end(), more.begin(), more.end());
          break;
        }
        case 3: {
          vec<uint64> copy = v;
          copy.push_back(value);  // a copy is apart
          v = vec<uint64>(view<uint64>(copy).subview(0, v.size()));
          break;
        }
        case 4: v.reserve(random.less_than(100)); break;
        default: v.push_back(value), expected.push_back(value);
      }
      REQUIRE(v.size() == expected.size());
      REQUIRE(v.empty() == expected.empty());
      for (size_t k = 0; k < expected.size(); ++k) REQUIRE(v[k] == expected[k]);
    }
  }
}

TEST_CASE("growing moves elements, and every element is destroyed") {
  counted::alive = counted::copies = 0;
  {
    vec<counted> v;
    for (int i = 0; i < 1000; ++i) v.push_back(counted(i));
    CHECK(counted::copies == 0);
    for (int i = 0; i < 1000; ++i) REQUIRE(v[static_cast<size_t>(i)].value == i);
    const vec<counted> taken = std::move(v);
    CHECK(counted::copies == 0);
    CHECK(taken.size() == 1000);
    CHECK(v.empty());
    v.push_back(counted(5));  // an array that was moved from can be filled again
    CHECK(v.back().value == 5);
    CHECK(taken.back().value == 999);
  }
  CHECK(counted::alive == 0);
}

TEST_CASE("an element can be pushed onto its own array") {
  vec<int> v{1, 2, 3, 4, 5, 6, 7, 8};
  for (int i = 0; i < 100; ++i) v.push_back(v[static_cast<size_t>(i)]);
  for (size_t i = 0; i < v.size(); ++i) REQUIRE(v[i] == static_cast<int>(i % 8) + 1);
}
