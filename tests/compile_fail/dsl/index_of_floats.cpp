// expect: gather: operand 1 of 
// expect: the index must be i32
#include <poot/dsl/movement.hpp>

using poot::f32, poot::i32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::gather(x, poot::input<"i", f32, 3>);
#else
[[maybe_unused]] constexpr auto y = poot::gather(x, poot::input<"i", i32, 3>);
#endif
