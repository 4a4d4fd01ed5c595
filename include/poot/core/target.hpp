#pragma once
/// What a program is planned for: a backend and what its device can do. Numeric capabilities are measured on a real
/// device; the named targets below state those of the hardware they name.

#include <poot/core/integers.hpp>

#include <string_view>

namespace poot {

enum class backend : uint8 { host, cuda, hip, vulkan, aie };

constexpr std::string_view name(backend b) {
  switch (b) {
    case backend::host: return "host";
    case backend::cuda: return "cuda";
    case backend::hip: return "hip";
    case backend::vulkan: return "vulkan";
    case backend::aie: return "aie";
  }
  return "";
}

/// What a program's kernels compile for, as its compiler spells it: `sm_90a`, `gfx1030`. Empty where there is one only.
struct architecture {
  static constexpr size_t longest = 15;  ///< characters
  char chars[longest + 1]{};
  constexpr architecture() = default;
  constexpr architecture(std::string_view spelt) {
    for (size_t i = 0; i < spelt.size() && i < longest; ++i) chars[i] = spelt[i];
  }
  constexpr std::string_view view() const { return chars; }
  constexpr bool operator==(const architecture&) const = default;
};

struct device_caps {
  int32 max_buffers = 0;         ///< that one kernel can bind, beside its metadata
  int32 max_members = 0;         ///< equations of one region, those of turns once: what compiles a kernel takes long over more
  int64 buffer_bytes = 0;        ///< of one buffer that a kernel can reach
  int32 max_groups_x = 0;        ///< workgroups along the first grid axis
  int32 max_groups_y = 0;        ///< workgroups along the second
  int32 max_workgroup = 0;       ///< invocations of a workgroup
  int32 shared_bytes = 0;        ///< workgroup memory, bytes
  int32 subgroup = 0;            ///< invocations that step together; 0 where there are none
  bool fma_fused = false;        ///< fma rounds once
  bool flushes = false;          ///< subnormals become zero
  bool div_exact = false;        ///< division is rounded correctly
  bool sqrt_exact = false;       ///< so is the square root
  bool max_nan = false;          ///< max and min of a NaN are NaN
  bool pack_rne = false;         ///< packing to f16 rounds to nearest even, subnormals too
  bool rope = false;             ///< there is a kernel for rope
  bool attention = false;        ///< there is a kernel for attention
  bool matrix_bf16 = false;      ///< subgroups multiply 16 × 16 × 16 bf16 as one, and add in f32
  bool matrix_f16 = false;       ///< the same of f16
  /// Few invocations step together, as lanes of a processor's vectors: a barrier costs much, and shared memory saves nothing.
  constexpr bool is_processor() const { return subgroup != 0 && subgroup < 16; }
  /// Columns of one row of a product that a workgroup computes at once: 64 invocations, on processors of four columns each.
  constexpr int32 run_columns() const { return is_processor() ? 256 : 64; }
  constexpr bool operator==(const device_caps&) const = default;
};

/// What an array of AI Engine tiles has: columns of compute tiles, each column over one memory tile. 0 on other targets.
struct aie_caps {
  int32 columns = 0;
  int32 rows = 0;               ///< compute tiles of a column
  int32 tile_bytes = 0;         ///< data memory of a compute tile
  int32 program_bytes = 0;      ///< program memory of a compute tile
  int32 memory_tile_bytes = 0;  ///< of the memory tile of a column
  int32 vector_bits = 0;        ///< of the widest access to data memory
  constexpr bool operator==(const aie_caps&) const = default;
};

struct target {
  backend kind = backend::host;
  device_caps caps{};
  architecture arch{};
  aie_caps tiles{};
  constexpr bool operator==(const target&) const = default;
};

namespace targets {

namespace detail {
inline constexpr int32 no_limit = 0x7fffffff;
inline constexpr int64 word_indexed = int64{1} << 34;  // bytes: kernels index words by 32 bits

inline constexpr int32 kernel_members = 160;      // drivers compile long kernels slowly; all that chooses a token has place
inline constexpr int32 swiftshader_members = 64;  // it ends the process where a kernel's variables outgrow its stack

/// Division and square root as the compilers round them by default; fmax drops a NaN. 4 KiB of arguments.
constexpr device_caps gpu_caps(int32 shared_bytes, int32 subgroup) {
  return {.max_buffers = 511, .max_members = kernel_members, .buffer_bytes = word_indexed, .max_groups_x = no_limit, .max_groups_y = 65535,
          .max_workgroup = 1024, .shared_bytes = shared_bytes, .subgroup = subgroup, .fma_fused = true, .flushes = false, .div_exact = true,
          .sqrt_exact = true, .max_nan = false, .pack_rne = true, .rope = true, .attention = true};
}
constexpr target with_matrix_units(target t) {
  t.caps.matrix_bf16 = true;
  return t;
}
constexpr target cuda(std::string_view arch) { return with_matrix_units({backend::cuda, gpu_caps(48 << 10, 32), arch}); }
constexpr target hip(std::string_view arch, int32 subgroup) { return {backend::hip, gpu_caps(64 << 10, subgroup), arch}; }
/// A buffer takes one of the 16 descriptors of a tile's DMA, whose lengths are words of 32 bits. It has no workgroups. No
/// arithmetic was measured, so none is promised.
constexpr target aie(std::string_view arch, int32 columns, int32 vector_bits) {
  return {backend::aie, {.max_buffers = 16, .max_members = 32, .buffer_bytes = word_indexed, .max_groups_x = no_limit, .max_groups_y = no_limit}, arch,
          {.columns = columns, .rows = 4, .tile_bytes = 64 << 10, .program_bytes = 16 << 10, .memory_tile_bytes = 512 << 10, .vector_bits = vector_bits}};
}
}  // namespace detail

/// The CPU this program runs on, whatever its instruction set: that is chosen when a kernel starts. It runs no workgroups.
inline constexpr target host{backend::host,
                             {.max_buffers = 128, .max_members = 1024, .buffer_bytes = int64{1} << 62, .max_groups_x = detail::no_limit,
                              .max_groups_y = detail::no_limit, .max_workgroup = 0, .shared_bytes = 0, .subgroup = 0, .fma_fused = true, .flushes = false,
                              .div_exact = true, .sqrt_exact = true, .max_nan = true, .pack_rne = true,
                              .rope = true, .attention = true}};

/// Shared memory is that of arrays of a fixed size.
inline constexpr target cuda_sm80 = detail::cuda("sm_80"), cuda_sm89 = detail::cuda("sm_89"), cuda_sm90a = detail::cuda("sm_90a"),
                        cuda_sm100 = detail::cuda("sm_100"), cuda_sm120 = detail::cuda("sm_120");
inline constexpr target hip_gfx906 = detail::hip("gfx906", 64), hip_gfx90a = detail::with_matrix_units(detail::hip("gfx90a", 64)),
                        hip_gfx1030 = detail::hip("gfx1030", 32);
/// Mesa 22.3.
inline constexpr target vulkan_lavapipe{backend::vulkan,
                                        {.max_buffers = 31, .max_members = detail::kernel_members, .buffer_bytes = 128 << 20, .max_groups_x = 65535,
                                         .max_groups_y = 65535, .max_workgroup = 1024, .shared_bytes = 32 << 10, .subgroup = 8, .fma_fused = false,
                                         .flushes = false, .div_exact = true, .sqrt_exact = true, .max_nan = false, .pack_rne = true,
                                         .rope = true, .attention = true}};
/// That of Chromium.
inline constexpr target vulkan_swiftshader{backend::vulkan,
                                           {.max_buffers = 29, .max_members = detail::swiftshader_members, .buffer_bytes = 1 << 30, .max_groups_x = 65535,
                                            .max_groups_y = 65535, .max_workgroup = 256, .shared_bytes = 32 << 10, .subgroup = 4, .fma_fused = false,
                                            .flushes = true, .div_exact = true, .sqrt_exact = true, .max_nan = false, .pack_rne = false,
                                            .rope = true, .attention = true}};
/// Ryzen AI of the first (XDNA) and second generation (XDNA 2): programs are planned and printed for them, and nothing runs
/// them. (AMD: UG1603 "AI Engine-ML Kernel and Graph Programming Guide", memories; AM020 "Versal AI Engine-ML Architecture
/// Manual", descriptors; UG1529 "AI Engine API User Guide", accesses; MLIR-AIE's devices npu1 and npu2, columns and rows.)
inline constexpr target aie_npu1 = detail::aie("npu1", 4, 256), aie_npu2 = detail::aie("npu2", 8, 512);

struct named_target {
  std::string_view name;
  target is;
};
inline constexpr named_target named[] = {
    {"host", host},
    {"cuda_sm80", cuda_sm80},
    {"cuda_sm89", cuda_sm89},
    {"cuda_sm90a", cuda_sm90a},
    {"cuda_sm100", cuda_sm100},
    {"cuda_sm120", cuda_sm120},
    {"hip_gfx906", hip_gfx906},
    {"hip_gfx90a", hip_gfx90a},
    {"hip_gfx1030", hip_gfx1030},
    {"vulkan_lavapipe", vulkan_lavapipe},
    {"vulkan_swiftshader", vulkan_swiftshader},
    {"aie_npu1", aie_npu1},
    {"aie_npu2", aie_npu2},
};

}  // namespace targets

}  // namespace poot
