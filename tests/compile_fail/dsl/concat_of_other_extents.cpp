// expect: concat: operand 1 of (f32[8,4], 
// expect: axis must be equal
#include <poot/dsl/movement.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::concat<0>(x, poot::input<"z", f32, 8, 5>);
#else
[[maybe_unused]] constexpr auto y = poot::concat<1>(x, poot::input<"z", f32, 8, 5>);
#endif
