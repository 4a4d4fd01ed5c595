#pragma once
/// exp, log, tanh, erf, sin, cos and pow of f64, for the interpreter and the host, where alone f64 functions exist.
///
/// Scalars only, so they may branch and look up; single IEEE operations throughout, so the bits hold under any compiler
/// flag and in constant expressions. Greatest error 2 ULP, of pow 4, over the whole range (sin and cos too). Special
/// values are those of C99 annex F.

#include <poot/core/elementary.hpp>

namespace poot::elementary {

namespace detail {

// From bits, because under `-ffinite-math-only` a compiler drops the paths that return the constants.
constexpr double nan() { return from_bits(uint64{0x7ff8} << 48); }
constexpr double infinity() { return from_bits(uint64{0x7ff0} << 48); }

/// A number as an unevaluated sum; |tail| is at most half an ULP of head.
struct double_sum {
  double head, tail;
};

/// a + b without error.
constexpr double_sum exact_sum(double a, double b) {
  const double s = add(a, b), from_b = sub(s, a);
  return {s, add(sub(a, sub(s, from_b)), sub(b, from_b))};
}

/// The leading 26 bits: a product of two heads is exact.
constexpr double head(double x) { return from_bits(to_bits(x) & ~uint64{0x7ffffff}); }

/// a * b without error, away from overflow and underflow.
constexpr double_sum exact_product(double a, double b) {
  const double p = mul(a, b), a_head = head(a), b_head = head(b), a_tail = sub(a, a_head), b_tail = sub(b, b_head);
  const double rest = add(add(sub(mul(a_head, b_head), p), mul(a_head, b_tail)), mul(a_tail, b_head));
  return {p, add(rest, mul(a_tail, b_tail))};
}

/// Coefficients from the highest power down.
template <int N>
constexpr double polynomial(const double (&coefficients)[N], double x) {
  double sum = coefficients[0];
  for (int i = 1; i < N; ++i) sum = add(mul(sum, x), coefficients[i]);
  return sum;
}

constexpr double magnitude(double x) { return from_bits(to_bits(x) & ~ieee::scalar_bits<double>::sign); }
/// `value` with the sign bit of `x`; the sign bit of `value` is 0.
constexpr double with_sign_of(double x, double value) {
  return from_bits(to_bits(value) | (to_bits(x) & ieee::scalar_bits<double>::sign));
}

/// Adding it to |x| < 2^51 rounds to an integer, found in the low bits.
inline constexpr double to_integer = 0x1.8p+52;
constexpr int low_bits(double shifted) { return static_cast<int>(static_cast<uint32>(to_bits(shifted))); }

/// 2^k, for normal results.
constexpr double power_of_two(int k) { return from_bits(static_cast<uint64>(1023 + k) << 52); }

/// p * 2^k for |k| < 2000, rounded once where p is in [1/2, 2).
constexpr double scale(double p, int k) {
  const int half = k / 2;
  return mul(mul(p, power_of_two(half)), power_of_two(k - half));
}

/// e^x - 1 = 2^k m + (2^k - 1) with m = e^r - 1 for a remainder |r| <= log(2) / 2.
struct reduced_exp {
  double m;
  int k;
};
constexpr reduced_exp reduce_exp(double x) {
  constexpr double q[] = {0x1.af857986410cdp-26, 0x1.28b0219a866aap-22, 0x1.71dddfd6c492dp-19, 0x1.a01996c321eaap-16,
                          0x1.a01a01badc151p-13, 0x1.6c16c18593547p-10, 0x1.111111110d652p-7,  0x1.555555555009ep-5,
                          0x1.5555555555561p-3,  0x1.000000000000bp-1};
  const double shifted = add(mul(x, 0x1.71547652b82fep+0), to_integer), k = sub(shifted, to_integer);
  const double high = sub(x, mul(k, 0x1.62e42fefa2p-1)), low = mul(k, 0x1.9ef35793c7673p-41), r = sub(high, low);
  const double lost = sub(sub(high, r), low);
  return {add(r, add(mul(mul(r, r), polynomial(q, r)), lost)), low_bits(shifted)};
}

/// x = 2^k m, m in [sqrt(1/2), sqrt(2)), for finite x > 0.
struct binary_parts {
  double m;
  int k;
};
constexpr binary_parts split_exponent(double x) {
  const bool tiny = to_bits(x) < uint64{1} << 52;
  const uint64 least = 0x3fe6a09e667f3bcd, b = to_bits(tiny ? mul(x, 0x1p+52) : x) + ((uint64{1023} << 52) - least);
  return {from_bits((b & ((uint64{1} << 52) - 1)) + least), static_cast<int>(b >> 52) - (tiny ? 1023 + 52 : 1023)};
}

/// 2 / pi in digits of base 2^32.
inline constexpr uint32 two_over_pi[38] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab};

/// x - quarter * pi/2 in [-pi/4, pi/4], to about 2^-128, by multiplying x's integer significand with those digits of
/// 2/pi that matter modulo 4 (Payne and Hanek).
struct reduced_angle {
  double_sum r;
  int quarter;
};
constexpr reduced_angle reduce_angle(double x) {
  const double a = magnitude(x);
  if (a < 0x1.921fb54442d18p-1) return {{x, 0.0}, 0};
  const uint64 significand = (to_bits(a) & ((uint64{1} << 52) - 1)) | uint64{1} << 52;
  const int exponent = static_cast<int>(to_bits(a) >> 52) - 1075;  // a = significand * 2^exponent
  const int first = exponent < 34 ? 0 : (exponent - 2) / 32, point = 32 * (first + 7) - exponent;
  uint32 product[11] = {};  // low limb first; 1 is bit `point`; the last two stay 0
  for (int i = 0; i < 7; ++i) {
    const uint64 digit = two_over_pi[first + 6 - i];
    uint64 sum = product[i] + digit * static_cast<uint32>(significand);
    product[i] = static_cast<uint32>(sum);
    sum = (sum >> 32) + product[i + 1] + digit * (significand >> 32);
    product[i + 1] = static_cast<uint32>(sum);
    product[i + 2] = static_cast<uint32>(sum >> 32);
  }
  const auto bits_from = [&](int position) {
    const int limb = position / 32, shift = position % 32;
    uint64 bits = static_cast<uint64>(product[limb]) >> shift | static_cast<uint64>(product[limb + 1]) << (32 - shift);
    if (shift) bits |= static_cast<uint64>(product[limb + 2]) << (64 - shift);
    return bits;
  };
  uint64 high = bits_from(point - 64), low = bits_from(point - 128);
  int quarter = static_cast<int>(bits_from(point) & 3);
  const bool up = high >> 63;
  if (up) {
    high = ~high + (low == 0), low = uint64{0} - low;
    ++quarter;
  }
  // the fraction as a sum, times pi/2
  const double a1 = mul(static_cast<double>(high >> 11), 0x1p-53);
  const double a2 = mul(static_cast<double>((high & 0x7ff) << 42 | low >> 22), 0x1p-106);
  const double a3 = mul(static_cast<double>(low & 0x3fffff), 0x1p-128);
  const double_sum upper = exact_sum(a1, a2), f = exact_sum(upper.head, add(upper.tail, a3));
  const double_sum main = exact_product(f.head, 0x1.921fb54442d18p+0);
  const double rest = add(main.tail, add(mul(f.head, 0x1.1a62633145c07p-54), mul(f.tail, 0x1.921fb54442d18p+0)));
  double_sum r = exact_sum(main.head, rest);
  if (up != (to_bits(x) >> 63 != 0)) r = {-r.head, -r.tail};
  return {r, to_bits(x) >> 63 ? -quarter : quarter};
}

/// sin(x + quarter * pi/2) for finite x.
constexpr double sine(double x, int quarter) {
  constexpr double s[] = {0x1.5d93946fa324bp-33, -0x1.ae5e686d14e67p-26, 0x1.71de357ae49c2p-19,
                          -0x1.a01a019c15e7p-13, 0x1.111111110f8a5p-7,   -0x1.5555555555549p-3};
  constexpr double c[] = {-0x1.8fb11e4af1869p-37, 0x1.1ee9f132a0467p-29,  -0x1.27e4f8128ec9cp-22,
                          0x1.a01a019cbf388p-16,  -0x1.6c16c16c1521ep-10, 0x1.555555555554cp-5};
  const reduced_angle angle = reduce_angle(x);
  const double r = angle.r.head, tail = angle.r.tail, rr = mul(r, r), half = mul(rr, 0.5);
  const int turn = angle.quarter + quarter;
  double value;
  if (turn & 1) {
    const double one = sub(1.0, half);
    value = add(one, add(sub(sub(1.0, one), half), sub(mul(mul(rr, rr), polynomial(c, rr)), mul(r, tail))));
  } else {
    value = add(r, add(mul(mul(rr, r), polynomial(s, rr)), mul(tail, sub(1.0, half))));
  }
  return turn & 2 ? -value : value;
}

/// erf(i / 8) for i = 4 ... 47.
inline constexpr double erf_eighths[44] = {
    0x1.0a7ef5c18edd2p-1, 0x1.3f196dcd0f135p-1, 0x1.6c1c9759d0e5fp-1, 0x1.91724951b8fc6p-1, 0x1.af767a741088bp-1,
    0x1.c6dad2829ec62p-1, 0x1.d8865d98abe01p-1, 0x1.e5768c3b4a3fcp-1, 0x1.eea5557137ae0p-1, 0x1.f4f693b67bd77p-1,
    0x1.f92d077f8d56dp-1, 0x1.fbe61eef4cf6ap-1, 0x1.fd9ae142795e3p-1, 0x1.fea4218d6594ap-1, 0x1.ff404760319b4p-1,
    0x1.ff9960f3eb327p-1, 0x1.ffcaa8f4c9beap-1, 0x1.ffe514bbdc197p-1, 0x1.fff2cfb0453d9p-1, 0x1.fff9ba420e834p-1,
    0x1.fffd1ac4135f9p-1, 0x1.fffeb3ebb267bp-1, 0x1.ffff6f9f67e55p-1, 0x1.ffffc316d9ed0p-1, 0x1.ffffe710d565ep-1,
    0x1.fffff618c3da6p-1, 0x1.fffffc2f171e3p-1, 0x1.fffffe92ced93p-1, 0x1.ffffff7b91176p-1, 0x1.ffffffd169d0cp-1,
    0x1.fffffff01a8b6p-1, 0x1.fffffffabd229p-1, 0x1.fffffffe4fa30p-1, 0x1.ffffffff79626p-1, 0x1.ffffffffd759dp-1,
    0x1.fffffffff4188p-1, 0x1.fffffffffc9e8p-1, 0x1.ffffffffff11ap-1, 0x1.ffffffffffc05p-1, 0x1.ffffffffffef8p-1,
    0x1.fffffffffffbep-1, 0x1.ffffffffffff0p-1, 0x1.ffffffffffffcp-1, 0x1.fffffffffffffp-1};

}  // namespace detail

