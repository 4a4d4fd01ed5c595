/// Random graphs through the generated kernels: on every executor of kernels the bits are those of the interpreter.
///
///     random_kernels [COUNT [FIRST_SEED]]

#include "kernel_machine.hpp"
#include "random_programs.hpp"

using namespace poot_tests;

int main(int argc, char** argv) {
  random_programs programs(argc, argv);
  // A device without a fused multiply-add sums in another order of roundings, which its graph carries.
  const auto target_of = [](uint64 seed) {
    return seed % 3 == 0 ? targets::cuda_sm80 : seed % 3 == 1 ? targets::vulkan_lavapipe : targets::vulkan_swiftshader;
  };
  programs.on("kernel interpreter", 1, target_of, [](const plan::program& planned, const runs& given, const auto& want) {
    kernel_machine machine(planned);
    return first_difference(machine, given, want);
  });
  return programs.finish();
}
