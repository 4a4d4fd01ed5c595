/// Random graphs through the generated kernels: on every executor of kernels the bits are those of the interpreter.
///
///     random_kernels [COUNT [FIRST_SEED]]

#include "kernel_machine.hpp"

#include "../random/interpreted.hpp"
#include "../random/graph_generator.hpp"

#include <cstdio>
#include <cstdlib>

using namespace poot_tests;

namespace {

struct tally {
  uint64 passed = 0, failed = 0, refused = 0;
};

/// Where kernels and interpreter differ first, in words.
std::string disagreement_on(const plan::program& planned, const runs& given, const std::vector<ir::interpretation>& want) {
  kernel_machine machine(planned);
  for (size_t k = 0; k < given.size(); ++k)
    if (const std::string d = difference(want[k], machine.run(given[k])); !d.empty()) return "run " + std::to_string(k) + ": " + d;
  return {};
}

void run_seed(uint64 seed, tally& counts) {
  const ir::graph g = graph_generator(seed).make();
  const runs given = draw_runs(seed, g, 1);
  // A device without a fused multiply-add sums in another order of roundings, which its graph carries.
  const target where = seed % 3 == 0 ? targets::cuda_sm80 : seed % 3 == 1 ? targets::vulkan_lavapipe : targets::vulkan_swiftshader;
  const subnormals small = where.caps.flushes ? subnormals::flushed : subnormals::kept;
  for (bool fuse : {true, false}) {
    std::string why;
    plan::program planned;
    try {
      plan::options o;
      o.fuse = fuse;
      planned = plan::compile(g, where, o);
      if (!planned.refused.empty()) {
        ++counts.refused;
        return;
      }
      why = disagreement_on(planned, given, interpret_runs(planned.graph, given, ir::outside::clamp, small));
    } catch (const std::exception& e) {
      why = std::string("refused: ") + e.what();
    }
    if (why.empty()) continue;
    const text t = ir::print(fuse ? ir::graph_view(planned.graph) : ir::graph_view(g));
    std::printf("FAIL seed %llu, %s: %s\n%.*s", static_cast<unsigned long long>(seed), fuse ? "fused" : "unfused", why.c_str(),
                static_cast<int>(t.size()), t.str().data());
    ++counts.failed;
    return;
  }
  ++counts.passed;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64 count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 500;
  const uint64 first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  tally counts;
  for (uint64 i = 0; i < count && counts.failed < 20; ++i) run_seed(first + i, counts);
  std::printf("refused by the plan: %llu\n", static_cast<unsigned long long>(counts.refused));
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(counts.passed), static_cast<unsigned long long>(counts.failed));
  return counts.failed ? 1 : 0;
}
