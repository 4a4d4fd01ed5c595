// budget: 0.5 s over the headers
// One row region, planned by the compiler.
#include <poot/poot.hpp>

using namespace poot::literals;

constexpr auto x = poot::input<"x", poot::f32, 8, 4096>;
constexpr auto gain = poot::weight<"gain", poot::bf16, 4096>;
constexpr auto y = poot::output<"y">(poot::nn::rms_norm(x, gain));

static_assert(poot::planned<y, poot::targets::host>.dispatch_count() == 1);
int main() {}