constexpr double exp(double x) {
  if (is_nan(x)) return x;
  if (x > 710.0) return detail::infinity();
  if (x < -746.0) return 0.0;
  const detail::reduced_exp e = detail::reduce_exp(x);
  return detail::scale(add(1.0, e.m), e.k);
}

constexpr double log(double x) {
  constexpr double p[] = {0x1.2f04537e863e7p-3, 0x1.39a1db0b62fe6p-3, 0x1.74663d6562c86p-3, 0x1.c71c521264991p-3,
                          0x1.24924941e329p-2,  0x1.999999997ff05p-2, 0x1.5555555555592p-1};
  if (is_nan(x)) return x;
  if (ieee::is_infinite(x)) return x > 0.0 ? x : detail::nan();
  if (x == 0.0) return -detail::infinity();
  if (x < 0.0) return detail::nan();
  // log(1 + f) = f - f^2/2 + s (f^2/2 + 2 s^2/3 + ...), s = f / (2 + f)
  const detail::binary_parts parts = detail::split_exponent(x);
  const double k = parts.k, f = sub(parts.m, 1.0), s = div(f, add(2.0, f)), ss = mul(s, s);
  const double half = mul(mul(f, f), 0.5), rest = mul(s, add(half, mul(ss, detail::polynomial(p, ss))));
  const double low = add(rest, mul(k, 0x1.9ef35793c7673p-41));
  return add(mul(k, 0x1.62e42fefa2p-1), sub(f, sub(half, low)));
}

