#pragma once
/// A kernel small enough to be written in a constant expression: y[i] = x[i] + x[i], for equation 3.

#include <poot/kernel/values.hpp>

namespace poot_tests {

inline constexpr auto twice = [] {
  using namespace poot::kernel;
  builder k("twice", 64);
  const buffer_id x = k.reads("x", 0), y = k.writes("y", 1);
  const word group = k.group(), lane = k.lane();
  const word i = group * word(64u) + lane;
  k.if_(below(i, k.meta({.fixed = 100})), [&] {
    k.note(3);
    const number value = from_bits(k.load(x, i));
    k.store(y, i, to_bits(add(value, value)));
  });
  return k.finish();
};

constexpr bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace poot_tests
