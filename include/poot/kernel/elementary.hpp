#pragma once
/// exp, log, tanh, erf, sin, cos and pow as functions of a kernel: core/elementary.inc, recorded instead of computed.

#include <poot/kernel/values.hpp>

namespace poot::kernel {

namespace elementary {

using f32x = number;
using u32x = word;
using maskx = flag;

constexpr f32x lanes(float x) { return x; }
constexpr u32x lanes_u(uint32 x) { return x; }

#define POOT_INLINE constexpr
#include <poot/core/elementary.inc>
#undef POOT_INLINE

}  // namespace elementary

#define POOT_FUNCTION(NAME)                                                                                     \
  constexpr number NAME(number x) {                                                                             \
    const function_id f = x.in->define<number, number>("poot_" #NAME, [](number a) { return elementary::NAME(a); }); \
    return x.in->call<number>(f, x);                                                                            \
  }
POOT_FUNCTION(exp)
POOT_FUNCTION(log)
POOT_FUNCTION(tanh)
POOT_FUNCTION(erf)
POOT_FUNCTION(sin)
POOT_FUNCTION(cos)
#undef POOT_FUNCTION

/// One operand at least is no literal.
constexpr number pow(number x, number y) {
  builder* const in = x.in ? x.in : y.in;
  const function_id f = in->define<number, number, number>("poot_pow", [](number a, number b) { return elementary::pow(a, b); });
  return in->call<number>(f, x, y);
}

}  // namespace poot::kernel
