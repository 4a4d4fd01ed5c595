#pragma once
/// The floating-point environment that every evaluation needs: to nearest even, subnormals kept.

#include <poot/core/integers.hpp>

#include <type_traits>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <cfenv>
#endif

namespace poot {

/// Whether subnormal operands and results count as they are or as zeros of their sign, as on some devices.
enum class subnormals : uint8 { kept, flushed };

/// Sets the environment of this thread and restores the caller's at the end. A program linked with `-Ofast` starts
/// with subnormals flushed, and a caller may have set another rounding. In constant expressions it does nothing: there
/// subnormals are kept.
class float_environment {
 public:
  constexpr explicit float_environment(subnormals s = subnormals::kept) {
    if (std::is_constant_evaluated()) return;
    saved_ = read();
    set_ = wanted(saved_, s);
    if (saved_ != set_) write(set_);
  }
  constexpr ~float_environment() {
    if (std::is_constant_evaluated()) return;
    if (saved_ != set_) write(saved_);
  }
  float_environment(const float_environment&) = delete;
  float_environment& operator=(const float_environment&) = delete;

 private:
#if defined(__x86_64__)
  using word = uint32;
  static word read() { return __builtin_ia32_stmxcsr(); }
  static void write(word w) { __builtin_ia32_ldmxcsr(w); }
  /// Flush-to-zero (15), the rounding mode (14:13) and denormals-are-zero (6).
  static word wanted(word w, subnormals s) { return (w & ~0xe040u) | (s == subnormals::flushed ? 0x8040u : 0u); }
#elif defined(__aarch64__)
  using word = uint64;
  static word read() {
    word w;
    asm volatile("mrs %0, fpcr" : "=r"(w));
    return w;
  }
  static void write(word w) { asm volatile("msr fpcr, %0" : : "r"(w)); }
  /// Flush-to-zero (24 and, of f16, 19) and the rounding mode (23:22).
  static word wanted(word w, subnormals s) { return (w & ~word{0x01c80000}) | (s == subnormals::flushed ? word{0x01000000} : 0); }
#else
  using word = int;
  static word read() { return std::fegetround(); }
  static void write(word w) { std::fesetround(w); }
  static word wanted(word, subnormals) { return FE_TONEAREST; }
#endif
  word saved_ = 0, set_ = 0;
};

}  // namespace poot
