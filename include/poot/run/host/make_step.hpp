#pragma once
/// The step that runs a launch.

#include <poot/core/precompiled.hpp>
#ifdef POOT_PRECOMPILED
#include <poot/run/host/step.hpp>
#else
#include <poot/run/host/launch_steps.hpp>
#endif

#include <memory>

namespace poot::run::host {

/// In poot::precompiled.
template <uint64 Layout>
std::unique_ptr<step> precompiled_step(const plan::program_view& p, const plan::launch& l);
inline constexpr uint64 step_layout = mix(plan::program_layout, layout_of<run_context, stored_weight, pool>);

inline std::unique_ptr<step> make_step(const plan::program_view& p, const plan::launch& l) {
#ifdef POOT_PRECOMPILED
  return precompiled_step<step_layout>(p, l);
#else
  return step_of(p, l);
#endif
}

}  // namespace poot::run::host
