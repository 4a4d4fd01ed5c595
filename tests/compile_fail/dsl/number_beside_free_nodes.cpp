// expect: a number in an expression of free 
// expect: nodes must be part of the type: 
#include <poot/dsl/leaf.hpp>
#include <poot/dsl/pointwise.hpp>

using namespace poot::literals;
using poot::f32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = x * 2.0f;
#else
[[maybe_unused]] constexpr auto y = x * 2_f;
#endif
