/// Random graphs on every Vulkan device that is found: bits are those of the interpreter, fused or not, and the validation
/// layer has nothing to say.
///
///     random_vulkan [COUNT [FIRST_SEED]]

#include "random_programs.hpp"

using namespace poot_tests;

int main(int argc, char** argv) {
  std::string why_not;
  const executors all = vulkan_devices(why_not);
  if (all.empty()) {
    std::printf("[SKIP] random graphs on Vulkan: %s\n0 passed, 0 failed, 1 skipped\n", why_not.c_str());
    return 0;
  }
  random_programs programs(argc, argv, 500);
  for (const auto& e : all) programs.on(*e, 2);
  return programs.finish();
}
