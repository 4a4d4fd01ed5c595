/// Random graphs on every Vulkan device that is found: bits are those of the interpreter, fused or not, and the validation
/// layer has nothing to say.
///
///     random_vulkan [COUNT [FIRST_SEED]]

#include "../support/vulkan_devices.hpp"
#include "random_programs.hpp"
#include "vulkan_machine.hpp"

using namespace poot_tests;

int main(int argc, char** argv) {
  if (!why_no_vulkan().empty()) {
    std::printf("[SKIP] random graphs on Vulkan: %s\n0 passed, 0 failed, 1 skipped\n", why_no_vulkan().c_str());
    return 0;
  }
  random_programs programs(argc, argv);
  for (int i = 0; i < vulkan_count(); ++i) {
    const run::vulkan::device d(i, {.staging = i % 2 == 1});
    programs.on(d.name(), 2, [&](uint64) { return d.target(); }, [&](const plan::program& planned, const runs& given, const auto& want) {
      vulkan_machine machine(d, planned);
      const std::string wrong = first_difference(machine, given, want);
      return wrong.empty() ? validation_messages() : wrong;
    });
  }
  return programs.finish();
}
