#pragma once
/// The step that runs a launch.

#include <poot/run/host/attention_step.hpp>
#include <poot/run/host/contraction_launch.hpp>
#include <poot/run/host/movement_step.hpp>
#include <poot/run/host/reduction_step.hpp>
#include <poot/run/host/region_step.hpp>
#include <poot/run/host/rope_step.hpp>

#include <memory>

namespace poot::run::host {

inline std::unique_ptr<step> make_step(const plan::program_view& p, const plan::launch& l) {
  switch (l.kind) {
    case fuse::region_kind::pointwise:
    case fuse::region_kind::row: return std::make_unique<region_step>(p, l);
    case fuse::region_kind::contraction: return std::make_unique<contraction_launch>(p, l);
    case fuse::region_kind::rope: return std::make_unique<rope_step>(p, l);
    case fuse::region_kind::attention: return std::make_unique<attention_step>(p, l);
    case fuse::region_kind::reduction: return std::make_unique<reduction_step>(p, l);
    default: return std::make_unique<movement_step>(p, l);
  }
}

}  // namespace poot::run::host
