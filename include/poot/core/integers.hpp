#pragma once
/// The fixed-width integers that every stage names. (`i32`, `u8` and so on are element types: core/dtype.)

#include <cstddef>
#include <cstdint>

namespace poot {
using int8 = std::int8_t;
using uint8 = std::uint8_t;
using int16 = std::int16_t;
using uint16 = std::uint16_t;
using int32 = std::int32_t;
using uint32 = std::uint32_t;
using int64 = std::int64_t;
using uint64 = std::uint64_t;
using std::size_t;
}  // namespace poot
