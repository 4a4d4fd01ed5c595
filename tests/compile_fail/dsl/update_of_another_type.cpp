// expect: update: the state is bf16[8,4] 
// expect: and its new value is f32[8,4]; 
#include <poot/dsl/output.hpp>
#include <poot/dsl/pointwise.hpp>

using poot::bf16, poot::f32;

constexpr auto x = poot::input<"x", f32, 8, 4>;
constexpr auto s = poot::state<"s", bf16, 8, 4>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::update(s, x);
#else
[[maybe_unused]] constexpr auto y = poot::update(s, poot::cast<bf16>(x));
#endif
