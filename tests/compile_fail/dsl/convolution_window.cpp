// expect: conv2d: operand 1 of 
// expect: the dilated window must fit into 
#include <poot/dsl/leaf.hpp>
#include <poot/dsl/contraction.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 1, 3, 4, 4>;
constexpr auto w = poot::weight<"w", f32, 8, 3, 5, 5>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::conv2d(x, w);
#else
[[maybe_unused]] constexpr auto y = poot::conv2d(x, w, poot::conv<{.pad = {1, 1, 1, 1}}>);
#endif
