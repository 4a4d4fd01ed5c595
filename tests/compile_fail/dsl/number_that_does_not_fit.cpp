// expect: poot::number: i32 cannot hold 
#include <poot/dsl/leaf.hpp>
#include <poot/dsl/pointwise.hpp>

using poot::i32;

constexpr auto n = poot::input<"n", i32, 3>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = n * poot::number<0.5>;
#else
[[maybe_unused]] constexpr auto y = n * poot::number<2.0>;
#endif
