// expect: this expression shares too much 
// expect: poot::block
#include <poot/dsl/block.hpp>
#include <poot/dsl/leaf.hpp>
#include <poot/dsl/pointwise.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
constexpr auto f = [](auto v) { return v * v + v; };
constexpr auto g = [](auto v) { return f(f(f(v))); };
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = g(g(g(f(x))));
#else
[[maybe_unused]] constexpr auto y = poot::block(g, poot::block(g, poot::block(g, f(x))));
#endif
