// expect: mean: the operand must be a float 
#include <poot/dsl/leaf.hpp>
#include <poot/dsl/reduction.hpp>

using poot::f32, poot::i32;

constexpr auto n = poot::input<"n", i32, 8>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::mean(n);
#else
[[maybe_unused]] constexpr auto y = poot::mean(poot::cast<f32>(n));
#endif
