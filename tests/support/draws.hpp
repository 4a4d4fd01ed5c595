#pragma once
/// Repeatable random numbers for tests, and distances in units in the last place.

#include <poot/core/integers.hpp>

#include <bit>
#include <cmath>

namespace poot_tests {

/// A sequence fixed by its seed (SplitMix64).
struct draws {
  poot::uint64 state;
  explicit draws(poot::uint64 seed) : state(seed) {}

  poot::uint64 next() {
    poot::uint64 z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  poot::uint64 less_than(poot::uint64 n) { return next() % n; }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double between(double least, double most) { return least + (most - least) * unit(); }
  /// Any bits: subnormals, infinities and NaNs included.
  float any_float() { return std::bit_cast<float>(static_cast<poot::uint32>(next() >> 32)); }
  double any_double() { return std::bit_cast<double>(next()); }
};

/// |got - exact| in units in the last place of `exact` in the format of `Float`, the subnormal unit at least. A NaN
/// equals only a NaN; infinity counts as the first number beyond the range, and zeros must agree in sign.
template <class Float, class Exact>
double ulp_error(Float got, Exact exact) {
  constexpr bool wide = sizeof(Float) == 8;
  constexpr int digits = wide ? 53 : 24, least = wide ? -1074 : -149, most = wide ? 1024 : 128;
  constexpr double wrong = 1e30;
  if (std::isnan(exact)) return std::isnan(got) ? 0.0 : wrong;
  if (std::isnan(got)) return wrong;
  if (exact == 0) return got == 0 && std::signbit(got) == std::signbit(exact) ? 0.0 : wrong;
  if (std::isinf(exact)) return std::isinf(got) && std::signbit(got) == std::signbit(exact) ? 0.0 : wrong;
  int exponent = 0;
  std::frexp(exact, &exponent);
  int unit = exponent - digits;
  if (unit < least) unit = least;
  if (exponent > most ||
      (exponent == most && std::ldexp(std::fabs(exact), -unit) >= std::ldexp(Exact(1), digits) - Exact(0.5)))
    return std::isinf(got) && std::signbit(got) == std::signbit(exact) ? 0.0 : wrong;
  const Exact value = std::isinf(got) ? std::copysign(std::ldexp(Exact(1), most), Exact(got)) : Exact(got);
  return static_cast<double>(std::ldexp(std::fabs(value - exact), -unit));
}

}  // namespace poot_tests
