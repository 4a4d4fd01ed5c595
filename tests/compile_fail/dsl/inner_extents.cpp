// expect: matmul: operand 1 of (f32[8,4], 
// expect: the inner extents K must be equal
#include <poot/dsl/leaf.hpp>
#include <poot/dsl/contraction.hpp>

using poot::bf16, poot::f32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::matmul(x, poot::weight<"w", bf16, 5, 3>);
#else
[[maybe_unused]] constexpr auto y = poot::matmul(x, poot::weight<"w", bf16, 4, 3>);
#endif
