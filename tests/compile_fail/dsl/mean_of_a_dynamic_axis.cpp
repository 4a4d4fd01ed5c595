// expect: mean: the axis must not be 
// expect: dynamic, since the count must be 
#include <poot/dsl/leaf.hpp>
#include <poot/dsl/reduction.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 8, poot::dyn<"L", 64>>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::mean(x);
#else
[[maybe_unused]] constexpr auto y = poot::mean<0>(x);
#endif
