// expect: slice: operand 0 of (f32[8,4]): 
// expect: the axis must lie inside the 
#include <poot/dsl/movement.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::slice<2, 0, 1>(x);
#else
[[maybe_unused]] constexpr auto y = poot::slice<1, 0, 1>(x);
#endif
