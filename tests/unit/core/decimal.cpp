#include <poot/core/decimal.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace poot;

namespace {

uint64 state = 1;
uint64 draw() {
  uint64 z = state += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
int below(int n) { return static_cast<int>(draw() % static_cast<uint64>(n)); }

uint64 bits_of(const std::string& s, float_format f) {
  uint64 bits = 0;
  REQUIRE_MESSAGE(parse_float(s, f, bits), s);
  return bits;
}
bool reads(std::string_view s) {
  uint64 bits = 0;
  return parse_float(s, binary64, bits);
}
uint64 strtod_bits(const std::string& s) { return std::bit_cast<uint64>(std::strtod(s.c_str(), nullptr)); }
uint64 strtof_bits(const std::string& s) { return std::bit_cast<uint32>(std::strtof(s.c_str(), nullptr)); }

std::string random_decimal() {
  std::string s = below(3) ? "" : "-";
  const int digits = 1 + (below(8) ? below(20) : below(60)), point = below(digits + 1);
  for (int i = 0; i < digits; ++i) {
    if (i == point && below(2)) s += '.';
    s += static_cast<char>('0' + below(10));
  }
  if (below(4)) {
    const int range = below(3) ? 40 : 330;
    s += below(2) ? 'e' : 'E';
    const int exponent = below(2 * range) - range;
    if (exponent >= 0 && below(2)) s += '+';
    s += std::to_string(exponent);
  }
  return s;
}
/// All digits of a double, which printf gives exactly.
std::string exactly(double x) {
  char buffer[1200];
  std::snprintf(buffer, sizeof buffer, "%.1100f", x);
  return buffer;
}

/// The value of bits of a narrow format, by its definition.
double value_of(float_format f, uint64 bits) {
  const int exponent = static_cast<int>(bits >> f.fraction_bits);
  const double fraction = static_cast<double>(bits & f.fraction_mask());
  const int least = 1 - f.bias() - f.fraction_bits;
  return exponent ? std::ldexp(fraction + static_cast<double>(f.fraction_mask() + 1), least + exponent - 1) : std::ldexp(fraction, least);
}

constexpr bool fits(std::string_view s, int64 least, int64 most, int64 expected) {
  int64 out = expected + 1;
  return parse_integer(s, least, most, out) && out == expected;
}
static_assert(fits("-128", -128, 127, -128) && fits("0x7f", -128, 127, 127) && fits("-9223372036854775808", INT64_MIN, 0, INT64_MIN));

// The longest path in a constant expression: a value one digit above a halfway point, with 40 digits.
constexpr uint64 constant_bits(std::string_view s, float_format f) {
  uint64 bits = 0;
  return parse_float(s, f, bits) ? bits : 1;
}
static_assert(constant_bits("9007199254740993.0000000000000000000000001", binary64) == 0x4340000000000001);
static_assert(constant_bits("9007199254740993", binary64) == 0x4340000000000000);
static_assert(constant_bits("9.8813129168249309e-324", binary64) == 2);

}  // namespace

TEST_CASE("reads decimals as the C library does") {
  for (int i = 0; i < 100'000; ++i) {
    const std::string s = random_decimal();
    if (bits_of(s, binary64) != strtod_bits(s)) FAIL(s);
    if (bits_of(s, binary32) != strtof_bits(s)) FAIL(s);
  }
}

TEST_CASE("rounds to even at halfway points, and away from them just beside") {
  for (int i = 0; i < 3000; ++i) {
    // halfway between two floats: 25 significant bits; subnormals included
    const uint32 bits = static_cast<uint32>(draw() % 0x7f7fffffu);
    const double halfway =
        (static_cast<double>(std::bit_cast<float>(bits)) + static_cast<double>(std::bit_cast<float>(bits + 1))) / 2;
    std::string s = exactly(halfway);
    const uint32 even = bits + (bits & 1);
    if (bits_of(s, binary32) != even) FAIL(s);
    if (bits_of(s + "000001", binary32) != bits + 1) FAIL(s);
    if (bits_of(s + std::string(900, '0') + "1", binary64) != std::bit_cast<uint64>(halfway)) FAIL(s);
    size_t last = s.find_last_not_of('0');
    if (s[last] == '.') continue;
    --s[last];
    s += "9";
    if (bits_of(s, binary32) != bits) FAIL(s);
  }
  // doubles: halfway points beside subnormals have more than 750 digits, the C library is exact there
  for (int i = 0; i < 300; ++i) {
    const uint64 bits = draw() >> (below(2) ? 12 : 20 + below(40));
    const std::string s = exactly(std::bit_cast<double>(bits)), next = exactly(std::bit_cast<double>(bits + 1));
    // the decimal mean of both, digit by digit
    std::string sum, mean;
    int carry = 0;
    for (size_t k = s.size(); k-- > 0;) {
      if (s[k] == '.') sum.insert(sum.begin(), '.');
      else carry += s[k] - '0' + next[k] - '0', sum.insert(sum.begin(), static_cast<char>('0' + carry % 10)), carry /= 10;
    }
    int rest = carry;
    for (char c : sum + "0") {
      if (c == '.') mean += c;
      else rest = rest * 10 + c - '0', mean += static_cast<char>('0' + rest / 2), rest %= 2;
    }
    const uint64 even = bits + (bits & 1);
    if (bits_of(mean, binary64) != even) FAIL(mean);
    if (bits_of(mean + "1", binary64) != bits + 1) FAIL(mean);
    if (strtod_bits(mean) != even) FAIL("the mean is not halfway: " << mean);
  }
}

TEST_CASE("rounds narrow formats once, from text") {
  for (const float_format f : {binary16, bfloat16}) {
    for (int i = 0; i < 4000; ++i) {
      const uint64 bits = draw() % (f.infinity() - 1);
      const double low = value_of(f, bits), high = value_of(f, bits + 1), halfway = (low + high) / 2;  // exact in a double
      const std::string s = exactly(halfway);
      if (bits_of(exactly(low), f) != bits) FAIL(low);
      if (bits_of(s, f) != bits + (bits & 1)) FAIL(s);
      if (bits_of(s + "1", f) != bits + 1) FAIL(s);  // rounding to f32 first would lose this digit
      if (bits_of("-" + s + "1", f) != ((bits + 1) | f.sign_bit())) FAIL(s);
      if (bits_of(exactly(low + (high - low) * 0.499), f) != bits) FAIL(s);
      if (bits_of(exactly(low + (high - low) * 0.501), f) != bits + 1) FAIL(s);
    }
  }
}

TEST_CASE("reads hex floats as the C library does") {
  for (int i = 0; i < 30'000; ++i) {
    std::string s = below(2) ? "0x" : "-0X";
    const int digits = 1 + below(24), point = below(digits + 1);
    for (int k = 0; k < digits; ++k) {
      if (k == point && below(2)) s += '.';
      s += "0123456789abcdefABCDEF"[below(22)];
    }
    if (below(4)) s += "p" + std::to_string(below(below(2) ? 2200 : 300) - (below(2) ? 1100 : 150));
    if (bits_of(s, binary64) != strtod_bits(s)) FAIL(s);
    if (bits_of(s, binary32) != strtof_bits(s)) FAIL(s);
  }
}

TEST_CASE("gives infinities, zeros and the quiet NaN their bits") {
  CHECK(bits_of("inf", binary16) == 0x7c00);
  CHECK(bits_of("-inf", bfloat16) == 0xff80);
  CHECK(bits_of("nan", binary32) == 0x7fc00000);
  CHECK(bits_of("-0", binary32) == 0x80000000);
  CHECK(bits_of("-0.000e999999999999999999999", binary32) == 0x80000000);
  CHECK(bits_of("1e999999999999999999999", binary64) == 0x7ff0000000000000);
  CHECK(bits_of("1e-999999999999999999999", binary64) == 0);
  CHECK(bits_of("0x1p99999999999999999999", binary32) == 0x7f800000);
  CHECK(bits_of("0." + std::string(100'000, '0') + "1e100001", binary64) == 0x3ff0000000000000);
  CHECK(bits_of("1" + std::string(100'000, '0') + "e-100000", binary64) == 0x3ff0000000000000);
}

TEST_CASE("refuses what is no number") {
  for (const char* s : {"", "-", ".", "-.", "e5", "1e", "1e+", "1e5x", "1 ", " 1", "1..2", "0x", "0xp1", "0x1p", "0x1.g", "infinity",
                        "Inf", "-nan", "nan(1)", "+1", "1f", "--1", "1e5.0"})
    CHECK_FALSE_MESSAGE(reads(s), s);
  CHECK_FALSE(reads(std::string_view("1\0", 2)));
  CHECK(reads(".5"));
  CHECK(reads("5."));
}

TEST_CASE("keeps integers in their range") {
  int64 out = 0;
  for (const char* s : {"", "-", "1.0", "1e3", "0x", "128", "-129", "0x80", "99999999999999999999999", "18446744073709551616", "12a"})
    CHECK_FALSE_MESSAGE(parse_integer(s, -128, 127, out), s);
  CHECK_FALSE(parse_integer("-1", 0, 255, out));
  uint64 natural = 0;
  CHECK(parse_natural("0xffffffffffffffff", ~uint64{0}, natural));
  CHECK(natural == ~uint64{0});
  CHECK_FALSE(parse_natural("18446744073709551616", ~uint64{0}, natural));
  CHECK_FALSE(parse_natural("9", 3, natural));
}

TEST_CASE("writes every number so that it is read back, and as the C library reads it") {
  const auto written = [](float_format f, uint64 bits) {
    text out;
    return write_hex_float(out, f, bits) ? std::string(out.str()) : std::string();
  };
  for (const float_format f : {binary16, bfloat16})
    for (uint64 bits = 0; bits < 0x10000; ++bits) {
      const std::string s = written(f, bits);
      if (is_nan_bits(f, bits) && bits != f.quiet_nan()) CHECK(s.empty());
      else if (bits_of(s, f) != bits) FAIL(s);
    }
  for (int i = 0; i < 50'000; ++i) {
    const uint64 wide = draw() & ~(below(2) ? uint64{0} : (uint64{1} << below(52)) - 1), narrow = wide >> 32;
    if (!is_nan_bits(binary64, wide) && strtod_bits(written(binary64, wide)) != wide) FAIL(wide);
    if (!is_nan_bits(binary32, narrow) && strtof_bits(written(binary32, narrow)) != narrow) FAIL(narrow);
  }
  CHECK(written(binary32, 0x39800000) == "0x1p-12");
  CHECK(written(binary32, 0x3fc00000) == "0x1.8p0");
  CHECK(written(binary32, 0x42400000) == "48");
  CHECK(written(binary32, 0xc2400000) == "-48");
  CHECK(written(binary64, 1) == "0x1p-1074");
}
