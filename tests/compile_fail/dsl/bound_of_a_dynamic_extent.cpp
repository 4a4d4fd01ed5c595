// expect: the bound of a dynamic extent must fit 31 bits
#include <poot/dsl/leaf.hpp>

using poot::f32;

#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto x = poot::input<"x", f32, poot::dyn<"L", 4294967296>>;
#else
[[maybe_unused]] constexpr auto x = poot::input<"x", f32, poot::dyn<"L", 1048576>>;
#endif
