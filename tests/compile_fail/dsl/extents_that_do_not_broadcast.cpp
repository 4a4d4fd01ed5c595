// expect: add: operand 1 of (f32[8,4], 
// expect: must be equal or 1
#include <poot/dsl/leaf.hpp>
#include <poot/dsl/pointwise.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = x + poot::weight<"w", f32, 8>;
#else
[[maybe_unused]] constexpr auto y = x + poot::weight<"w", f32, 8, 1>;
#endif
