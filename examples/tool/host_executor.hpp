#pragma once
/// The host as an executor of cases.

#include "executor.hpp"

#include <poot/run/host/executor.hpp>

namespace poot::tool {

std::unique_ptr<executor> make_host_executor();
std::unique_ptr<loaded_graph> load_on_host(const ir::graph& g, const plan::options& wanted, int threads);

}  // namespace poot::tool
