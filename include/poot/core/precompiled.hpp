#pragma once
/// What a program takes from the library poot::precompiled instead of compiling it in each of its files: planning, the text
/// forms, the interpreters, the kernel generators, the steps and kernels of the host. In constant expressions a header
/// evaluates its own code; at run time the same code, compiled once, is called:
///
///     if constexpr (!is_precompiled) return detail::read(source);
///     else if (__builtin_is_constant_evaluated()) return detail::read(source);  // (the builtin, so that -O0 drops the branch)
///     else return precompiled::parse<graph_layout>(source);

#include <poot/core/hash.hpp>
#include <poot/version.hpp>

namespace poot {

/// Whether this program links that library.
#ifdef POOT_PRECOMPILED
inline constexpr bool is_precompiled = true;
#else
inline constexpr bool is_precompiled = false;
#endif

/// Part of the name of a function of the library: changes with the version, and with the sizes of what it and its callers hand
/// each other, so that headers of one version do not link with the library of another.
template <class... Types>
inline constexpr uint64 layout_of = [] {
  uint64 h = hash_text(version);
  ((h = mix(h, sizeof(Types))), ...);
  return h;
}();

}  // namespace poot
