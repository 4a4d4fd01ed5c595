// expect: update: the first operand must be 
#include <poot/dsl/output.hpp>
#include <poot/dsl/pointwise.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::update(x, x + x);
#else
[[maybe_unused]] constexpr auto y = poot::update(poot::state<"s", f32, 8, 4>, x + x);
#endif
