#pragma once
/// The host as an executor of cases.

#include "executor.hpp"

#include <poot/run/host/executor.hpp>

namespace poot::tool {

std::unique_ptr<executor> make_host_executor();

}  // namespace poot::tool
