#include <poot/core/text.hpp>

#include <support/draws.hpp>

#include <doctest/doctest.h>

#include <cinttypes>
#include <cstdio>
#include <limits>
#include <string>

using namespace poot;
using poot_tests::draws;

namespace {

template <fixed_text Name>
constexpr std::string_view name_of() {
  return Name.view();
}

static_assert(name_of<"hidden">() == "hidden" && name_of<"">().empty());
static_assert(fixed_text("x") == fixed_text("x") && !(fixed_text("x") == fixed_text("y")));
static_assert((text{} << "a" << 'b' << 12 << std::string_view("-c") << (text{} << -3)).str() == "ab12-c-3");
static_assert((text{} << std::numeric_limits<int64>::min()).str() == "-9223372036854775808");
static_assert((text{} << std::numeric_limits<uint64>::max()).str() == "18446744073709551615");
static_assert((text{} << int8{-128} << ' ' << uint8{255} << ' ' << true).str() == "-128 255 1");
static_assert(text{}.hex(0).str() == "0x0" && text{}.hex(0xDEADBEEF).str() == "0xdeadbeef");
static_assert(text{}.empty() && text("abc").size() == 3 && text("a") == text(std::string_view("a")));

}  // namespace

TEST_CASE("integers are written as the C library writes them") {
  draws random(1);
  for (int i = 0; i < 20'000; ++i) {
    const uint64 bits = random.next() >> random.less_than(64);
    char expected[32];
    std::snprintf(expected, sizeof expected, "%" PRIu64, bits);
    REQUIRE((text{} << bits).str() == expected);
    std::snprintf(expected, sizeof expected, "%" PRId64, static_cast<int64>(bits));
    REQUIRE((text{} << static_cast<int64>(bits)).str() == expected);
    std::snprintf(expected, sizeof expected, "%d", static_cast<int32>(bits));
    REQUIRE((text{} << static_cast<int32>(bits)).str() == expected);
    std::snprintf(expected, sizeof expected, "%#" PRIx64, bits);
    if (bits) REQUIRE(text{}.hex(bits).str() == expected);
  }
}

TEST_CASE("appending keeps what was there") {
  text t;
  std::string expected;
  for (int i = 0; i < 500; ++i) {
    t << i << ',';
    expected += std::to_string(i) + ',';
  }
  CHECK(t.str() == expected);
  const text copy = t;
  t << copy;
  CHECK(t.str() == expected + expected);
  CHECK(copy.str() == expected);
}
