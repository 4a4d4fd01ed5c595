#pragma once
/// Checks at the first load that the flags this program was compiled with left the kernels their arithmetic.
///
/// Compilers join products with sums, estimate divisions and drop NaNs where flags allow it; the kernels are written so
/// that they cannot. Should a flag or a compiler do it all the same, loading fails in one sentence. Takes microseconds,
/// once for each instruction set in use.

#include <poot/core/elementary.hpp>
#include <poot/core/fma.hpp>
#include <poot/run/host/contraction_kernels.hpp>
#include <poot/run/host/float_environment.hpp>
#include <poot/run/host/tile_function.hpp>

#include <atomic>

namespace poot::run::host {

/// What is checked: the functions that kernels are made of.
struct primitives {
  tile_functions tiles;
  const contraction_kernels* products;
  double (*multiply_add)(double, double, double);    ///< two roundings
  double (*fused_multiply_add)(double, double, double);
  double (*divide)(double, double);
};

inline primitives current_primitives() {
  return {current_tile_functions(), &current_contraction_kernels(),
          [](double a, double b, double c) { return ieee::add(ieee::mul(a, b), c); },
          [](double a, double b, double c) { return ieee::fma(a, b, c); },
          [](double a, double b) { return ieee::div(a, b); }};
}

namespace self_test {

/// The least tile, as bits.
struct tile {
  alignas(64) uint32 bits[uniform_elements]{};
  constexpr tile() = default;
  constexpr explicit tile(float x) {
    for (uint32& b : bits) b = std::bit_cast<uint32>(x);
  }
  template <class F>
  static constexpr tile of(F element) {
    tile t;
    for (int i = 0; i < uniform_elements; ++i) t.bits[i] = std::bit_cast<uint32>(static_cast<float>(element(i)));
    return t;
  }
  bool is(const tile& o) const {
    for (int i = 0; i < uniform_elements; ++i)
      if (bits[i] != o.bits[i]) return false;
    return true;
  }
};

inline tile call(tile_function f, const tile& a, const tile& b = {}) {
  tile out;
  f(out.bits, a.bits, b.bits, nullptr, uniform_elements);
  return out;
}

/// x, then each op with a tile after another, without a store between them.
inline tile chained(const primitives& p, const tile& x, chain_op first, const tile& y, chain_op second, const tile& z) {
  tile out;
  const void* const table[2] = {y.bits, z.bits};
  const auto step = [](chain_op o, uint16 reg) { return chain_step{static_cast<uint16>(2 * static_cast<int>(o)), reg}; };
  const chain_step steps[3] = {step(first, 0), step(second, 1), step(chain_op::end, 0)};
  p.tiles.chain()(out.bits, x.bits, table, steps, uniform_elements);
  return out;
}

inline tile_function binary(const primitives& p, ir::op o) { return p.tiles.binary(o, carrier::f32, form::both_tiles); }

// Operands whose quotients, roots and powers round in every way; what is right the compiler's constant evaluation says.
inline constexpr tile dividends = tile::of([](int i) { return 1.0f + static_cast<float>(i * i) * 0x1.3p-7f; });
inline constexpr tile divisors = tile::of([](int i) { return 3.0f + static_cast<float>(i) * 0x1.7p-3f; });
inline constexpr float element(const tile& t, int i) { return std::bit_cast<float>(t.bits[i]); }
inline constexpr tile quotients = tile::of([](int i) { return ieee::div(element(dividends, i), element(divisors, i)); });
inline constexpr tile roots = tile::of([](int i) { return ieee::sqrt_by_digits(element(divisors, i)); });
inline constexpr tile exponentials = tile::of([](int i) { return elementary::exp(element(dividends, i)); });
inline constexpr tile tangents = tile::of([](int i) { return elementary::tanh(element(dividends, i)); });

inline bool rounds_products(const primitives& p) {
  // 1 + 2^-12 squared is 1 + 2^-11 + 2^-24: the last term is there only before it is rounded.
  const tile x(0x1.001p+0f), minus(-0x1.002p+0f);
  const double y = ieee::opaque(0x1.0000001p+0);
  return chained(p, x, chain_op::mul, x, chain_op::add, minus).is(tile(0.0f)) &&
         chained(p, x, chain_op::mul, x, chain_op::sub, tile(0x1.002p+0f)).is(tile(0.0f)) &&
         ieee::to_bits(p.multiply_add(y, y, ieee::opaque(-0x1.0000002p+0))) == 0;
}
inline bool keeps_order(const primitives& p) {
  if (!chained(p, tile(1.0f), chain_op::add, tile(0x1p24f), chain_op::sub, tile(0x1p24f)).is(tile(0.0f))) return false;
  // Lane 0 is 2^24 + 1, which rounds the 1 away before lane 128 takes 2^24 off.
  alignas(64) float row[tile_elements]{}, state[reduction_state_bytes / 4]{};
  row[0] = 0x1p24f, row[sum_lanes] = 1, row[sum_lanes / 2] = -0x1p24f;
  const reduction_functions sum = p.tiles.reduction(ir::op::reduce_sum, carrier::f32);
  tile total;
  sum.begin(state, nullptr, nullptr, nullptr, 1);
  sum.step(state, row, nullptr, nullptr, tile_elements);
  sum.fold(state, nullptr, nullptr, nullptr, sum_lanes);
  sum.finish(total.bits, state, nullptr, nullptr, 0);
  return total.is(tile(0.0f));
}
inline bool divides_exactly(const primitives& p) {
  return call(binary(p, ir::op::div), dividends, divisors).is(quotients) &&
         chained(p, dividends, chain_op::div, divisors, chain_op::max, tile(0.0f)).is(quotients) &&
         call(p.tiles.unary(ir::op::sqrt, carrier::f32), divisors).is(roots) &&
         ieee::to_bits(p.divide(ieee::opaque(1.0), ieee::opaque(3.0))) == 0x3fd5555555555555u;
}
inline bool keeps_nan(const primitives& p) {
  const tile nan(ieee::scalar_bits<float>::quiet_nan), one(1.0f), zero, minus_zero(-0.0f);
  const auto is_nan = [](const tile& t) {
    for (uint32 b : t.bits)
      if ((b & 0x7fffffffu) <= 0x7f800000u) return false;
    return true;
  };
  tile yes;
  for (uint32& b : yes.bits) b = 1;
  const tile_function max = binary(p, ir::op::max), min = binary(p, ir::op::min);
  return is_nan(call(max, nan, one)) && is_nan(call(max, one, nan)) && is_nan(call(min, nan, one)) && is_nan(call(min, one, nan)) &&
         call(max, minus_zero, zero).is(zero) && call(min, zero, minus_zero).is(minus_zero) &&
         call(binary(p, ir::op::lt), nan, one).is(zero) && call(binary(p, ir::op::eq), nan, nan).is(zero) &&
         call(binary(p, ir::op::ne), nan, nan).is(yes);
}
inline bool keeps_subnormals(const primitives& p) {
  return call(binary(p, ir::op::mul), tile(0x1p-126f), tile(0.5f)).is(tile(0x1p-127f)) &&
         call(binary(p, ir::op::mul), tile(0x1p-149f), tile(0x1p100f)).is(tile(0x1p-49f)) &&
         call(binary(p, ir::op::add), tile(1.0f), tile(0x1p-25f)).is(tile(1.0f));
}
inline bool fuses_contractions(const primitives& p) {
  // -(1 + 2^-11), then (1 + 2^-12) squared: 2^-24 remains where the product is not rounded before it is added.
  alignas(64) float w[2 * 32], total[32]{};
  for (int n = 0; n < 32; ++n) w[n] = -0x1.002p+0f, w[32 + n] = 0x1.001p+0f;
  const float x[2] = {1.0f, 0x1.001p+0f};
  p.products->few(source_of(f32, 32, 2, w, matrix_order::kn, 32), 0, 1, 1, x, total, 32);
  for (float t : total)
    if (ieee::to_bits(t) != ieee::to_bits(0x1p-24f)) return false;
  const double y = ieee::opaque(0x1.0000001p+0);
  return ieee::to_bits(p.fused_multiply_add(y, y, ieee::opaque(-0x1.0000002p+0))) == ieee::to_bits(0x1p-56);
}
inline bool narrows_to_nearest(const primitives& p) {
  const tile_function half = p.tiles.convert(conversion::round_f16), brain = p.tiles.convert(conversion::round_bf16);
  return call(half, tile(65519.996f)).is(tile(65504.0f)) && call(half, tile(0x1.002p+0f)).is(tile(1.0f)) &&
         call(half, tile(0x1.8p-24f)).is(tile(0x1p-23f)) && call(brain, tile(0x1.01p+0f)).is(tile(1.0f)) &&
         call(brain, tile(0x1.03p+0f)).is(tile(0x1.04p+0f));
}
inline bool evaluates_functions(const primitives& p) {
  return call(p.tiles.unary(ir::op::exp, carrier::f32), dividends).is(exponentials) &&
         call(p.tiles.unary(ir::op::tanh, carrier::f32), dividends).is(tangents);
}

/// What is wrong with `p`, in the words of a sentence "flags under which …"; empty if nothing is.
inline std::string_view broken(const primitives& p) {
  const float_environment environment;
  if (!rounds_products(p)) return "a product is not rounded before it is added";
  if (!keeps_order(p)) return "the terms of a sum are reordered";
  if (!divides_exactly(p)) return "quotients and square roots are estimates";
  if (!keeps_nan(p)) return "NaN and the sign of zero are ignored";
  if (!keeps_subnormals(p)) return "subnormal numbers are flushed to zero, or sums not rounded to nearest";
  if (!fuses_contractions(p)) return "contractions round a product before they add it";
  if (!narrows_to_nearest(p)) return "f16 and bf16 are not rounded to nearest even";
  if (!evaluates_functions(p)) return "exp and tanh are not what they are in constant expressions";
  return {};
}

}  // namespace self_test

/// Refuses to load where `p` would not give the defined bits.
inline void require_exact(const primitives& p) {
  if (const std::string_view what = self_test::broken(p); !what.empty())
    fail(text{} << "load: this program was compiled with flags under which " << what << " (" << name(current())
                << " kernels), so its results would not be the defined ones");
}

/// The same of the kernels in use, once for each instruction set.
inline void require_exact() {
  static std::atomic<bool> passed[3];
  std::atomic<bool>& known = passed[static_cast<int>(current())];
  if (known.load(std::memory_order_relaxed)) return;
  require_exact(current_primitives());
  known.store(true, std::memory_order_relaxed);
}

}  // namespace poot::run::host
