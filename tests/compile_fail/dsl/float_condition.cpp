// expect: select: operand 0 of (f32[8,4], 
// expect: the condition must be i32
#include <poot/dsl/leaf.hpp>
#include <poot/dsl/pointwise.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::select(x, x, x);
#else
[[maybe_unused]] constexpr auto y = poot::select(x < x, x, x);
#endif
