// expect: attention: operand 0 of
// expect: the width of a head must be a 
#include <poot/nn/attention.hpp>

using poot::f32, poot::i32;

template <auto Width>
constexpr auto q = poot::input<"q", f32, 2, 4, Width>;
constexpr auto at = poot::input<"at", i32, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::nn::attention(q<poot::dyn<"D", 8>>, q<poot::dyn<"D", 8>>, q<8>, at);
#else
[[maybe_unused]] constexpr auto y = poot::nn::attention(q<8>, q<8>, q<8>, at);
#endif
