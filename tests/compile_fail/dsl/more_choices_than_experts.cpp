// expect: routed_mlp: operand 0 of
// expect: there must be at least as many 
#include <poot/nn/experts.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 3, 4>;
constexpr auto p = poot::input<"p", f32, 3, 2>;
constexpr auto gate = poot::weight<"gate", f32, 2, 6, 4>;
constexpr auto down = poot::weight<"down", f32, 2, 4, 6>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::nn::routed_mlp<3>(x, p, gate, gate, down);
#else
[[maybe_unused]] constexpr auto y = poot::nn::routed_mlp<1>(x, p, gate, gate, down);
#endif