constexpr double tanh(double x) {
  constexpr double p[] = {0x1.03f81cab4033fp-11, -0x1.7951c34635901p-10, 0x1.d69eeea6e2333p-9, -0x1.226d7853c48bbp-7,
                          0x1.664f456ced7eep-6,  -0x1.ba1ba1b2f833ap-5,  0x1.111111110d134p-3, -0x1.555555555553dp-2};
  if (is_nan(x)) return x;
  const double a = detail::magnitude(x), aa = mul(a, a);
  if (a < 0.3125) return detail::with_sign_of(x, add(a, mul(mul(aa, a), detail::polynomial(p, aa))));
  if (a > 19.5) return detail::with_sign_of(x, 1.0);
  const detail::reduced_exp e = detail::reduce_exp(add(a, a));
  const double power = detail::power_of_two(e.k), m = add(mul(power, e.m), sub(power, 1.0));
  return detail::with_sign_of(x, div(m, add(m, 2.0)));
}

constexpr double erf(double x) {
  constexpr double p[] = {-0x1.34736ed2a1329p-21, 0x1.1c694ed70b5f7p-19, -0x1.fc503648d5da8p-17, 0x1.f9dff92d6a9fcp-14,
                          -0x1.c02ed35de154fp-11, 0x1.565bd02b66932p-8,  -0x1.b82ce31c3af17p-6,  0x1.ce2f21a051ddap-4,
                          -0x1.812746b037a78p-2,  0x1.06eba8214db69p-3};
  if (is_nan(x)) return x;
  const double a = detail::magnitude(x);
  if (a < 0.5) return add(x, mul(x, detail::polynomial(p, mul(x, x))));
  if (a > 5.9375) return detail::with_sign_of(x, 1.0);
  // Taylor about c = i / 8: the derivatives of g = erf' / erf'(c) follow from g' = -2 x g
  const int i = detail::low_bits(add(mul(a, 8.0), detail::to_integer));
  const double c = mul(static_cast<double>(i), 0.125), h = sub(a, c);
  double previous = 0.0, b = 1.0, power = 1.0, sum = 1.0;
  for (double n = 1.0; n < 14.0; n += 1.0) {
    const double next = div(mul(-2.0, add(mul(c, b), previous)), n);
    previous = b, b = next, power = mul(power, h);
    sum = add(sum, div(mul(b, power), n + 1.0));
  }
  const double slope = mul(0x1.20dd750429b6dp+0, exp(-mul(c, c)));
  return detail::with_sign_of(x, add(detail::erf_eighths[i - 4], mul(slope, mul(h, sum))));
}

