// expect: poot::embed: the target refuses an equation of the model
#include <poot/dsl/output.hpp>
#include <poot/dsl/pointwise.hpp>
#include <poot/emit/embed.hpp>

constexpr auto y = poot::output<"y">(-poot::input<"x", poot::f32, 8>);
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto& texts = poot::embed<y, poot::targets::aie_npu1>;
#else
[[maybe_unused]] constexpr auto& texts = poot::embed<y, poot::targets::cuda_sm80>;
#endif
