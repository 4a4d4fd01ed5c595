// expect: at most 6 axes
#include <poot/dsl/leaf.hpp>

using poot::f32;

#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto x = poot::input<"x", f32, 1, 2, 3, 4, 5, 6, 7>;
#else
[[maybe_unused]] constexpr auto x = poot::input<"x", f32, 1, 2, 3, 4, 5, 6>;
#endif
