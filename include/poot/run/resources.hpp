#pragma once
/// What a compiled kernel takes of a multiprocessor, read from what the compiler made, without a device.
///
///     const run::kernel_resources r = run::resources_of_cubin(code);
///     const double part = run::occupancy(r, 64, run::multiprocessor_of("sm_90a"));

#include <poot/run/elf.hpp>

#include <string>

namespace poot::run {

struct kernel_resources {
  uint32 registers = 0;    ///< of 32 bits, an invocation; vector registers where there are scalar ones too
  int64 shared_bytes = 0;  ///< of a workgroup, fixed when it was compiled
  int64 stack_bytes = 0;   ///< an invocation: spilled registers, and arrays that found none
  constexpr bool operator==(const kernel_resources&) const = default;
};

/// Bytes of shared memory that the system takes with each workgroup, from sm_80 on.
inline constexpr int64 shared_of_system = 1024;

namespace detail {

/// The entry of every text that `emit` writes.
inline constexpr std::string_view entry_name = "poot_kernel";

/// The value that the `.nv.info` section gives the symbol for an attribute; 0 where it gives none. The section is a list
/// of attributes: a byte of format, a byte of kind, 16 bits that are the value or, in format 4, the number of bytes that
/// follow. Attributes of functions are of format 4 and hold the index of a symbol and a value, 32 bits each.
/// (`nvdisasm` and `cuobjdump --dump-elf` of the CUDA toolkit print them under the names below.)
inline uint32 attribute_of(view<uint8> info, uint8 kind, uint32 symbol) {
  constexpr uint8 sized = 4;  // EIFMT_SVAL
  for (uint64 at = 0; at + 4 <= info.size();) {
    const uint16 size = info[at] == sized ? elf::read<uint16>(info, at + 2) : uint16{0};
    if (info[at] == sized && info[at + 1] == kind && size >= 8 && elf::read<uint32>(info, at + 4) == symbol)
      return elf::read<uint32>(info, at + 8);
    at += 4 + uint64{size};
  }
  return 0;
}

}  // namespace detail

/// Of the kernel in a CUBIN that NVRTC made of a text of `emit`. Throws `error` where there is none.
inline kernel_resources resources_of_cubin(view<uint8> cubin) {
  constexpr uint8 regcount = 0x2f, frame_size = 0x11;  // EIATTR_REGCOUNT, EIATTR_FRAME_SIZE
  const elf file(cubin);
  const auto entry = file.find(detail::entry_name);
  const auto info = file.section(".nv.info");
  if (!entry || !info) fail("resources: the CUBIN says nothing of a kernel poot_kernel");
  kernel_resources r;
  r.registers = detail::attribute_of(info->bytes, regcount, entry->index);
  r.stack_bytes = detail::attribute_of(info->bytes, frame_size, entry->index);
  if (const auto local = file.section(".nv.local." + std::string(detail::entry_name))) r.stack_bytes += static_cast<int64>(local->size);
  if (const auto shared = file.section(".nv.shared." + std::string(detail::entry_name))) r.shared_bytes = static_cast<int64>(shared->size);
  // From sm_90 on that begins with what the system takes of each workgroup.
  if (r.shared_bytes > 0 && file.section(".nv.shared.reserved.0")) r.shared_bytes -= shared_of_system;
  if (r.registers == 0) fail("resources: the CUBIN does not say how many registers poot_kernel takes");
  return r;
}

/// Of the kernel in a code object that hiprtc made of a text of `emit` for `arch`, from its kernel descriptor (LLVM, "User
/// Guide for AMDGPU Backend", Code Object V3 Kernel Descriptor): bytes of shared memory, bytes of private memory, and in
/// the lowest six bits of compute_pgm_rsrc1 how many granules of vector registers. Throws `error` where there is none.
inline kernel_resources resources_of_code_object(view<uint8> code, std::string_view arch) {
  const elf file(code);
  const auto descriptor = file.find("poot_kernel.kd");
  if (!descriptor) fail("resources: the code object has no kernel poot_kernel");
  const uint32 granule = arch == "gfx90a" || arch.starts_with("gfx10") ? 8 : 4;  // registers; those of gfx10 in waves of 32
  for (uint32 i = 0; i < file.sections(); ++i) {
    const elf::section_row s = file.section(i);
    if (s.bytes.empty() || descriptor->value < s.address || descriptor->value - s.address >= s.size) continue;
    const uint64 at = descriptor->value - s.address;
    return {((elf::read<uint32>(s.bytes, at + 48) & 63) + 1) * granule, elf::read<uint32>(s.bytes, at), elf::read<uint32>(s.bytes, at + 4)};
  }
  fail("resources: the descriptor of poot_kernel lies in no section");
}

}  // namespace poot::run
