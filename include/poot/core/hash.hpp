#pragma once
/// 64-bit hashing of words and text. Equal input gives equal output on every machine and in every build.

#include <poot/core/integers.hpp>

#include <string_view>

namespace poot {

/// Folds `value` into `seed` (the finaliser of MurmurHash3, applied to their combination).
constexpr uint64 mix(uint64 seed, uint64 value) {
  uint64 h = (seed ^ value) * 0xff51afd7ed558ccdull;
  h ^= h >> 33;
  return h * 0xc4ceb9fe1a85ec53ull + seed;
}

/// FNV-1a of the characters.
constexpr uint64 hash_text(std::string_view chars) {
  uint64 h = 1469598103934665603ull;
  for (char c : chars) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return h;
}

}  // namespace poot
