// expect: input \"x\": read as 
#include <poot/dsl/pointwise.hpp>
#include <poot/dsl/trace.hpp>

using poot::f32;

template <int Extent>
constexpr auto x = poot::input<"x", f32, Extent>;
template <int Extent>
constexpr auto model = poot::outputs(poot::output<"y">(x<4> + x<4>), poot::output<"z">(x<Extent> * x<Extent>));
#ifdef POOT_FAIL
[[maybe_unused]] constexpr const auto& kept = poot::frozen<model<5>>;
#else
[[maybe_unused]] constexpr const auto& kept = poot::frozen<model<4>>;
#endif
