#include <doctest/doctest.h>

#include <poot/run/host/float_environment.hpp>
#include <poot/run/host/simd.hpp>

#include <cmath>
#include <math.h>
#include <cstring>
#include <string>
#include <vector>

using namespace poot;
namespace host = poot::run::host;

namespace {

constexpr int block = 16;  // a multiple of every lane count

/// Bits as one comparable value: any NaN is one value, since arithmetic does not promise a payload.
uint32 canonical(uint32 b) { return (b & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : b; }
uint32 bits_of(float x) { return canonical(ieee::to_bits(x)); }

struct random_bits {
  uint64 state = 0x9e3779b97f4a7c15u;
  uint32 next() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return static_cast<uint32>(state >> 32);
  }
};

constexpr uint32 corners[] = {0, 0x80000000u, 1, 0x80000001u, 0x007fffffu, 0x00800000u, 0x3f800000u, 0xbf800000u, 0x3f7fffffu,
                              0x7f7fffffu, 0xff7fffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0x7f800001u, 0xffffffffu,
                              0x34000000u, 0x33800000u, 0x4b800000u, 0x38800000u, 0x477fe000u, 0x477ff000u, 0x33000000u};
constexpr int corner_count = sizeof corners / sizeof *corners;

/// Every pair of corners, then random bits.
std::vector<float> operands(int which, int random_count) {
  std::vector<float> out;
  for (int i = 0; i < corner_count; ++i)
    for (int j = 0; j < corner_count; ++j) out.push_back(ieee::from_bits(corners[which == 0 ? i : j]));
  random_bits r;
  r.state += static_cast<uint64>(which) * 77;
  for (int i = 0; i < random_count; ++i) out.push_back(ieee::from_bits(r.next()));
  while (out.size() % block) out.push_back(1.0f);
  return out;
}

}  // namespace

// The kernels that run each vector operation over arrays, once for each instruction set.
#define POOT_BODY "simd_arrays.inc"
#include <poot/run/host/each_isa.inc>

