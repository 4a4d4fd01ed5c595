#pragma once
/// The floating-point environment that every kernel needs.

#include <poot/core/float_environment.hpp>

namespace poot::run::host {

using poot::float_environment;

}  // namespace poot::run::host
