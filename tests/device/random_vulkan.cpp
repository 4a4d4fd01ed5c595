/// Random graphs on every Vulkan device that is found: bits are those of the interpreter, fused or not, and the validation
/// layer has nothing to say.
///
///     random_vulkan [COUNT [FIRST_SEED]]

#include "../random/graph_generator.hpp"
#include "../random/interpreted.hpp"
#include "../support/vulkan_devices.hpp"
#include "vulkan_machine.hpp"

#include <cstdlib>

using namespace poot_tests;

namespace {

struct tally {
  uint64 passed = 0, failed = 0, refused = 0;
};

std::string disagreement_on(const run::vulkan::device& d, const plan::program& planned, const runs& given) {
  vulkan_machine machine(d, planned);
  const std::vector<ir::interpretation> want = interpret_runs(planned.graph, given, ir::outside::clamp,
                                                                   d.target().caps.flushes ? subnormals::flushed : subnormals::kept);
  for (size_t k = 0; k < given.size(); ++k)
    if (const std::string wrong = difference(want[k], machine.run(given[k])); !wrong.empty()) return "run " + std::to_string(k) + ": " + wrong;
  return validation_messages();
}

void run_seed(uint64 seed, const run::vulkan::device& d, tally& counts) {
  const ir::graph g = graph_generator(seed).make();
  const runs given = draw_runs(seed, g, 2);
  for (bool fuse : {true, false}) {
    std::string why;
    plan::program planned;
    try {
      plan::options o;
      o.fuse = fuse;
      planned = plan::compile(g, d.target(), o);
      if (!planned.refused.empty()) {
        ++counts.refused;
        return;
      }
      why = disagreement_on(d, planned, given);
    } catch (const std::exception& e) {
      why = std::string("refused: ") + e.what();
    }
    if (why.empty()) continue;
    const text t = ir::print(fuse ? ir::graph_view(planned.graph) : ir::graph_view(g));
    std::printf("FAIL seed %llu, %s, %s: %s\n%.*s", static_cast<unsigned long long>(seed), std::string(d.name()).c_str(), fuse ? "fused" : "unfused",
                why.c_str(), static_cast<int>(t.size()), t.str().data());
    ++counts.failed;
    return;
  }
  ++counts.passed;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64 count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 500;
  const uint64 first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  if (!why_no_vulkan().empty()) {
    std::printf("[SKIP] random graphs on Vulkan: %s\n0 passed, 0 failed, 1 skipped\n", why_no_vulkan().c_str());
    return 0;
  }
  tally counts;
  for (int i = 0; i < vulkan_count(); ++i) {
    const run::vulkan::device d(i, {.staging = i % 2 == 1});
    for (uint64 seed = first; seed < first + count && counts.failed < 20; ++seed) run_seed(seed, d, counts);
  }
  std::printf("refused by the plan: %llu\n", static_cast<unsigned long long>(counts.refused));
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(counts.passed), static_cast<unsigned long long>(counts.failed));
  return counts.failed ? 1 : 0;
}
