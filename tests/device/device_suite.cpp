/// One suite on every executor: bits are those of the interpreter under the executor's caps, fused and unfused; what an executor
/// cannot do is refused by the equation and the capability that say so.
///
///     device_suite [EVERY [NAME]]      samples 0, EVERY, 2·EVERY, … of those whose name begins with NAME

#include "suite/suite.hpp"

#include <cstdio>
#include <cstdlib>

using namespace poot_tests;

int main(int argc, char** argv) {
  const size_t every = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::string begins = argc > 2 ? argv[2] : "";
  if (every == 0) {
    std::fprintf(stderr, "device_suite [EVERY [NAME]]: EVERY is at least 1\n");
    return 2;
  }
  samples all;
  size_t count = 0;
  const auto add_family = [&](samples family, bool has_long_kernels) {
    for (listed_sample& s : family) {
      if (!s.name.starts_with(begins) || count++ % every != 0) continue;
      s.has_long_kernels = has_long_kernels;
      all.push_back(std::move(s));
    }
  };
  for (auto* family : {pointwise_samples, cast_samples, movement_samples, leaf_samples, state_samples}) add_family(family(), false);
  for (auto* family : {reduction_samples, row_samples, contraction_samples, run_samples, packed_samples, dynamic_samples, chain_samples, tail_samples}) add_family(family(), true);
  suite tests(std::move(all), std::getenv("POOT_LONG") != nullptr);

  executors on;
  std::string why_not;
  const auto add = [&](executors more, const char* what) {
    if (more.empty()) tests.skip(std::string(what) + ": " + why_not);
    for (auto& e : more) on.push_back(std::move(e));
  };
#ifdef POOT_TEST_VULKAN
  add(vulkan_devices(why_not), "Vulkan");  // the slowest begin
#else
  tests.skip("Vulkan: the headers were not found when this program was built");
#endif
  add(compiled_texts(why_not), "C++ text");
  add(kernel_interpreters(), "kernel interpreter");
  add(hosts(), "host");
  tests.run(on);
  if (every == 1 && begins.empty()) tests.check_coverage();
  return tests.finish();
}
