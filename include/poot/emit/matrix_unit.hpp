#pragma once
/// What a text holds before its kernel where that has fragments (kernel/kernel.hpp): how an invocation's part of one lies in
/// registers, and the product of two by the hardware. C++ emulates the hardware that a subgroup of 32 or 64 belongs to.

#include <poot/core/integers.hpp>
#include <poot/core/text.hpp>

namespace poot::emit {

namespace detail {
inline constexpr std::string_view mma_layout_32 =
#include <poot/emit/prelude/mma_layout_32.inc>
    ;
inline constexpr std::string_view mma_layout_64 =
#include <poot/emit/prelude/mma_layout_64.inc>
    ;
inline constexpr std::string_view mma_registers =
#include <poot/emit/prelude/mma_registers.inc>
    ;
inline constexpr std::string_view mma_cuda =
#include <poot/emit/prelude/mma_cuda.inc>
    ;
inline constexpr std::string_view mma_hip =
#include <poot/emit/prelude/mma_hip.inc>
    ;
inline constexpr std::string_view mma_cpp_operands =
#include <poot/emit/prelude/mma_cpp_operands.inc>
    ;
inline constexpr std::string_view mma_cpp_32 =
#include <poot/emit/prelude/mma_cpp_32.inc>
    ;
inline constexpr std::string_view mma_cpp_64 =
#include <poot/emit/prelude/mma_cpp_64.inc>
    ;
inline constexpr std::string_view mma_cpp_multiply =
#include <poot/emit/prelude/mma_cpp_multiply.inc>
    ;
}  // namespace detail

inline constexpr std::string_view mma_glsl_prelude =
#include <poot/emit/prelude/mma_glsl.inc>
    ;

/// For subgroups of `subgroup` invocations; `qualifier` stands before functions.
constexpr void write_mma_layout(text& out, uint32 subgroup, std::string_view qualifier) {
  out << "#define POOT_MMA " << qualifier << '\n' << (subgroup == 32 ? detail::mma_layout_32 : detail::mma_layout_64);
}
constexpr void write_mma_cpp(text& out, uint32 subgroup) {
  write_mma_layout(out, subgroup, "static inline");
  out << detail::mma_cpp_operands << (subgroup == 32 ? detail::mma_cpp_32 : detail::mma_cpp_64) << detail::mma_cpp_multiply << '\n';
}

}  // namespace poot::emit
