#pragma once
/// How many of the warps that a multiprocessor can hold are there when a kernel's workgroups fill it.
/// (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; the occupancy calculator of Nsight
/// Compute for how registers and shared memory are handed out.)

#include <poot/run/resources.hpp>

namespace poot::run {

struct multiprocessor {
  std::string_view arch;
  uint32 warps = 0;        ///< at once
  uint32 workgroups = 0;   ///< at once
  int64 shared_bytes = 0;  ///< for all of them
};

/// Of every architecture that `targets` names. Each holds 65,536 registers.
inline constexpr multiprocessor multiprocessors[] = {
    {"sm_80", 64, 32, 164 << 10},  {"sm_89", 48, 24, 100 << 10},  {"sm_90a", 64, 32, 228 << 10},
    {"sm_100", 64, 32, 228 << 10}, {"sm_120", 48, 24, 100 << 10},
};

/// Null where the architecture is none of them.
constexpr const multiprocessor* multiprocessor_of(std::string_view arch) {
  for (const multiprocessor& m : multiprocessors)
    if (m.arch == arch) return &m;
  return nullptr;
}

/// Warps of a full multiprocessor, in percent of those it can hold, rounded down. `workgroup`: invocations.
constexpr uint32 occupancy(const kernel_resources& r, uint32 workgroup, const multiprocessor& m) {
  constexpr uint32 warp = 32, registers = 65536, register_granule = 256;     // of a warp
  constexpr int64 shared_granule = 128;                                      // bytes of a workgroup
  const uint32 warps = (workgroup + warp - 1) / warp;
  const uint32 of_a_warp = (r.registers * warp + register_granule - 1) / register_granule * register_granule;
  const int64 shared = (r.shared_bytes + shared_of_system + shared_granule - 1) / shared_granule * shared_granule;
  uint32 fit = m.workgroups;
  const auto at_most = [&](uint32 n) { fit = n < fit ? n : fit; };
  at_most(m.warps / warps);
  at_most(static_cast<uint32>(m.shared_bytes / shared));
  // A quarter of the registers belongs to each of four schedulers, and a warp to one of them.
  if (of_a_warp > 0) at_most(registers / 4 / of_a_warp * 4 / warps);
  return fit * warps * 100 / m.warps;
}

}  // namespace poot::run
