// expect: reduce_sum: operand 0 of 
// expect: the axis must lie inside the 
#include <poot/dsl/leaf.hpp>
#include <poot/dsl/reduction.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::sum<2>(x);
#else
[[maybe_unused]] constexpr auto y = poot::sum<1>(x);
#endif
