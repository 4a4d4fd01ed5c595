// expect: dynamic extent L is at most 8
#include <poot/dsl/pointwise.hpp>
#include <poot/dsl/trace.hpp>

using poot::f32;

template <auto Extent>
constexpr auto a = poot::input<"a", f32, Extent>;
template <auto Extent>
constexpr auto b = poot::input<"b", f32, Extent>;
template <auto Of>
constexpr auto model = poot::outputs(poot::output<"z">(b<Of> + b<Of>), poot::output<"y">(a<poot::dyn<"L", 8>> + a<poot::dyn<"L", 8>>));
#ifdef POOT_FAIL
[[maybe_unused]] constexpr const auto& kept = poot::frozen<model<poot::dyn<"L", 9>>>;
#else
[[maybe_unused]] constexpr const auto& kept = poot::frozen<model<poot::dyn<"L", 8>>>;
#endif
