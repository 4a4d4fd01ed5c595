#pragma once

#define POOT_VERSION_MAJOR 0
#define POOT_VERSION_MINOR 1
#define POOT_VERSION_PATCH 0

namespace poot {
/// The version of this library, as `major.minor.patch`.
inline constexpr const char* version = "0.1.0";
}  // namespace poot
