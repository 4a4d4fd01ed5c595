// expect: reshape: operand 0 of (f32[8,4]) 
// expect: the number of elements must stay 
#include <poot/dsl/movement.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::reshape(x, poot::extents<5, 6>);
#else
[[maybe_unused]] constexpr auto y = poot::reshape(x, poot::extents<2, 16>);
#endif
