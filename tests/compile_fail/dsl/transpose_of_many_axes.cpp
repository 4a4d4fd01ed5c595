// expect: perm must name every axis once
#include <poot/dsl/movement.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 1, 2, 3, 4, 5, 6>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::transpose<5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>(x);
#else
[[maybe_unused]] constexpr auto y = poot::transpose<5, 4, 3, 2, 1, 0>(x);
#endif
