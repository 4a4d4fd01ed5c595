// expect: output \"s\": this name is taken by 
#include <poot/dsl/pointwise.hpp>
#include <poot/dsl/trace.hpp>

using poot::f32;

constexpr auto s = poot::state<"s", f32, 4>;
constexpr auto next = poot::update(s, s + s);
#ifdef POOT_FAIL
[[maybe_unused]] constexpr const auto& kept = poot::frozen<poot::outputs(next, poot::update(s, s * s))>;
#else
[[maybe_unused]] constexpr const auto& kept = poot::frozen<poot::outputs(next, poot::output<"y">(next * s))>;
#endif
