// expect: output \"y\": this name is taken by 
#include <poot/dsl/pointwise.hpp>
#include <poot/dsl/trace.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 4>;
template <poot::fixed_text Name>
constexpr auto model = poot::outputs(poot::output<"y">(x + x), poot::output<Name>(x * x));
#ifdef POOT_FAIL
[[maybe_unused]] constexpr const auto& kept = poot::frozen<model<"y">>;
#else
[[maybe_unused]] constexpr const auto& kept = poot::frozen<model<"z">>;
#endif
