// expect: matmul: operand 1 of (f32[8,64], 
// expect: a packed weight is read in [N,K] 
#include <poot/dsl/leaf.hpp>
#include <poot/dsl/contraction.hpp>

using poot::f32, poot::q4_0;

constexpr auto x = poot::input<"x", f32, 8, 64>;
constexpr auto w = poot::weight<"w", q4_0, 64, 64>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::matmul(x, w);
#else
[[maybe_unused]] constexpr auto y = poot::matmul_t(x, w);
#endif
