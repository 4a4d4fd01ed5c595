#pragma once
/// Programs whose kernels show what generated kernels take of a device: a layer of a llama in decode and in prefill, and
/// every family by itself.

#include <poot/ir/graph.hpp>

#include <string>
#include <utility>
#include <vector>

namespace poot_tests {

std::vector<std::pair<std::string, poot::ir::graph>> resource_programs();

}  // namespace poot_tests
