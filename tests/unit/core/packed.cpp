#include <poot/core/packed.hpp>

#include <support/draws.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>

using namespace poot;
using poot_tests::draws;

namespace {

constexpr dtype formats[] = {q4_0, q4_1, q5_0, q8_0, q4_k, q6_k, iq4_nl, mxfp4};

/// f16 as IEEE 754 defines it, in f64; infinities and NaNs are not asked for here.
double half_value(const uint8* b) {
  const int bits = b[0] + 256 * b[1], exponent = bits / 1024 % 32, fraction = bits % 1024;
  const double size = exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
  return bits & 0x8000 ? -size : size;
}

/// A whole block in f64, in the order in which the layouts are written down, not element by element.
void reference(dtype format, const uint8* b, double* out) {
  const auto halves = [&](const uint8* nibbles, auto value) {
    for (int j = 0; j < 16; ++j) {
      out[j] = value(nibbles[j] % 16, j);
      out[j + 16] = value(nibbles[j] / 16, j + 16);
    }
  };
  const double d = format == mxfp4 || format == q6_k ? 0.0 : half_value(b);
  switch (format) {
    case q4_0: halves(b + 2, [&](int q, int) { return d * (q - 8); }); break;
    case q4_1: halves(b + 4, [&](int q, int) { return d * q + half_value(b + 2); }); break;
    case q5_0: {
      const uint32 fifth = b[2] + 256u * b[3] + 65536u * b[4] + 16777216u * b[5];
      halves(b + 6, [&](int q, int element) { return d * (q + (fifth >> element & 1 ? 16 : 0) - 16); });
      break;
    }
    case q8_0:
      for (int j = 0; j < 32; ++j) out[j] = d * (b[2 + j] < 128 ? b[2 + j] : b[2 + j] - 256);
      break;
    case iq4_nl: {
      const int values[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
      halves(b + 2, [&](int q, int) { return d * values[q]; });
      break;
    }
    case mxfp4: {
      const double values[] = {0, .5, 1, 1.5, 2, 3, 4, 6, -0.0, -.5, -1, -1.5, -2, -3, -4, -6};
      halves(b + 1, [&](int q, int) { return std::ldexp(values[q], b[0] - 127); });
      break;
    }
    case q4_k: {
      const double dmin = half_value(b + 2);
      const uint8* s = b + 4;
      for (int run = 0; run < 4; ++run)
        for (int odd = 0; odd < 2; ++odd) {
          const int i = 2 * run + odd;
          int sc, mn;
          if (i < 4)
            sc = s[i] % 64, mn = s[i + 4] % 64;
          else
            sc = s[i + 4] % 16 + s[i - 4] / 64 * 16, mn = s[i + 4] / 16 + s[i] / 64 * 16;
          for (int j = 0; j < 32; ++j) {
            const int byte = b[16 + 32 * run + j], q = odd ? byte / 16 : byte % 16;
            out[32 * i + j] = d * sc * q - dmin * mn;
          }
        }
      break;
    }
    case q6_k: {
      const double scale = half_value(b + 208);
      for (int half = 0; half < 2; ++half) {
        const uint8 *ql = b + 64 * half, *qh = b + 128 + 32 * half, *sc = b + 192 + 8 * half;
        const auto signed_scale = [&](int k) { return sc[k] < 128 ? sc[k] : sc[k] - 256; };
        for (int l = 0; l < 32; ++l) {
          const int q[4] = {ql[l] % 16 + qh[l] % 4 * 16, ql[l + 32] % 16 + qh[l] / 4 % 4 * 16,
                            ql[l] / 16 + qh[l] / 16 % 4 * 16, ql[l + 32] / 16 + qh[l] / 64 * 16};
          for (int k = 0; k < 4; ++k) out[128 * half + 32 * k + l] = scale * signed_scale(l / 16 + 2 * k) * (q[k] - 32);
        }
      }
      break;
    }
    default: break;
  }
}

/// Random bytes with finite scales.
void fill(draws& random, dtype format, uint8* block) {
  for (int i = 0; i < row(format).block_bytes; ++i) block[i] = static_cast<uint8>(random.next());
  for (const int at : {layout(format).scale, layout(format).minimum})
    if (at >= 0 && format != mxfp4 && (block[at + 1] & 0x7c) == 0x7c) block[at + 1] ^= 0x40;
}

constexpr uint8 ones_q4_0[18] = {0x00, 0x3c, 0x08, 0xf7};  // d = 1
static_assert(decode(q4_0, ones_q4_0, 0) == 0.0f && decode(q4_0, ones_q4_0, 1) == -1.0f);
static_assert(decode(q4_0, ones_q4_0, 16) == -8.0f && decode(q4_0, ones_q4_0, 17) == 7.0f);
constexpr uint8 ends_mxfp4[17] = {0, 0x71};
static_assert(decode(mxfp4, ends_mxfp4, 0) == 0x1p-128f && decode(mxfp4, ends_mxfp4, 16) == 0x1.8p-125f);

}  // namespace

TEST_CASE("every format decodes to the value its layout states, rounded once") {
  draws random(1);
  uint8 block[256];
  double expected[256];
  for (const dtype format : formats) {
    CAPTURE(doctest::String(name(format).data()));
    for (int round = 0; round < 400; ++round) {
      fill(random, format, block);
      reference(format, block, expected);
      float all[256];
      decode_block(format, block, all);
      for (int i = 0; i < row(format).block_elements; ++i) {
        CAPTURE(i);
        const float rounded = static_cast<float>(expected[i]);
        REQUIRE(decode(format, block, i) == rounded);
        REQUIRE(all[i] == rounded);
      }
    }
  }
}

TEST_CASE("a block depends on each of its bytes, and decode on no byte beyond") {
  draws random(2);
  for (const dtype format : formats) {
    CAPTURE(doctest::String(name(format).data()));
    const int bytes = row(format).block_bytes;
    for (int byte = 0; byte < bytes; ++byte) {
      bool matters = false;
      for (int attempt = 0; attempt < 8 && !matters; ++attempt) {
        uint8 block[256];
        float before[256], after[256];
        fill(random, format, block);
        decode_block(format, block, before);
        block[byte] ^= 0x11;
        decode_block(format, block, after);
        matters = std::memcmp(before, after, sizeof(float) * row(format).block_elements) != 0;
      }
      CHECK_MESSAGE(matters, "byte " << byte);
    }
  }
}

TEST_CASE("q8_0 and q4_0 blocks approximate to half a step") {
  draws random(3);
  for (const dtype format : {q8_0, q4_0}) {
    for (int round = 0; round < 2000; ++round) {
      float values[32];
      uint8 block[34];
      const double size = std::ldexp(1.0, static_cast<int>(random.less_than(16)) - 8);
      double largest = 0.0;
      for (float& v : values) {
        v = static_cast<float>(random.between(-size, size));
        largest = std::fmax(largest, std::fabs(v));
      }
      encode(format, values, block);
      const double step = std::fabs(static_cast<double>(read_f16(block)));
      const double ideal = largest / (format == q8_0 ? 127 : 8);
      REQUIRE(std::fabs(step - ideal) <= ideal * 0x1p-11 + 0x1p-25);
      for (int i = 0; i < 32; ++i) {
        // the end of the range may be cut: d rounds down, and 4 bits hold -8 but not +8
        const double slack = format == q8_0 ? 127 * ideal * 0x1p-10 : step / 2 + 8 * ideal * 0x1p-10;
        REQUIRE(std::fabs(static_cast<double>(decode(format, block, i)) - values[i]) <= step / 2 + slack);
      }
    }
  }
}

TEST_CASE("encoding what was decoded gives the same values") {
  draws random(4);
  for (const dtype format : {q8_0, q4_0}) {
    for (int round = 0; round < 500; ++round) {
      float values[32], again[32];
      uint8 block[34], second[34];
      fill(random, format, block);
      block[1] = static_cast<uint8>((block[1] & 0x83) | 0x30);  // a normal d
      block[2] = format == q8_0 ? 127 : 0x00;                   // the largest magnitude is in use
      for (int i = 2; i < row(format).block_bytes; ++i)
        if (format == q8_0 && block[i] == 0x80) block[i] = 0x81;
      decode_block(format, block, values);
      encode(format, values, second);
      decode_block(format, second, again);
      for (int i = 0; i < 32; ++i) REQUIRE(again[i] == values[i]);
    }
  }
  const float zeros[32] = {};
  uint8 block[34];
  encode(q8_0, zeros, block);
  for (int i = 0; i < 32; ++i) CHECK(decode(q8_0, block, i) == 0.0f);
}

TEST_CASE("encoding refuses formats that are only read") {
  const float values[256] = {};
  uint8 block[256];
  std::string message;
  try {
    encode(q4_k, values, block);
  } catch (const error& e) {
    message = e.what();
  }
  CHECK(message == "encode: q4_k is read only; q8_0 and q4_0 can be written");
}
