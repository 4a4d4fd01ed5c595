#pragma once
/// The kernel of a launch: one generator for each family.

#include <poot/kernel/attention.hpp>
#include <poot/kernel/contraction.hpp>
#include <poot/kernel/metadata.hpp>
#include <poot/kernel/movement.hpp>
#include <poot/kernel/pointwise.hpp>
#include <poot/kernel/random.hpp>
#include <poot/kernel/rope.hpp>
#include <poot/kernel/row.hpp>

namespace poot::kernel {

/// `l` is a launch of `p`, or of its prologue. Throws where a device has no form of an equation, which the planner
/// refuses before.
constexpr kernel generate(const program_view& p, const launch& l) {
  switch (l.kind) {
    case fuse::region_kind::pointwise: return pointwise_kernel(p, l);
    case fuse::region_kind::row: return row_kernel(p, l);
    case fuse::region_kind::reduction: return reduction_kernel(p, l);
    case fuse::region_kind::contraction: return contraction_kernel(p, l);
    case fuse::region_kind::movement: return movement_kernel(p, l);
    case fuse::region_kind::rope: return rope_kernel(p, l);
    case fuse::region_kind::attention: return attention_kernel(p, l);
    case fuse::region_kind::generator: break;
  }
  return random_kernel(p, l);
}

}  // namespace poot::kernel
