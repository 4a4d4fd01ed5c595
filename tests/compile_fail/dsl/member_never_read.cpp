// expect: layer_weights: no output of the 
// expect: its member up
#include <poot/dsl/structure.hpp>
#include <poot/dsl/pointwise.hpp>

using poot::f32;

constexpr auto x = poot::input<"x", f32, 8>;
using row_t = poot::param<f32, 8>;
struct layer_weights {
  BOOST_HANA_DEFINE_STRUCT(layer_weights, (row_t, gate), (row_t, up));
};
constexpr auto w = poot::weights<layer_weights, "blk.0.">;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::output<"y">(poot::block([](auto v, auto t) { return v * t.gate; }, x, w));
static_assert(poot::reads_all<layer_weights, "blk.0.">(y));
#else
[[maybe_unused]] constexpr auto y = poot::output<"y">(poot::block([](auto v, auto t) { return v * t.gate * t.up; }, x, w));
static_assert(poot::reads_all<layer_weights, "blk.0.">(y));
#endif
