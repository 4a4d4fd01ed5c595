// expect: dynamic_update_slice: operand 2 
// expect: start must have one 
#include <poot/dsl/movement.hpp>

using poot::f32, poot::i32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::dynamic_update_slice(x, x, poot::input<"s", i32, 1>);
#else
[[maybe_unused]] constexpr auto y = poot::dynamic_update_slice(x, x, poot::input<"s", i32, 2>);
#endif
