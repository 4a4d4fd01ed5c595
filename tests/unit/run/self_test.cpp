#include <doctest/doctest.h>

#include <poot/run/host/executor.hpp>
#include <poot/run/host/self_test.hpp>

#include <chrono>
#include <string>

using namespace poot;
using namespace poot::run::host;

namespace {

/// A tile instruction that does `f` to each pair of floats.
template <auto F>
void each(void* out, const void* a, const void* b, const void*, int count) {
  for (int i = 0; i < count; ++i) {
    float x, y = 0, r;
    std::memcpy(&x, static_cast<const char*>(a) + 4 * i, 4);
    if (b) std::memcpy(&y, static_cast<const char*>(b) + 4 * i, 4);
    r = F(x, y);
    std::memcpy(static_cast<char*>(out) + 4 * i, &r, 4);
  }
}

/// The kernels in use, with op `O` replaced.
template <ir::op O, tile_function Broken>
primitives with_broken() {
  primitives p = current_primitives();
  p.tiles.binary = [](ir::op o, carrier c, form f) { return o == O ? Broken : current_tile_functions().binary(o, c, f); };
  p.tiles.unary = [](ir::op o, carrier c) { return o == O ? Broken : current_tile_functions().unary(o, c); };
  return p;
}

/// A chain that joins product and sum, as -ffp-contract=fast does.
void joining_chain(void* out, const void* a, const void* table, const void* steps, int count) {
  const auto* s = static_cast<const chain_step*>(steps);
  const auto* t = static_cast<const float* const*>(table);
  const int sum = 2 * static_cast<int>(chain_op::add), difference = 2 * static_cast<int>(chain_op::sub);
  if (s[0].code == 2 * static_cast<int>(chain_op::mul) && (s[1].code == sum || s[1].code == difference))
    for (int i = 0; i < count; ++i)
      static_cast<float*>(out)[i] = ieee::fma(static_cast<const float*>(a)[i], t[0][i], s[1].code == sum ? t[1][i] : -t[1][i]);
  else
    current_tile_functions().chain()(out, a, table, steps, count);
}
/// One that cancels a term against its negative, as -fassociative-math does.
void reordering_chain(void* out, const void* a, const void* table, const void* steps, int count) {
  const auto* s = static_cast<const chain_step*>(steps);
  if (s[0].code == 2 * static_cast<int>(chain_op::add) && s[1].code == 2 * static_cast<int>(chain_op::sub)) std::memcpy(out, a, 4 * static_cast<size_t>(count));
  else current_tile_functions().chain()(out, a, table, steps, count);
}
void two_roundings(const panel_source& b, int64, int64, int, const float* a, float* total, int64) {
  const float* w = reinterpret_cast<const float*>(b.data);
  for (int n = 0; n < 32; ++n) {
    total[n] = 0;
    for (int64 k = 0; k < b.k; ++k) total[n] = ieee::add(total[n], ieee::mul(a[k], w[32 * k + n]));
  }
}
void truncating(void* out, const void* a, const void*, const void*, int count) {
  for (int i = 0; i < count; ++i) static_cast<uint32*>(out)[i] = static_cast<const uint32*>(a)[i] & 0xffffe000u;
}

float estimated(float x, float y) { return ieee::mul(x, ieee::div(1.0f, y)); }
float max_without_nan(float x, float y) { return ieee::less(x, y) ? y : x; }
float always_equal(float, float) { return ieee::from_bits(uint32{1}); }
float flushed(float x, float y) {
  const auto flush = [](float v) { return (ieee::to_bits(v) & 0x7f800000u) ? v : ieee::from_bits(ieee::to_bits(v) & 0x80000000u); };
  return flush(ieee::mul(flush(x), flush(y)));
}
float nearly_exp(float x, float) { return ieee::mul(elementary::exp(x), 0x1.000002p+0f); }

std::string refusal(const primitives& p) {
  try {
    require_exact(p);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the kernels of every instruction set pass") {
  const isa before = current();
  for (const isa i : {isa::baseline, isa::avx2, isa::avx512}) {
    force(i);
    CHECK(self_test::broken(current_primitives()).empty());
    CHECK_NOTHROW(require_exact());
  }
  force(before);
}

TEST_CASE("a primitive that the flags broke is named in the refusal") {
  const auto names = [](const primitives& p, const char* what) {
    const std::string message = refusal(p);
    INFO(message);
    CHECK(message.find(what) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  };
  primitives p = current_primitives();
  p.tiles.chain = []() -> tile_function { return joining_chain; };
  names(p, "a product is not rounded before it is added");
  p = current_primitives();
  p.multiply_add = p.fused_multiply_add;
  names(p, "a product is not rounded before it is added");
  p = current_primitives();
  p.tiles.chain = []() -> tile_function { return reordering_chain; };
  names(p, "the terms of a sum are reordered");
  names(with_broken<ir::op::div, each<estimated>>(), "quotients and square roots are estimates");
  p = current_primitives();
  p.divide = [](double a, double b) { return ieee::mul(a, ieee::sub(ieee::div(1.0, b), 0x1p-54)); };
  names(p, "quotients and square roots are estimates");
  names(with_broken<ir::op::max, each<max_without_nan>>(), "NaN and the sign of zero are ignored");
  names(with_broken<ir::op::eq, each<always_equal>>(), "NaN and the sign of zero are ignored");
  names(with_broken<ir::op::mul, each<flushed>>(), "subnormal numbers are flushed to zero");
  contraction_kernels rounded = *p.products;
  rounded.few = two_roundings;
  p = current_primitives();
  p.products = &rounded;
  names(p, "contractions round a product before they add it");
  p = current_primitives();
  p.tiles.convert = [](conversion c) { return c == conversion::round_f16 ? truncating : current_tile_functions().convert(c); };
  names(p, "f16 and bf16 are not rounded");
  names(with_broken<ir::op::exp, each<nearly_exp>>(), "exp and tanh");
}

TEST_CASE("takes microseconds, whatever the environment of the caller") {
#if defined(__x86_64__)
  const uint32 saved = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(saved | 0x8040u);  // as -Ofast leaves it
  CHECK(self_test::broken(current_primitives()).empty());
  CHECK((__builtin_ia32_stmxcsr() & 0x8000u) != 0);
  __builtin_ia32_ldmxcsr(saved);
#endif
  double least = 1;
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    CHECK_NOTHROW(require_exact(current_primitives()));
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    least = took < least ? took : least;
  }
  MESSAGE("[METER] start-up self-test: " << least * 1e6 << " us");
  CHECK(least < 1e-3);
}
