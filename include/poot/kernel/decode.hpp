#pragma once
/// Packed weights in kernels: what core/packed.hpp says of a format, as code that reads its blocks. Adding a format there,
/// with its layout, code and scale, is adding it here: the functions below mirror its own one by one.

#include <poot/core/packed.hpp>
#include <poot/kernel/element.hpp>

namespace poot::kernel {

/// Elements that share a scale and an offset.
constexpr uint32 elements_per_scale(dtype format) { return format == dtype::q6_k ? 16 : 32; }

/// Reads one packed buffer.
class packed_reader {
 public:
  constexpr packed_reader(builder& k, buffer_id from, dtype format) : k_(k), from_(from), format_(format), at_(layout(format)) {}

  /// The factor of the code of element `index` of the block that begins at byte `block`.
  constexpr number scale(word block, word index) {
    if (format_ == dtype::mxfp4) {
      const word e = byte(block + word(at_.scale));
      return from_bits(select(below(e, 2u), word(0x00200000u) << (e & 1u), (e - 1u) << 23u));
    }
    const number d = half(block + word(at_.scale));
    if (format_ == dtype::q4_k) return mul(d, to_float(q4_k_scale(block + word(at_.sub_scales), index >> 5u)));
    if (format_ == dtype::q6_k) return mul(d, to_float(wrap(dtype::i8, byte(block + word(at_.sub_scales) + (index >> 4u)))));
    return d;
  }

  /// What is added to scale * code, where `has_offset(format)`.
  constexpr number offset(word block, word index) {
    const number m = half(block + word(at_.minimum));
    if (format_ == dtype::q4_1) return m;
    const number product = mul(m, to_float(q4_k_minimum(block + word(at_.sub_scales), index >> 5u)));
    return from_bits(to_bits(product) ^ 0x80000000u);
  }

  constexpr number code(word block, word index) { return number_of(stored_code(block, index)); }

  /// The codes of elements `index` … `index` + 15; `index` is a multiple of 16, whose parts are read from four words.
  constexpr vec<number> codes(word block, word index) {
    const word codes = block + word(at_.codes);
    vec<number> out;
    if (format_ == dtype::q8_0) {
      for (word b : bytes(codes + index)) out.push_back(number_of(b));
      return out;
    }
    word from = codes, shift = (index >> 4u) << 2u;
    vec<word> high;
    if (format_ == dtype::q4_k) {
      from = codes + (index >> 6u) * 32u + (index & 31u);
      shift = (index & 32u) >> 3u;
    } else if (format_ == dtype::q6_k) {
      const word upper = index >> 7u, quarter = (index >> 5u) & 3u, lane = index & 31u;
      from = codes + upper * 64u + (quarter & 1u) * 32u + lane;
      shift = (quarter >> 1u) << 2u;
      for (word b : bytes(block + word(at_.high_bits) + upper * 32u + lane)) high.push_back(((b >> (quarter << 1u)) & 3u) << 4u);
    } else if (format_ == dtype::q5_0) {
      const word bits = byte(block + word(at_.high_bits) + (index >> 3u)) | byte(block + word(at_.high_bits) + (index >> 3u) + 1u) << 8u;
      for (uint32 j = 0; j < 16; ++j) high.push_back(((bits >> word(j)) & 1u) << 4u);
    }
    const vec<word> low = bytes(from);
    for (uint32 j = 0; j < 16; ++j) {
      const word nibble = (low[j] >> shift) & 15u;
      out.push_back(number_of(high.empty() ? nibble : nibble | high[j]));
    }
    return out;
  }

 private:
  constexpr number number_of(word stored) {
    switch (format_) {
      case dtype::q8_0: return to_float(wrap(dtype::i8, stored));
      case dtype::iq4_nl: return to_float(wrap(dtype::i8, table_entry(stored)));
      case dtype::mxfp4: {
        const word magnitude = (word(doubled_magnitudes()) >> ((stored & 7u) << 2u)) & 15u;
        return from_bits(to_bits(to_float(magnitude)) | (stored & 8u) << 28u);
      }
      default: return to_float(stored - word(at_.zero));
    }
  }

  /// All parts of such a block that are read 16 bytes at a time lie on quads.
  constexpr bool is_aligned_to_quads() const { return poot::row(format_).block_bytes % 16 == 0 && at_.codes % 16 == 0; }

