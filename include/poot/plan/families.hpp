#pragma once
/// What each family of kernels on a device takes beside its head. fuse/ groups by these rules, the generators of kernel/ implement
/// them, and tests/unit/plan/families.cpp holds the three together.

#include <poot/fuse/region.hpp>

namespace poot::plan {

/// Pointwise steps in one dispatch with a head: none; those that read its result; also those whose result it reads.
enum class steps : uint8 { none, behind, around };

constexpr std::string_view name(steps s) { return s == steps::none ? "none" : s == steps::behind ? "behind" : "around"; }

struct family {
  fuse::region_kind kind{};
  steps takes = steps::none;
  bool imports = false;  ///< some of its launches take a shipped kernel
};

inline constexpr family families[] = {
    {fuse::region_kind::pointwise, steps::around, true},
    {fuse::region_kind::row, steps::around, true},
    {fuse::region_kind::contraction, steps::behind, true},  // but products of matrix units, which take none
    {fuse::region_kind::reduction, steps::none, false},
    {fuse::region_kind::movement, steps::behind, true},
    {fuse::region_kind::generator, steps::none, true},
    {fuse::region_kind::rope, steps::behind, false},
    {fuse::region_kind::attention, steps::none, false},
};

}  // namespace poot::plan
