#pragma once
/// The interpreter as an executor of cases.

#include "executor.hpp"

namespace poot::tool {

/// `index` says whether indices outside are refused, or clamped as devices do.
std::unique_ptr<executor> make_interpreter(ir::outside index);

}  // namespace poot::tool
