// expect: mul: operand 1: a number beside a 
// expect: tensor of f32 must have exactly 
#include <poot/dsl/block.hpp>
#include <poot/dsl/leaf.hpp>
#include <poot/dsl/pointwise.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::block([](auto v) { return v * 2.0; }, x);
#else
[[maybe_unused]] constexpr auto y = poot::block([](auto v) { return v * 2.0f; }, x);
#endif
