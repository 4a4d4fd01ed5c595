// expect: output \"s\": the state is 
#include <poot/dsl/pointwise.hpp>
#include <poot/dsl/trace.hpp>

using poot::f32;

constexpr auto s = poot::state<"s", f32, 4>;
template <int Extent>
constexpr auto x = poot::input<"x", f32, Extent>;
template <int Extent>
constexpr auto model = poot::outputs(poot::output<"y">(s * s), poot::output<"s">(x<Extent> + x<Extent>));
#ifdef POOT_FAIL
[[maybe_unused]] constexpr const auto& kept = poot::frozen<model<5>>;
#else
[[maybe_unused]] constexpr const auto& kept = poot::frozen<model<4>>;
#endif
