#pragma once
/// A device as an executor of cases.

#include "executor.hpp"

namespace poot::tool {

/// `device`: as `open_device` takes it.
std::unique_ptr<executor> make_device_executor(const std::string& device);

}  // namespace poot::tool
