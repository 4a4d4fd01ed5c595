// expect: exp: operand 0 of (i32[3]): 
// expect: this element type is not accepted 
#include <poot/dsl/trace.hpp>
#include <poot/dsl/reduction.hpp>
#include <poot/dsl/movement.hpp>
#include <poot/dsl/contraction.hpp>

using namespace poot::literals;
using poot::f32, poot::i32;

constexpr auto n = poot::input<"n", i32, 3>;
#ifdef POOT_FAIL
constexpr auto bad = poot::exp(n);
[[maybe_unused]] constexpr auto y = poot::output<"y">(poot::matmul(poot::sum(bad + bad * 2_f), poot::concat<0>(bad, poot::slice<0, 1, 1>(poot::mean(bad)))));
#else
[[maybe_unused]] constexpr auto y = poot::output<"y">(poot::exp(poot::cast<f32>(n)) * 2_f);
#endif
