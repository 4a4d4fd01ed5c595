/// poot::precompiled: the steps of the host.

#include <poot/run/host/launch_steps.hpp>
#include <poot/run/host/make_step.hpp>

namespace poot::run::host {

template <uint64 Layout>
std::unique_ptr<step> precompiled_step(const plan::program_view& p, const plan::launch& l) {
  return step_of(p, l);
}
template std::unique_ptr<step> precompiled_step<step_layout>(const plan::program_view& p, const plan::launch& l);

}  // namespace poot::run::host
