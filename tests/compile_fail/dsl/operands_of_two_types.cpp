// expect: mul: operand 1 of (f32[8,4], 
// expect: operands must have one element
// expect: type (use cast)
#include <poot/dsl/leaf.hpp>
#include <poot/dsl/pointwise.hpp>

using poot::bf16, poot::f32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = x * poot::weight<"w", bf16, 4>;
#else
[[maybe_unused]] constexpr auto y = x * poot::cast<f32>(poot::weight<"w", bf16, 4>);
#endif
