#pragma once
/// exp, log, tanh, erf, sin, cos and pow of one f32: the scalar instance of core/elementary.inc.
///
/// The bits are those of every executor, under any compiler flag and in constant expressions. Greatest error in units
/// in the last place (tests/unit/core/elementary.cpp holds them): exp, log, tanh, erf 2; sin, cos 2 for |x| <= 2^17,
/// then an absolute error of 2^-22 for |x| < 1.5 * 2^20, beyond which x counts as 0; pow 4. Special values are those of
/// C99 annex F, and subnormals are kept. f64: core/elementary_f64.hpp.

#include <poot/core/ieee.hpp>

namespace poot::elementary {

using f32x = float;
using u32x = uint32;
using maskx = bool;

using ieee::add;
using ieee::div;
using ieee::equal;
using ieee::from_bits;
using ieee::is_nan;
using ieee::less;
using ieee::mul;
using ieee::sub;
using ieee::to_bits;

constexpr f32x lanes(float x) { return x; }
constexpr u32x lanes_u(uint32 x) { return x; }
constexpr maskx below(u32x a, u32x b) { return a < b; }
constexpr maskx below_signed(u32x a, u32x b) { return static_cast<int32>(a) < static_cast<int32>(b); }
constexpr maskx same(u32x a, u32x b) { return a == b; }
constexpr maskx not_(maskx m) { return !m; }
constexpr u32x select(maskx m, u32x yes, u32x no) { return m ? yes : no; }
/// Of bits, because under `-ffinite-math-only` a compiler drops the choice of a NaN.
constexpr f32x select(maskx m, f32x yes, f32x no) { return from_bits(select(m, to_bits(yes), to_bits(no))); }
constexpr f32x to_float(u32x i) { return static_cast<float>(static_cast<int32>(i)); }
constexpr u32x to_int(f32x x) { return static_cast<uint32>(static_cast<int32>(x)); }

#define POOT_INLINE constexpr
#include <poot/core/elementary.inc>
#undef POOT_INLINE

static_assert(exp(0.0f) == 1.0f && exp(1.0f) == 0x1.5bf0a8p+1f && exp(-104.0f) == 0.0f && exp(-103.0f) == 0x1p-149f);
static_assert(ieee::is_infinite(exp(89.0f)) && is_nan(log(-1.0f)) && log(1.0f) == 0.0f && log(2.0f) == 0x1.62e43p-1f);
static_assert(ieee::is_infinite(log(0.0f)) && to_bits(tanh(-0.0f)) == 0x80000000u && tanh(30.0f) == 1.0f);
static_assert(erf(4.0f) == 1.0f && sin(0.0f) == 0.0f && cos(0.0f) == 1.0f && is_nan(sin(ieee::infinity_like(1.0f))));
static_assert(pow(-2.0f, 3.0f) == -8.0f && pow(2.0f, -149.0f) == 0x1p-149f && is_nan(pow(-2.0f, 0.5f)));
static_assert(pow(ieee::scalar_bits<float>::quiet_nan, 0.0f) == 1.0f && pow(-1.0f, ieee::infinity_like(1.0f)) == 1.0f);

}  // namespace poot::elementary
