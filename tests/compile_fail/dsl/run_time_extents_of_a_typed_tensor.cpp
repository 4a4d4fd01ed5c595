// expect: reshape: extents, axes and the 
// expect: like must be constants here, as 
#include <poot/dsl/movement.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::reshape(x, poot::shape{2, 16});
#else
[[maybe_unused]] constexpr auto y = poot::reshape(x, poot::extents<2, 16>);
#endif