constexpr double sin(double x) {
  if (is_nan(x) || ieee::is_infinite(x)) return detail::nan();
  return x == 0.0 ? x : detail::sine(x, 0);
}

constexpr double cos(double x) {
  if (is_nan(x) || ieee::is_infinite(x)) return detail::nan();
  return detail::sine(x, 1);
}

namespace detail {

/// 2^(y log2 x) for finite x > 0 and y, as the f32 text does it: heads and tails, here of 26 and 53 bits.
constexpr double positive_pow(double x, double y) {
  constexpr double g[] = {0x1.709b94809bd3fp-3, 0x1.669d1d8394b98p-3, 0x1.99b187f37d94p-3,  0x1.d89d10f4eebf5p-3,
                          0x1.1745d22b957fdp-2, 0x1.55555554141acp-2, 0x1.b6db6db6dc91dp-2, 0x1.333333333333p-1};
  constexpr double q[] = {0x1.f911e46f78886p-35, 0x1.ed16f5c77ddd2p-32, 0x1.e335a7dfbb28cp-28, 0x1.b522c52291f14p-24,
                          0x1.62c091ff4eaa6p-20, 0x1.ffcbfd7bd5973p-17, 0x1.430912dcc51a6p-13, 0x1.5d87fe786ab31p-10,
                          0x1.3b2ab6fbaaddcp-7,  0x1.c6b08d704a1fbp-5,  0x1.ebfbdff82c574p-3,  0x1.62e42fefa39efp-1};
  const binary_parts parts = split_exponent(x);
  const double k = parts.k, m = parts.m, f = sub(m, 1.0), sum = add(m, 1.0), sum_head = head(sum);
  const double reciprocal = div(1.0, sum), s = mul(f, reciprocal), s_head = head(s);
  const double s_rest = sub(sub(f, mul(s_head, sum_head)), mul(s_head, sub(m, sub(sum_head, 1.0))));
  const double s_tail = mul(reciprocal, s_rest), ss = mul(s, s), square = mul(s_head, s_head);
  const double rest = add(mul(mul(ss, ss), polynomial(g, ss)), mul(s_tail, add(s_head, s)));
  const double g_head = head(add(add(3.0, square), rest)), g_tail = sub(rest, sub(sub(g_head, 3.0), square));
  const double product = mul(s_head, g_head), product_rest = add(mul(s_tail, g_head), mul(g_tail, s));
  const double p_head = head(add(product, product_rest)), p_tail = sub(product_rest, sub(p_head, product));
  const double z_head = mul(p_head, 0x1.ec709d8p-1);
  const double z_tail = add(mul(p_head, 0x1.0e80ff5d27f05p-27), mul(p_tail, 0x1.ec709dc3a03fdp-1));
  const double l_head = head(add(add(z_head, z_tail), k)), l_tail = sub(z_tail, sub(sub(l_head, k), z_head));
  const double t = y < -0x1p+64 ? -0x1p+64 : y > 0x1p+64 ? 0x1p+64 : y, t_head = head(t);
  const double e_head = mul(t_head, l_head), e_tail = add(mul(sub(t, t_head), l_head), mul(t, l_tail));
  const double estimate = add(e_head, e_tail);
  if (estimate < -1076.0) return 0.0;
  if (estimate > 1025.0) return infinity();
  const double shifted = add(estimate, to_integer), r = add(sub(e_head, sub(shifted, to_integer)), e_tail);
  return scale(add(1.0, mul(r, polynomial(q, r))), low_bits(shifted));
}

}  // namespace detail

