// expect: block: f must return a tensor, 
#include <poot/dsl/block.hpp>
#include <poot/dsl/leaf.hpp>
#include <poot/dsl/pointwise.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::block([](auto) { return 3; }, x);
#else
[[maybe_unused]] constexpr auto y = poot::block([](auto v) { return v; }, x);
#endif