namespace {

template <class Check>
void on_every_isa(Check check) {
  const host::float_environment environment;
  const host::isa before = host::current();
  for (const host::isa i : {host::isa::baseline, host::isa::avx2, host::isa::avx512}) {
    if (host::force(i) != i) {
      MESSAGE("[SKIP] this machine has no ", std::string(host::name(i)));
      continue;
    }
    CAPTURE(std::string(host::name(i)));
    check();
  }
  host::force(before);
}

template <class Scalar>
void compare_binary(int op, Scalar scalar) {
  const std::vector<float> a = operands(0, 20000), b = operands(1, 20000);
  std::vector<float> out(a.size());
  POOT_FOR_ISA(binary)(op, a.data(), b.data(), out.data(), static_cast<int>(a.size()));
  int wrong = 0;
  for (size_t i = 0; i < a.size(); ++i)
    if (bits_of(out[i]) != bits_of(scalar(a[i], b[i]))) {
      if (!wrong++) MESSAGE("op ", op, " of ", a[i], " and ", b[i], " gave ", out[i]);
    }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("vector operations have the bits of the scalar ones") {
  on_every_isa([] {
    compare_binary(0, [](float a, float b) { return ieee::add(a, b); });
    compare_binary(1, [](float a, float b) { return ieee::sub(a, b); });
    compare_binary(2, [](float a, float b) { return ieee::mul(a, b); });
    compare_binary(3, [](float a, float b) { return ieee::div(a, b); });
    compare_binary(4, [](float a, float) { return ieee::sqrt(a); });
    compare_binary(5, [](float a, float b) { return ieee::less(a, b) ? 1.0f : 2.0f; });
    compare_binary(6, [](float a, float b) { return ieee::equal(a, b) ? 1.0f : 2.0f; });
    compare_binary(7, [](float a, float) { return ieee::is_nan(a) ? 1.0f : 2.0f; });
    compare_binary(8, [](float a, float b) { return ieee::to_bits(a) < ieee::to_bits(b) ? 1.0f : 2.0f; });
    compare_binary(9, [](float a, float b) {
      return static_cast<int32>(ieee::to_bits(a)) < static_cast<int32>(ieee::to_bits(b)) ? 1.0f : 2.0f;
    });
    compare_binary(10, [](float a, float b) { return ieee::to_bits(a) == ieee::to_bits(b) ? 1.0f : 2.0f; });
    compare_binary(11, [](float a, float b) { return ieee::less(a, b) && !ieee::is_nan(b) ? a : b; });
    compare_binary(12, [](float a, float) { return static_cast<float>(static_cast<int32>(ieee::to_bits(a))); });
  });
}

TEST_CASE("max and min propagate NaN and order the zeros") {
  const auto maximum = [](float a, float b) {
    if (ieee::is_nan(a) || ieee::is_nan(b)) return ieee::from_bits(0x7fc00000u);
    if (ieee::equal(a, b)) return ieee::to_bits(a) >> 31 ? b : a;
    return ieee::less(a, b) ? b : a;
  };
  const auto minimum = [](float a, float b) {
    if (ieee::is_nan(a) || ieee::is_nan(b)) return ieee::from_bits(0x7fc00000u);
    if (ieee::equal(a, b)) return ieee::to_bits(a) >> 31 ? a : b;
    return ieee::less(a, b) ? a : b;
  };
  on_every_isa([&] {
    compare_binary(13, maximum);
    compare_binary(14, minimum);
  });
}

TEST_CASE("a product that feeds a sum is rounded first") {
  // (1 + 2^-12)^2 - 1 is 2^-11 after rounding the product, 2^-11 + 2^-24 without
  const std::vector<float> a(block, 1 + 0x1p-12f), c(block, -1.0f);
  std::vector<float> out(block);
  on_every_isa([&] {
    compare_binary(15, [](float x, float y) { return ieee::add(ieee::mul(x, y), x); });
    POOT_FOR_ISA(multiply_then_add)(a.data(), a.data(), c.data(), out.data(), block);
    CHECK(out[3] == 0x1p-11f);
  });
}

TEST_CASE("to_int truncates") {
  std::vector<float> a, out;
  random_bits r;
  for (int i = 0; i < 4096; ++i) a.push_back(static_cast<float>(static_cast<int32>(r.next()) >> (i % 31)) / 3.0f);
  out.resize(a.size());
  on_every_isa([&] {
    POOT_FOR_ISA(truncate)(a.data(), out.data(), static_cast<int>(a.size()));
    for (size_t i = 0; i < a.size(); ++i) REQUIRE(static_cast<int32>(ieee::to_bits(out[i])) == static_cast<int32>(a[i]));
  });
}

TEST_CASE("fma rounds once") {
  std::vector<float> a, b, c;
  random_bits r;
  for (const uint32 x : corners)
    for (const uint32 y : corners)
      for (const uint32 z : corners)
        a.push_back(ieee::from_bits(x)), b.push_back(ieee::from_bits(y)), c.push_back(ieee::from_bits(z));
  for (int i = 0; i < 300000; ++i)
    a.push_back(ieee::from_bits(r.next())), b.push_back(ieee::from_bits(r.next())), c.push_back(ieee::from_bits(r.next()));
  for (int i = 0; i < 700000; ++i) {
    // near cancellation, near ties and in the subnormal range: c is about -a·b, at most 50 binades away
    const uint32 exponent = i % 3 == 0 ? 127 : 40 + r.next() % 60;
    const float x = ieee::from_bits((r.next() & 0x807fffffu) | exponent << 23);
    const float y = ieee::from_bits((r.next() & 0x807f0000u) | (127 - (i % 5 == 0 ? 80 : 0)) << 23);
    float z = -static_cast<float>(static_cast<double>(x) * y);
    if (i % 4 == 1) z = ieee::from_bits(ieee::to_bits(z) + r.next() % 5 - 2);
    if (i % 4 == 2) z = std::ldexp(z, static_cast<int>(r.next() % 100) - 50);
    if (i % 4 == 3) z = ieee::from_bits((ieee::to_bits(std::ldexp(z, 24 + i % 3))) & 0xff800000u);
    a.push_back(x), b.push_back(y), c.push_back(z);
  }
  for (int i = 0; i < 20000; ++i) {
    // 1.5 times an odd significand is often a tie, which a far smaller summand decides
    const uint32 x = (r.next() & 0x807fffffu) | 1u | (100u + r.next() % 50u) << 23;
    const float tiny = std::ldexp(ieee::from_bits((x & 0x7f800000u) | (r.next() & 0x007fffffu)), -40 - static_cast<int>(r.next() % 40));
    a.push_back(ieee::from_bits(x)), b.push_back(1.5f), c.push_back(i % 2 ? tiny : -tiny);
  }
  while (a.size() % block) a.push_back(1), b.push_back(1), c.push_back(1);
  const host::float_environment environment;
  std::vector<float> out(a.size()), expected(a.size());
  float (*volatile library_fma)(float, float, float) = ::fmaf;  // clang expands a visible call under -ffast-math
  for (size_t i = 0; i < a.size(); ++i) expected[i] = library_fma(a[i], b[i], c[i]);
  on_every_isa([&] {
    POOT_FOR_ISA(fused)(a.data(), b.data(), c.data(), out.data(), static_cast<int>(a.size()));
    int wrong = 0;
    for (size_t i = 0; i < a.size(); ++i)
      if (bits_of(out[i]) != bits_of(expected[i]) && !wrong++)
        MESSAGE(a[i], " * ", b[i], " + ", c[i], " gave ", out[i], " not ", expected[i]);
    CHECK(wrong == 0);
  });
}

TEST_CASE("widening keeps every bit pattern of f16 and bf16") {
  std::vector<uint16> narrow(65536);
  for (size_t i = 0; i < narrow.size(); ++i) narrow[i] = static_cast<uint16>(i);
  std::vector<float> wide(narrow.size());
  std::vector<uint16> back(narrow.size());
  on_every_isa([&] {
    for (const dtype t : {f16, bf16}) {
      POOT_FOR_ISA(widen)(t == f16, narrow.data(), wide.data(), 65536);
      POOT_FOR_ISA(narrow)(t == f16, wide.data(), back.data(), 65536);
      int wrong = 0;
      for (uint32 i = 0; i < 65536; ++i) {
        wrong += ieee::to_bits(wide[i]) != static_cast<uint32>(convert_bits(format_of(t), binary32, i));
        wrong += back[i] != i;
      }
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("narrowing rounds as core does, NaN payloads too") {
  std::vector<float> wide = operands(0, 200000);
  for (uint32 i = 0; i < 65536; ++i)  // around every f16 and bf16 value and tie
    for (const uint32 low : {0u, 0xfffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u}) wide.push_back(ieee::from_bits(i << 16 | low));
  while (wide.size() % block) wide.push_back(0);
  std::vector<uint16> out(wide.size());
  on_every_isa([&] {
    for (const dtype t : {f16, bf16}) {
      POOT_FOR_ISA(narrow)(t == f16, wide.data(), out.data(), static_cast<int>(wide.size()));
      int wrong = 0;
      for (size_t i = 0; i < wide.size(); ++i)
        if (out[i] != convert_bits(binary32, format_of(t), ieee::to_bits(wide[i])) && !wrong++)
          MESSAGE("narrowing bits ", ieee::to_bits(wide[i]), " to ", std::string(name(t)), " gave ", out[i]);
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("bytes widen with and without sign") {
  uint8 bytes[256];
  for (int i = 0; i < 256; ++i) bytes[i] = static_cast<uint8>(i);
  float s[256], u[256];
  on_every_isa([&] {
    POOT_FOR_ISA(bytes)(bytes, s, u, 256);
    for (int i = 0; i < 256; ++i) {
      REQUIRE(s[i] == static_cast<float>(static_cast<int8>(bytes[i])));
      REQUIRE(u[i] == static_cast<float>(i));
    }
  });
}

TEST_CASE("partial loads and stores touch only their lanes") {
  on_every_isa([] {
    for (int n = 0; n <= 4; ++n) {
      float from[16], to[16];
      for (int i = 0; i < 16; ++i) from[i] = static_cast<float>(i + 1), to[i] = -1;
      POOT_FOR_ISA(partial)(from, to, n);
      for (int i = 0; i < 16; ++i) REQUIRE(to[i] == (i < n ? from[i] : -1.0f));
    }
  });
}

TEST_CASE("fold adds by halves") {
  // in lanes 1, 2^-24, 2^-24, … the order of the additions shows in the result
  on_every_isa([] {
    float x[16];
    for (int i = 0; i < 16; ++i) x[i] = i == 0 ? 1.0f : 0x1p-24f * static_cast<float>(1 + i % 3);
    const int n = POOT_FOR_ISA(width)();
    float part[16];
    std::memcpy(part, x, sizeof x);
    for (int half = n / 2; half; half /= 2)
      for (int j = 0; j < half; ++j) part[j] = ieee::add(part[j], part[j + half]);
    CHECK(POOT_FOR_ISA(folded)(x) == part[0]);
  });
}
