/// Random graphs through the generated kernels: on every executor of kernels the bits are those of the interpreter.
///
///     random_kernels [COUNT [FIRST_SEED]]

#include "random_programs.hpp"

using namespace poot_tests;

int main(int argc, char** argv) {
  random_programs programs(argc, argv, 500);
  const executors all = kernel_interpreters();
  for (size_t i = 0; i < all.size(); ++i) programs.on(*all[i], 1, i, all.size());
  return programs.finish();
}
