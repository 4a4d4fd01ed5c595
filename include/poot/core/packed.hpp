#pragma once
/// Packed weight formats: what one element of a block is worth, exactly as f32.
///
/// Every format is scale * code + offset, in single f32 operations in that order. Scale times code is exact in all of
/// them (but for overflow, which only mxfp4 and infinite scales reach), so only q4_1 and q4_k round, once, in the sum.
/// Block sizes are in `dtype_table`. Layouts: GGUF, and OCP Microscaling for mxfp4.

#include <poot/core/error.hpp>
#include <poot/core/ieee.hpp>
#include <poot/core/rounding.hpp>

namespace poot {

/// Where the parts of a block lie, in bytes from its first; -1 where a format lacks the part.
struct packed_layout {
  int scale;       ///< f16 d, or the u8 exponent of mxfp4
  int minimum;     ///< f16 m or dmin
  int sub_scales;  ///< 6-bit scales and minima of q4_k, 8-bit scales of q6_k
  int high_bits;   ///< bits above the low four of each code
  int codes;       ///< low four bits of each code, or all eight of q8_0; of 32, byte j holds elements j and j + 16
  int zero;        ///< the stored code that stands for 0
};

constexpr packed_layout layout(dtype format) {
  switch (format) {
    case dtype::q4_0: return {0, -1, -1, -1, 2, 8};
    case dtype::q4_1: return {0, 2, -1, -1, 4, 0};
    case dtype::q5_0: return {0, -1, -1, 2, 6, 16};
    case dtype::q8_0: return {0, -1, -1, -1, 2, 0};
    case dtype::q4_k: return {0, 2, 4, -1, 16, 0};
    case dtype::q6_k: return {208, -1, 192, 128, 0, 32};
    case dtype::iq4_nl: return {0, -1, -1, -1, 2, 0};
    case dtype::mxfp4: return {0, -1, -1, -1, 1, 0};
    default: return {-1, -1, -1, -1, 0, 0};
  }
}

/// The value of each nibble of iq4_nl.
inline constexpr int8 iq4_nl_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
/// Twice the value of each nibble of mxfp4 (E2M1), its sign bit left out.
inline constexpr int8 e2m1_doubled[8] = {0, 1, 2, 3, 4, 6, 8, 12};

constexpr float read_f16(const uint8* bytes) { return f16_to_f32(static_cast<uint16>(bytes[0] | bytes[1] << 8)); }

/// The stored bits of element `index`, as an unsigned number (q8_0: as its byte).
constexpr int stored_code(dtype format, const uint8* block, int index) {
  const packed_layout at = layout(format);
  if (format == dtype::q8_0) return block[at.codes + index];
  if (format == dtype::q4_k) {
    const int byte = block[at.codes + index / 64 * 32 + index % 32];
    return index / 32 % 2 ? byte >> 4 : byte & 15;
  }
  if (format == dtype::q6_k) {
    const int half = index / 128, quarter = index % 128 / 32, lane = index % 32;
    const int low = block[at.codes + half * 64 + quarter % 2 * 32 + lane];
    const int high = block[at.high_bits + half * 32 + lane] >> (2 * quarter) & 3;
    return (quarter / 2 ? low >> 4 : low & 15) | high << 4;
  }
  const int byte = block[at.codes + index % 16], low = index / 16 ? byte >> 4 : byte & 15;
  if (format == dtype::q5_0) return low | (block[at.high_bits + index / 8] >> index % 8 & 1) << 4;
  return low;
}

/// The number that the scale multiplies.
constexpr float packed_code(dtype format, const uint8* block, int index) {
  const int stored = stored_code(format, block, index);
  switch (format) {
    case dtype::q8_0: return static_cast<float>(static_cast<int8>(stored));
    case dtype::iq4_nl: return static_cast<float>(iq4_nl_values[stored]);
    case dtype::mxfp4: {
      const float magnitude = static_cast<float>(e2m1_doubled[stored & 7]);
      return stored & 8 ? -magnitude : magnitude;
    }
    default: return static_cast<float>(stored - layout(format).zero);
  }
}

/// The 6-bit scale and minimum of a q4_k sub-block of 32, from its 12 bytes.
struct q4_k_pair {
  int scale, minimum;
};
constexpr q4_k_pair q4_k_scales(const uint8* bytes, int sub_block) {
  if (sub_block < 4) return {bytes[sub_block] & 63, bytes[sub_block + 4] & 63};
  const int both = bytes[sub_block + 4];
  return {(both & 15) | (bytes[sub_block - 4] >> 6) << 4, both >> 4 | (bytes[sub_block] >> 6) << 4};
}

/// The factor of element `index`'s code. For mxfp4 it is 2^(e - 128), half the scale, against doubled codes; e = 255
/// follows the same formula and is not a NaN.
constexpr float packed_scale(dtype format, const uint8* block, int index) {
  const packed_layout at = layout(format);
  if (format == dtype::mxfp4) {
    const uint32 e = block[at.scale];
    return ieee::from_bits(e < 2 ? uint32{0x00200000} << e : (e - 1) << 23);
  }
  const float d = read_f16(block + at.scale);
  if (format == dtype::q4_k)
    return ieee::mul(d, static_cast<float>(q4_k_scales(block + at.sub_scales, index / 32).scale));
  if (format == dtype::q6_k)
    return ieee::mul(d, static_cast<float>(static_cast<int8>(block[at.sub_scales + index / 16])));
  return d;
}

constexpr bool has_offset(dtype format) { return layout(format).minimum >= 0; }

/// What is added to scale * code, where `has_offset`.
constexpr float packed_offset(dtype format, const uint8* block, int index) {
  const packed_layout at = layout(format);
  const float m = read_f16(block + at.minimum);
  if (format == dtype::q4_1) return m;
  return -ieee::mul(m, static_cast<float>(q4_k_scales(block + at.sub_scales, index / 32).minimum));
}

/// Element `index` of a block of a packed format.
constexpr float decode(dtype format, const uint8* block, int index) {
  const float product = ieee::mul(packed_scale(format, block, index), packed_code(format, block, index));
  return has_offset(format) ? ieee::add(product, packed_offset(format, block, index)) : product;
}

/// All elements of a block.
constexpr void decode_block(dtype format, const uint8* block, float* values) {
  for (int i = 0; i < row(format).block_elements; ++i) values[i] = decode(format, block, i);
}

/// Kept out of line: g++ 12 warns of an overrun that is not there where it unrolls the formatting into `encode`.
[[noreturn, gnu::noinline]] inline void refuse_to_encode(dtype format) {
  fail(text{} << "encode: " << name(format) << " is read only; q8_0 and q4_0 can be written");
}

/// Writes one block of q8_0 or q4_0 that approximates 32 finite values, each code to nearest after d is rounded to f16.
/// d is the largest magnitude / 127, or the value of largest magnitude / -8, held within the range of f16.
constexpr void encode(dtype format, const float* values, uint8* block) {
  if (format != dtype::q8_0 && format != dtype::q4_0) refuse_to_encode(format);
  const bool wide = format == dtype::q8_0;
  const int count = row(format).block_elements;
  float largest = 0.0f;
  for (int i = 0; i < count; ++i) {
    const float magnitude = values[i] < 0.0f ? -values[i] : values[i];
    if (magnitude > (largest < 0.0f ? -largest : largest)) largest = wide ? magnitude : values[i];
  }
  float ideal = ieee::div(largest, wide ? 127.0f : -8.0f);
  ideal = ideal > 65504.0f ? 65504.0f : ideal < -65504.0f ? -65504.0f : ideal;
  const uint16 d_bits = f32_to_f16(ideal);
  const float d = f16_to_f32(d_bits);
  block[0] = static_cast<uint8>(d_bits & 0xff);
  block[1] = static_cast<uint8>(d_bits >> 8);
  const float lowest = wide ? -127.0f : -8.0f, highest = wide ? 127.0f : 7.0f;
  for (int i = 0; i < count; ++i) {
    float code = d == 0.0f ? 0.0f : ieee::div(values[i], d);
    code = code < lowest ? lowest : code > highest ? highest : code;
    code = ieee::sub(ieee::add(code, 0x1.8p+23f), 0x1.8p+23f);  // to an integer, ties to even
    const int stored = static_cast<int>(code) + (wide ? 0 : 8);
    uint8& byte = block[2 + (wide ? i : i % 16)];
    if (wide)
      byte = static_cast<uint8>(stored & 0xff);
    else
      byte = static_cast<uint8>(i < 16 ? stored : byte | stored << 4);
  }
}

}  // namespace poot
