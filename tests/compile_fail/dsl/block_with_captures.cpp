// expect: block: f must be a lambda without 
// expect: captures
#include <poot/dsl/block.hpp>
#include <poot/dsl/leaf.hpp>
#include <poot/dsl/pointwise.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
constexpr float scale = 2;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::block([s = scale](auto v) { return v * s; }, x);
#else
[[maybe_unused]] constexpr auto y = poot::block([](auto v) { return v * scale; }, x);
#endif
