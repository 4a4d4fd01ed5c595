#include <poot/core/fma.hpp>

#include <doctest/doctest.h>

#include <cmath>

using namespace poot;

namespace {

// One rounding: 2^-24 survives that the rounded product loses. Ties, cancellation, subnormals, zeros, infinities.
static_assert(ieee::fma(0x1.001p+0f, 0x1.001p+0f, -0x1.002p+0f) == 0x1p-24f);
static_assert(ieee::fma(0x1p+0f, 0x1.000002p+0f, 0x1p-24f) == 0x1.000004p+0f);
static_assert(ieee::fma(3.0, 4.0, -12.0) == 0.0 && ieee::to_bits(ieee::fma(3.0f, 4.0f, -12.0f)) == 0);
static_assert(ieee::fma(0x1p-75f, 0x1p-75f, 0x1p-149f) == 0x1p-148f && ieee::fma(0x1p-75f, 0x1p-74f, 0.0f) == 0x1p-149f);
static_assert(ieee::fma(0x1p-75f, 0x1p-75f, 0.0f) == 0.0f && ieee::fma(0x1.8p-75f, 0x1p-75f, 0.0f) == 0x1p-149f);
static_assert(ieee::is_infinite(ieee::fma(0x1p127f, 2.0f, 0.0f)) && ieee::fma(0x1p127f, 2.0f, -0x1p127f) == 0x1p127f);
static_assert(ieee::is_nan(ieee::fma(ieee::infinity_like(1.0), 0.0, 1.0)));

struct random_words {
  uint64 state;
  uint64 operator()() {
    state += 0x9E3779B97F4A7C15u;
    uint64 z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
};

/// Triples of four kinds: any bits; near 1; c next to minus the product; subnormal a and c.
template <class Bits>
void check_against_the_library(float_format f, int count) {
  random_words random{7};
  const Bits exponents = static_cast<Bits>(f.infinity()), sign = static_cast<Bits>(f.sign_bit());
  const Bits one = static_cast<Bits>(uint64(f.bias()) << f.fraction_bits), least = static_cast<Bits>(f.fraction_mask() + 1);
  auto near_one = [&](Bits x) { return static_cast<Bits>((x & ~exponents) | (one - (x & least))); };
  for (int i = 0; i < count; ++i) {
    Bits a = static_cast<Bits>(random()), b = static_cast<Bits>(random()), c = static_cast<Bits>(random());
    const Bits step = static_cast<Bits>(random() % 3);
    switch (i % 4) {
      case 1: a = near_one(a), b = near_one(b), c = near_one(c); break;
      case 2: c = static_cast<Bits>((ieee::to_bits(ieee::from_bits(a) * ieee::from_bits(b)) ^ sign) + step - 1); break;
      case 3: a &= sign | (least - 1), b = near_one(b), c &= sign | (least * 2 - 1); break;
      default: break;
    }
    const auto want = std::fma(ieee::from_bits(a), ieee::from_bits(b), ieee::from_bits(c));
    const uint64 got = ieee::fma_bits(f, a, b, c);
    const bool equal = std::isnan(want) ? is_nan_bits(f, got) : got == ieee::to_bits(want);
    CHECK_MESSAGE(equal, a << " " << b << " " << c);
    if (!equal) return;
  }
}

}  // namespace

TEST_CASE("the integer fma is the library's on a million triples of f32") { check_against_the_library<uint32>(binary32, 1000000); }

TEST_CASE("the integer fma is the library's on triples of f64") { check_against_the_library<uint64>(binary64, 300000); }