  /// The 16 bytes from byte `at` on: four words, together or one by one, or parts of five.
  constexpr vec<word> bytes(word at) {
    vec<word> words;
    if (is_aligned_to_quads()) {
      const quad four = k_.load_quad(from_, at >> 4u);
      for (uint32 w = 0; w < 4; ++w) words.push_back(k_.part(four, w));
    } else {
      const word first = at >> 2u, shift = (at & 3u) << 3u;
      const bool on_words = poot::row(format_).block_bytes % 4 == 0;  // as all parts of such a block lie
      for (uint32 w = 0; w < 4; ++w) words.push_back(k_.load(from_, first + word(w)));
      if (!on_words) {
        words.push_back(k_.load(from_, (at + 15u) >> 2u));  // of the last byte: never past the buffer
        for (uint32 w = 0; w < 4; ++w) words[w] = words[w] >> shift | (words[w + 1] << 1u) << (word(31u) - shift);
      }
    }
    vec<word> out;
    for (uint32 j = 0; j < 16; ++j) out.push_back((words[j / 4] >> word(j % 4 * 8)) & 0xffu);
    return out;
  }
  constexpr word byte(word at) { return load_byte(k_, from_, at); }
  /// The f16 at an even byte.
  constexpr number half(word at) {
    return value_of({dtype::f16, (k_.load(from_, at >> 2u) >> ((at & 2u) << 3u)) & 0xffffu});
  }

  constexpr word stored_code(word block, word index) {
    const word codes = block + word(at_.codes);
    if (format_ == dtype::q8_0) return byte(codes + index);
    if (format_ == dtype::q4_k) {
      const word b = byte(codes + (index >> 6u) * 32u + (index & 31u));
      return (b >> ((index & 32u) >> 3u)) & 15u;
    }
    if (format_ == dtype::q6_k) {
      const word upper = index >> 7u, quarter = (index >> 5u) & 3u, lane = index & 31u;
      const word low = byte(codes + upper * 64u + (quarter & 1u) * 32u + lane);
      const word high = (byte(block + word(at_.high_bits) + upper * 32u + lane) >> (quarter << 1u)) & 3u;
      return ((low >> ((quarter >> 1u) << 2u)) & 15u) | high << 4u;
    }
    const word low = (byte(codes + (index & 15u)) >> ((index >> 4u) << 2u)) & 15u;
    if (format_ != dtype::q5_0) return low;
    return low | ((byte(block + word(at_.high_bits) + (index >> 3u)) >> (index & 7u)) & 1u) << 4u;
  }

  /// The 6-bit scale of a sub-block, and its minimum: see q4_k_scales.
  constexpr word q4_k_scale(word bytes, word sub) {
    const flag first = below(sub, 4u);
    const word near = byte(bytes + sub), far = byte(bytes + select(first, sub, sub + 4u));
    const word top = byte(bytes + select(first, sub, sub - 4u)) >> 6u;
    return select(first, near & 63u, (far & 15u) | top << 4u);
  }
  constexpr word q4_k_minimum(word bytes, word sub) {
    const word far = byte(bytes + sub + 4u), top = byte(bytes + sub) >> 6u;
    return select(below(sub, 4u), far & 63u, far >> 4u | top << 4u);
  }

  /// Entry `nibble` of iq4_nl_values, as a byte.
  static constexpr word table_entry(word nibble) {
    uint32 words[4]{};
    for (uint32 i = 0; i < 16; ++i) words[i / 4] |= uint32{static_cast<uint8>(iq4_nl_values[i])} << (i % 4 * 8);
    const word quarter = select(below(nibble, 8u), select(below(nibble, 4u), word(words[0]), word(words[1])),
                                select(below(nibble, 12u), word(words[2]), word(words[3])));
    return (quarter >> ((nibble & 3u) << 3u)) & 0xffu;
  }
  static constexpr uint32 doubled_magnitudes() {
    uint32 packed = 0;
    for (uint32 i = 0; i < 8; ++i) packed |= static_cast<uint32>(e2m1_doubled[i]) << (4 * i);
    return packed;
  }

  builder& k_;
  buffer_id from_;
  dtype format_;
  packed_layout at_;
};

/// Elements `index` … `index` + 15 of a packed buffer, counted over all blocks; `index` is a multiple of 16.
constexpr vec<number> decode_elements(packed_reader& r, dtype format, word index) {
  const word elements = row(format).block_elements, block = index / elements * word(row(format).block_bytes), i = index % elements;
  const number scale = r.scale(block, i), offset = has_offset(format) ? r.offset(block, i) : number(0.0f);
  vec<number> out = r.codes(block, i);
  for (number& code : out) code = has_offset(format) ? add(mul(scale, code), offset) : mul(scale, code);
  return out;
}

/// Element `index` of a packed buffer, counted over all blocks.
constexpr number decode_element(builder& k, buffer_id from, dtype format, word index) {
  packed_reader r(k, from, format);
  const word elements = row(format).block_elements, block = index / elements * word(row(format).block_bytes), i = index % elements;
  const number scale = r.scale(block, i), product = mul(scale, r.code(block, i));
  return has_offset(format) ? add(product, r.offset(block, i)) : product;
}

}  // namespace poot::kernel
