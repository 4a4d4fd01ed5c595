// expect: attention: operand 1 of
// expect: the heads of q must be a multiple
#include <poot/nn/attention.hpp>

using poot::f32, poot::i32;

template <int Heads>
constexpr auto q = poot::input<"q", f32, Heads, 4, 8>;
constexpr auto k = poot::input<"k", f32, 2, 5, 8>;
constexpr auto at = poot::input<"at", i32, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::nn::attention(q<1>, k, k, at);
#else
[[maybe_unused]] constexpr auto y = poot::nn::attention(q<4>, k, k, at);
#endif
