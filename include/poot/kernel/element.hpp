#pragma once
/// Elements of any width in buffers of words.

#include <poot/kernel/scalar.hpp>

namespace poot::kernel {

/// How many elements of `t` a word holds.
constexpr uint32 elements_per_word(dtype t) {
  const uint32 bytes = row(t).block_bytes;
  return bytes < 4 && !is_packed(t) ? 4 / bytes : 1;
}

namespace detail {
/// Where element `index` lies within its word, in bits.
constexpr word bit_of(dtype t, word index) {
  return elements_per_word(t) == 2 ? (index & 1u) << 4u : (index & 3u) << 3u;
}
constexpr word word_of(dtype t, word index) { return elements_per_word(t) == 2 ? index >> 1u : index >> 2u; }
constexpr uint32 mask_of(dtype t) { return elements_per_word(t) == 2 ? 0xffffu : 0xffu; }
}  // namespace detail

/// Element `index` of a buffer of unpacked elements.
constexpr scalar load_element(builder& k, buffer_id from, dtype t, word index) {
  if (elements_per_word(t) == 1) return from_stored(t, k.load(from, index));
  return from_stored(t, k.load(from, detail::word_of(t, index)) >> detail::bit_of(t, index));
}

/// Stores one element where other invocations store its neighbours of the same word.
constexpr void store_element(builder& k, buffer_id to, word index, const scalar& x) {
  const dtype t = x.element;
  if (elements_per_word(t) == 1) return k.store(to, index, x.bits);
  const word at = detail::word_of(t, index), bit = detail::bit_of(t, index);
  k.atomic_and(to, at, ~(word(detail::mask_of(t)) << bit));
  k.atomic_or(to, at, to_stored(x) << bit);
}

/// An i32 index, moved into [0, count).
constexpr word moved_inside(word index, word count) {
  const word last = count - 1u;
  return select(below_signed(index, 0u), 0u, select(below(last, index), last, index));
}

/// Element `j` of those that word `i` of `count` elements holds, `pack` of them a word; past the end the last element.
constexpr word element_in_word(word i, uint32 j, uint32 pack, word count) {
  if (pack == 1) return i;
  const word wanted = i * word(pack) + word(j), last = count - 1u;
  return select(below(last, wanted), last, wanted);
}

/// Byte `index` of a buffer.
constexpr word load_byte(builder& k, buffer_id from, word index) {
  return (k.load(from, index >> 2u) >> ((index & 3u) << 3u)) & 0xffu;
}

/// The elements of one word, gathered in order.
class word_packer {
 public:
  constexpr word_packer() = default;
  constexpr explicit word_packer(dtype t) : t_(t) {}
  constexpr void add(const scalar& x) {
    const uint32 shift = filled_++ * (32 / elements_per_word(t_));
    packed_ = packed_ | (to_stored(x) << shift);
  }
  constexpr word packed() const { return packed_; }

 private:
  dtype t_ = dtype::f32;
  uint32 filled_ = 0;
  word packed_ = 0u;
};

}  // namespace poot::kernel
