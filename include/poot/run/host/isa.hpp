#pragma once
/// Instruction sets of the CPU host: which exist, which one runs, and how a kernel is compiled for each.
///
/// A kernel body is one `.inc` file without namespaces; two lines compile it for every instruction set:
///
///     #define POOT_BODY <poot/run/host/contraction.inc>
///     #include <poot/run/host/each_isa.inc>
///
/// It then exists as `baseline::f`, `avx2::f` and `avx512::f` whatever `-march` the user gave, and `POOT_FOR_ISA(f)`
/// is the one to call. Inside a body no templates of the standard library: their instantiations would be compiled
/// for the wider set and shared with the rest of the program.

#include <poot/core/error.hpp>

#include <atomic>
#include <cstdlib>
#include <string_view>

#if defined(__x86_64__)
#define POOT_X86 1
#include <immintrin.h>
#else
#define POOT_X86 0
#endif

namespace poot::run::host {

/// avx2 includes fma and f16c; avx512 is f, bw, vl, dq on top of avx2.
enum class isa : uint8 { baseline, avx2, avx512 };

constexpr std::string_view name(isa i) {
  return i == isa::avx512 ? "avx512" : i == isa::avx2 ? "avx2" : "baseline";
}

/// The widest set that this machine and its operating system support.
inline isa detect() {
#if POOT_X86
  const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  if (!wide) return isa::baseline;
  const bool wider = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                     __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return wider ? isa::avx512 : isa::avx2;
#else
  return isa::baseline;
#endif
}

namespace detail {
/// The environment's POOT_ISA, or the widest below it that exists here. Throws `error` where it names none.
inline isa initial() {
  const isa widest = detect();
  const char* const asked = std::getenv("POOT_ISA");
  if (!asked || !*asked) return widest;
  for (const isa i : {isa::baseline, isa::avx2, isa::avx512})
    if (name(i) == asked) return i <= widest ? i : widest;
  fail(text{} << "POOT_ISA=" << asked << ": must be baseline, avx2 or avx512");
}
inline std::atomic<isa>& chosen() {
  static std::atomic<isa> value{initial()};
  return value;
}
}  // namespace detail

/// The set that kernels use now. No choice changes a bit of any result.
inline isa current() { return detail::chosen().load(std::memory_order_relaxed); }

/// Makes kernels use `wanted`, or the widest below it that exists; returns what was chosen.
inline isa force(isa wanted) {
  const isa widest = detect();
  const isa value = wanted < widest ? wanted : widest;
  detail::chosen().store(value, std::memory_order_relaxed);
  return value;
}

/// Makes stores that went past the caches visible before what follows.
inline void finish_streams() {
#if POOT_X86
  _mm_sfence();
#endif
}

}  // namespace poot::run::host

#if POOT_X86
#define POOT_FOR_ISA(function)                                                                      \
  (::poot::run::host::current() == ::poot::run::host::isa::avx512 ? &::poot::run::host::avx512::function \
   : ::poot::run::host::current() == ::poot::run::host::isa::avx2 ? &::poot::run::host::avx2::function   \
                                                                  : &::poot::run::host::baseline::function)
#else
#define POOT_FOR_ISA(function) (&::poot::run::host::baseline::function)
#endif