constexpr double pow(double x, double y) {
  // by bits: under `-ffinite-math-only` a NaN may compare equal
  if (to_bits(x) == to_bits(1.0) || to_bits(y) << 1 == 0) return 1.0;
  if (is_nan(x) || is_nan(y)) return detail::nan();
  // from 2^53 every number is an even integer
  const double size = detail::magnitude(y);
  const bool large = size >= 0x1p+53;
  const int64 integer = large ? 0 : static_cast<int64>(y);
  const bool whole = large || static_cast<double>(integer) == y, odd = whole && (integer & 1);
  const bool negative = to_bits(x) >> 63;
  const double a = detail::magnitude(x);
  double result = 0.0;
  if (a == 0.0 || ieee::is_infinite(a))
    result = (a == 0.0) == (y < 0.0) ? detail::infinity() : 0.0;
  else if (negative && !whole)
    return detail::nan();
  else
    result = detail::positive_pow(a, y);
  return negative && odd ? -result : result;
}

static_assert(exp(1.0) == 0x1.5bf0a8b145769p+1 && exp(-746.0) == 0.0 && log(2.0) == 0x1.62e42fefa39efp-1);
static_assert(tanh(0.0) == 0.0 && erf(6.0) == 1.0 && sin(0.0) == 0.0 && cos(0.0) == 1.0);
static_assert(pow(-2.0, 3.0) == -8.0 && pow(2.0, -1074.0) == 0x1p-1074 && is_nan(pow(-2.0, 0.5)));

}  // namespace poot::elementary
