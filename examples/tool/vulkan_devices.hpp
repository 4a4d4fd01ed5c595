#pragma once
/// What `poot devices` says about Vulkan.

namespace poot::tool {

/// Lists the devices that the loader finds, what was measured of them, and why others cannot be used.
void print_vulkan_devices();

}  // namespace poot::tool
