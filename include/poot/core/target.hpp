#pragma once
/// What a program is planned for: a backend and what its device can do. Numeric capabilities are measured on a real
/// device; the named targets below state those of the hardware they name.

#include <poot/core/integers.hpp>

#include <string_view>

namespace poot {

enum class backend : uint8 { host, cuda, hip, vulkan };

constexpr std::string_view name(backend b) {
  switch (b) {
    case backend::host: return "host";
    case backend::cuda: return "cuda";
    case backend::hip: return "hip";
    case backend::vulkan: return "vulkan";
  }
  return "";
}

struct device_caps {
  int32 max_buffers = 0;         ///< that one kernel can bind
  int32 max_groups_x = 0;        ///< workgroups along the first grid axis
  int32 shared_bytes = 0;        ///< workgroup memory, bytes
  bool fma_fused = false;        ///< fma rounds once
  bool flushes = false;          ///< subnormals become zero
  constexpr bool operator==(const device_caps&) const = default;
};

struct target {
  backend kind = backend::host;
  device_caps caps{};
  constexpr bool operator==(const target&) const = default;
};

namespace targets {
/// The CPU this program runs on, whatever its instruction set: that is chosen when a kernel starts.
inline constexpr target host{backend::host, {128, 0x7fffffff, 0, true, false}};
}  // namespace targets

}  // namespace poot
