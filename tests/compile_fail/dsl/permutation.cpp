// expect: transpose: (f32[8,4]): 
// expect: perm must name every axis once
#include <poot/dsl/movement.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::transpose<0, 0>(x);
#else
[[maybe_unused]] constexpr auto y = poot::transpose<1, 0>(x);
#endif
