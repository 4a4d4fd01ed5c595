#pragma once
/// Numbers as text: correctly rounded reading of decimal and C hex floats, range-checked integers, and exact writing.

#include <poot/core/rounding.hpp>
#include <poot/core/text.hpp>

namespace poot {

namespace detail {

constexpr int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}
constexpr bool has_hex_prefix(std::string_view s) { return s.size() > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'); }

/// A natural number in words of 32 bits, the least first; the top word is not zero.
class natural {
 public:
  constexpr bool is_zero() const { return words_.empty(); }
  constexpr int64 bit_length() const {
    return words_.empty() ? 0 : static_cast<int64>(words_.size()) * 32 - std::countl_zero(words_.back());
  }
  /// this · factor + summand
  constexpr void multiply_add(uint32 factor, uint32 summand) {
    uint64 carry = summand;
    for (uint32& w : words_) {
      carry += uint64{w} * factor;
      w = static_cast<uint32>(carry);
      carry >>= 32;
    }
    if (carry) words_.push_back(static_cast<uint32>(carry));
  }
  constexpr void multiply_by_power_of_5(int64 exponent) {
    for (; exponent >= 13; exponent -= 13) multiply_add(1220703125u, 0);  // 5^13
    uint32 rest = 1;
    while (exponent-- > 0) rest *= 5;
    if (rest > 1) multiply_add(rest, 0);
  }
  constexpr void shift_left(int64 bits) {
    if (words_.empty() || bits <= 0) return;
    const size_t whole = static_cast<size_t>(bits / 32), old = words_.size();
    const int part = static_cast<int>(bits % 32);
    words_.resize(old + whole + 1, 0);
    for (size_t i = old + whole + 1; i-- > 0;) {
      const uint64 high = i >= whole && i - whole < old ? words_[i - whole] : 0;
      const uint64 low = i > whole && i - whole - 1 < old ? words_[i - whole - 1] : 0;
      words_[i] = static_cast<uint32>((high << 32 | low) << part >> 32);
    }
    trim();
  }
  constexpr bool operator<(const natural& other) const {
    if (words_.size() != other.words_.size()) return words_.size() < other.words_.size();
    for (size_t i = words_.size(); i-- > 0;)
      if (words_[i] != other.words_[i]) return words_[i] < other.words_[i];
    return false;
  }
  /// Takes away `other`, which is not larger.
  constexpr void subtract(const natural& other) {
    uint64 borrow = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      const uint64 difference = uint64{words_[i]} - (i < other.words_.size() ? other.words_[i] : 0) - borrow;
      words_[i] = static_cast<uint32>(difference);
      borrow = difference >> 63;
    }
    trim();
  }
  /// The leading 64 bits (fewer if there are fewer); `rest` says whether any bit below them is set.
  constexpr uint64 leading_bits(bool& rest) const {
    const int64 below = bit_length() > 64 ? bit_length() - 64 : 0;
    uint64 bits = 0;
    rest = false;
    for (size_t i = words_.size(); i-- > 0;) {
      const int64 shift = static_cast<int64>(i) * 32 - below;
      if (shift >= 0) bits |= uint64{words_[i]} << shift;
      else if (shift > -32) bits |= words_[i] >> -shift, rest |= (words_[i] & ((uint32{1} << -shift) - 1)) != 0;
      else rest |= words_[i] != 0;
    }
    return bits;
  }

 private:
  constexpr void trim() {
    while (!words_.empty() && words_.back() == 0) words_.pop_back();
  }
  vec<uint32> words_;
};

/// (remainder · 2^32 + next) / divisor, for remainder < divisor and a divisor with its top bit set; one digit of base 2^32.
constexpr uint64 divide_digit(uint64& remainder, uint32 next, uint64 divisor) {
  const uint64 high = divisor >> 32, low = divisor & 0xffffffffu;
  uint64 digit = remainder / high, left = remainder % high;
  while (digit >> 32 || digit * low > (left << 32 | next)) {  // at most twice too large
    --digit;
    left += high;
    if (left >> 32) break;
  }
  remainder = (remainder << 32 | next) - digit * divisor;
  return digit;
}

/// The bits of ±digits · 10^exponent for |exponent| ≤ 27, where 5^27 fits a word.
constexpr uint64 round_short_decimal(float_format f, bool negative, uint64 digits, int exponent) {
  uint64 five = 1;
  for (int i = exponent < 0 ? -exponent : exponent; i > 0; --i) five *= 5;
  if (exponent == 0) return round_bits(f, negative, digits, 0);
  const int up = std::countl_zero(digits);
  if (exponent < 0) {
    const int shift = std::countl_zero(five);
    five <<= shift;
    uint64 remainder = digits << up, quotient = 0;  // digits · 2^(up + 63) / (five · 2^shift) has 63 or 64 bits
    const uint64 first = remainder << 63;
    remainder >>= 1;
    quotient = divide_digit(remainder, static_cast<uint32>(first >> 32), five) << 32;
    quotient |= divide_digit(remainder, static_cast<uint32>(first), five);
    return round_bits(f, negative, quotient, exponent + shift - 63 - up, remainder != 0);
  }
  const uint64 a = digits << up, a1 = a >> 32, a0 = a & 0xffffffffu, b1 = five >> 32, b0 = five & 0xffffffffu;
  const uint64 low = a0 * b0, middle = a1 * b0 + (low >> 32), cross = a0 * b1 + (middle & 0xffffffffu);
  const uint64 high = a1 * b1 + (middle >> 32) + (cross >> 32), rest = cross << 32 | (low & 0xffffffffu);
  const int top = std::countl_zero(high);  // high is not 0: a ≥ 2^63 and five ≥ 5
  const uint64 kept = top ? high << top | rest >> (64 - top) : high;
  return round_bits(f, negative, kept, exponent - up + 64 - top, (top ? rest << top : rest) != 0);
}

/// The bits of ±digits · 10^exponent.
constexpr uint64 round_long_decimal(float_format f, bool negative, natural digits, int64 exponent) {
  bool rest = false;
  if (exponent >= 0) {
    digits.multiply_by_power_of_5(exponent);
    const int64 dropped = digits.bit_length() > 64 ? digits.bit_length() - 64 : 0;
    const uint64 leading = digits.leading_bits(rest);
    return round_bits(f, negative, leading, static_cast<int>(exponent + dropped), rest);
  }
  natural divisor;
  divisor.multiply_add(0, 1);
  divisor.multiply_by_power_of_5(-exponent);
  const int64 shift = divisor.bit_length() - digits.bit_length();
  digits.shift_left(shift);
  divisor.shift_left(-shift);
  uint64 quotient = 0;  // of two numbers of one length, so 64 steps give 63 bits at least
  for (int i = 0; i < 64; ++i) {
    quotient <<= 1;
    if (!(digits < divisor)) digits.subtract(divisor), quotient |= 1;
    digits.shift_left(1);
  }
  return round_bits(f, negative, quotient, static_cast<int>(exponent - shift - 63), !digits.is_zero());
}

/// A significand in text, `12.5`: where it ends, and its digits in a base of 10 or 16.
struct significand_text {
  size_t end = 0;         ///< of the text that belongs to it
  size_t first = 0;       ///< of the digits, the first that is not 0
  int64 count = 0;        ///< of digits from there on
  int64 fraction = 0;     ///< digits after the point
  uint64 leading = 0;     ///< the first `leading_count` digits as a number
  int64 leading_count = 0;
  bool rest = false;      ///< a digit after those is not 0
  bool any = false;       ///< there is a digit at all
};
constexpr significand_text read_significand(std::string_view s, int base) {
  significand_text r;
  const int most = base == 10 ? 19 : 16;  // digits that fit 64 bits
  bool point = false;
  for (; r.end < s.size(); ++r.end) {
    if (s[r.end] == '.' && !point) {
      point = true;
      continue;
    }
    const int digit = digit_value(s[r.end]);
    if (digit >= base) break;
    r.any = true;
    r.fraction += point;
    if (digit == 0 && r.count == 0) continue;
    if (r.count++ == 0) r.first = r.end;
    if (r.leading_count < most) r.leading = r.leading * static_cast<uint64>(base) + static_cast<uint64>(digit), ++r.leading_count;
    else r.rest |= digit != 0;
  }
  return r;
}

/// Reads an optional exponent, `e-5`, that ends the text; far values saturate.
constexpr bool read_exponent(std::string_view s, char mark, int64& exponent) {
  exponent = 0;
  if (s.empty()) return true;
  if ((s[0] | 32) != mark) return false;
  size_t i = 1;
  const bool negative = i < s.size() && s[i] == '-';
  if (i < s.size() && (s[i] == '-' || s[i] == '+')) ++i;
  if (i == s.size()) return false;
  for (; i < s.size(); ++i) {
    if (s[i] < '0' || s[i] > '9') return false;
    if (exponent < 1'000'000'000'000'000) exponent = exponent * 10 + (s[i] - '0');
  }
  if (negative) exponent = -exponent;
  return true;
}

constexpr bool parse_hex_float(std::string_view s, float_format f, bool negative, uint64& bits) {
  const significand_text d = read_significand(s, 16);
  int64 exponent = 0;
  if (!d.any || !read_exponent(s.substr(d.end), 'p', exponent)) return false;
  exponent += 4 * (d.count - d.leading_count - d.fraction);
  exponent = exponent > 5000 ? 5000 : exponent < -5000 ? -5000 : exponent;  // beyond every format
  bits = round_bits(f, negative, d.leading, static_cast<int>(exponent), d.rest);
  return true;
}

constexpr bool parse_decimal_float(std::string_view s, float_format f, bool negative, uint64& bits) {
  const significand_text d = read_significand(s, 10);
  int64 exponent = 0;
  if (!d.any || !read_exponent(s.substr(d.end), 'e', exponent)) return false;
  exponent -= d.fraction;
  const int64 magnitude = exponent + d.count;  // the number lies below 10^magnitude
  if (d.count == 0 || magnitude < -400) {
    bits = negative ? f.sign_bit() : 0;
  } else if (magnitude > 400) {
    bits = f.infinity() | (negative ? f.sign_bit() : 0);
  } else if (d.count <= 19 && exponent >= -27 && exponent <= 27) {
    bits = round_short_decimal(f, negative, d.leading, static_cast<int>(exponent));
  } else {
    // No boundary between two numbers of binary64 has more than 767 digits: after these a 1 stands for the others.
    constexpr int64 most = 780;
    natural digits;
    int64 taken = 0;
    bool rest = false;
    for (size_t i = d.first; i < d.end; ++i) {
      if (s[i] == '.') continue;
      if (taken < most) digits.multiply_add(10, static_cast<uint32>(s[i] - '0')), ++taken;
      else if (s[i] != '0') {
        rest = true;
        break;
      }
    }
    exponent += d.count - taken;
    if (rest) digits.multiply_add(10, 1), --exponent;
    bits = round_long_decimal(f, negative, std::move(digits), exponent);
  }
  return true;
}

}  // namespace detail

/// Reads `1e-5`, `0x1.8p-3`, `inf`, `-inf` or `nan` (the quiet one) as the nearest number of `f`, ties to even; what is
/// too large becomes infinite. False if the text is anything else.
constexpr bool parse_float(std::string_view s, float_format f, uint64& bits) {
  const bool negative = !s.empty() && s[0] == '-';
  if (negative) s.remove_prefix(1);
  if (s == "inf") {
    bits = f.infinity() | (negative ? f.sign_bit() : 0);
    return true;
  }
  if (s == "nan" && !negative) {
    bits = f.quiet_nan();
    return true;
  }
  if (detail::has_hex_prefix(s)) return detail::parse_hex_float(s.substr(2), f, negative, bits);
  return detail::parse_decimal_float(s, f, negative, bits);
}

/// Reads a natural number, decimal or with `0x`; false if it is none or more than `most`.
constexpr bool parse_natural(std::string_view s, uint64 most, uint64& out) {
  const uint64 base = detail::has_hex_prefix(s) ? 16 : 10;
  if (base == 16) s.remove_prefix(2);
  if (s.empty()) return false;
  out = 0;
  for (char c : s) {
    const uint64 digit = static_cast<uint64>(detail::digit_value(c));
    if (digit >= base || digit > most || out > (most - digit) / base) return false;
    out = out * base + digit;
  }
  return true;
}

/// Reads an integer, decimal or with `0x`; false if it is none or outside `least` ≤ 0 to `most` ≥ 0.
constexpr bool parse_integer(std::string_view s, int64 least, int64 most, int64& out) {
  const bool negative = !s.empty() && s[0] == '-';
  if (negative) s.remove_prefix(1);
  uint64 magnitude = 0;
  if (!parse_natural(s, negative ? uint64{0} - static_cast<uint64>(least) : static_cast<uint64>(most), magnitude)) return false;
  out = static_cast<int64>(negative ? uint64{0} - magnitude : magnitude);
  return true;
}

/// Appends a number so that `parse_float` gives back its bits: whole numbers below 2^24 plainly, others as the shortest
/// hex float with one leading 1. False, and nothing is appended, for a NaN other than the quiet one.
constexpr bool write_hex_float(text& out, float_format f, uint64 bits) {
  const uint64 magnitude = bits & ~f.sign_bit();
  if (bits == f.quiet_nan()) {
    out << "nan";
    return true;
  }
  if (magnitude > f.infinity()) return false;
  if (bits & f.sign_bit()) out << '-';
  if (magnitude == f.infinity()) {
    out << "inf";
    return true;
  }
  if (magnitude == 0) {
    out << '0';
    return true;
  }
  const uint64 biased = magnitude >> f.fraction_bits;
  uint64 significand = magnitude & f.fraction_mask();
  if (biased) significand |= f.fraction_mask() + 1;
  const int zeros = std::countr_zero(significand);
  significand >>= zeros;
  const int exponent = 1 - f.bias() - f.fraction_bits + (biased ? static_cast<int>(biased) - 1 : 0) + zeros;
  const int top = 63 - std::countl_zero(significand);
  if (exponent >= 0 && exponent + top < 24) {
    out << (significand << exponent);
    return true;
  }
  out << "0x1";
  if (top > 0) {
    out << '.';
    uint64 fraction = significand << (63 - top) << 1;  // the digits after the 1, from the top bit on
    for (; fraction; fraction <<= 4) out << "0123456789abcdef"[fraction >> 60];
  }
  out << 'p' << exponent + top;
  return true;
}

namespace detail {
constexpr uint64 float_bits(std::string_view s, float_format f) {
  uint64 bits = 0;
  return parse_float(s, f, bits) ? bits : ~uint64{0};
}
}  // namespace detail
static_assert(detail::float_bits("1e-5", binary32) == 0x3727c5ac && detail::float_bits("0x1p-149", binary32) == 1);
static_assert(detail::float_bits("65519.999", binary16) == 0x7bff && detail::float_bits("65520", binary16) == 0x7c00);
static_assert(detail::float_bits("1e39", binary32) == 0x7f800000);

}  // namespace poot
