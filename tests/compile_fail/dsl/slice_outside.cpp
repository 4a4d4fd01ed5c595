// expect: slice: operand 0 of (f32[8,4]): 
// expect: start + (size - 1) * step must 
#include <poot/dsl/movement.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::slice<-1, 2, 3>(x);
#else
[[maybe_unused]] constexpr auto y = poot::slice<-1, 1, 3>(x);
#endif
