#pragma once
/// What a Vulkan device reaches at most.

#include "machine_limits.hpp"

#include <poot/run/vulkan/opened_device.hpp>

namespace poot::tool {

/// The best of plain kernels: copying, reading, and multiply-adds without memory. Takes a few seconds.
machine_limits probe(run::vulkan::opened_device& d);

}  // namespace poot::tool
