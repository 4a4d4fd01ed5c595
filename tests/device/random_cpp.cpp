/// Random graphs through the C++ text of their kernels, compiled: bits are those of the interpreter, fused or not.
///
///     random_cpp [COUNT [FIRST_SEED]]

#include "random_programs.hpp"

using namespace poot_tests;

int main(int argc, char** argv) {
  std::string why_not;
  const executors all = compiled_texts(why_not);
  if (all.empty()) {
    std::printf("[SKIP] random graphs as C++ text: %s\n0 passed, 0 failed, 1 skipped\n", why_not.c_str());
    return 0;
  }
  random_programs programs(argc, argv, 50);
  for (const auto& e : all) programs.on(*e, 2);
  return programs.finish();
}
