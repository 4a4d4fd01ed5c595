#pragma once
/// Random graphs planned for a device, fused and one dispatch per equation, and what became of them.

#include <poot/ir/print.hpp>
#include <poot/plan/compile.hpp>

#include "../random/graph_generator.hpp"
#include "../random/interpreted.hpp"

#include <cstdio>
#include <cstdlib>

namespace poot_tests {

using namespace poot;

class random_programs {
 public:
  /// Numbers of graphs and the first seed, from a command line.
  random_programs(int argc, char** argv)
      : count_(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 500), first_(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1) {}

  /// Plans each graph for `target_of(seed)`, draws values for `steps` runs, and asks for the first difference from what
  /// the interpreter gives on such a target: `run(program, values, results)`, in words, empty where there is none.
  template <class TargetOf, class Run>
  void on(std::string_view device, int steps, TargetOf target_of, Run run) {
    for (uint64 seed = first_; seed < first_ + count_ && failed_ < 20; ++seed) {
      const ir::graph g = graph_generator(seed).make();
      const runs given = draw_runs(seed, g, steps);
      bool refused = false;
      std::string why;
      plan::options wanted;
      for (const bool fuse : {true, false}) {
        wanted.fuse = fuse;
        plan::program planned;
        try {
          planned = plan::compile(g, target_of(seed), wanted);
          refused = !planned.refused.empty();
          if (refused) break;
          const bool flushes = planned.planned_for.caps.flushes;
          why = run(planned, given,
                    interpret_runs(planned.graph, given, ir::outside::clamp, flushes ? subnormals::flushed : subnormals::kept));
        } catch (const std::exception& e) {
          why = std::string("refused: ") + e.what();
        }
        if (why.empty()) continue;
        const text t = ir::print(fuse ? ir::graph_view(planned.graph) : ir::graph_view(g));
        std::printf("FAIL seed %llu, %s, %s: %s\n%.*s", static_cast<unsigned long long>(seed), std::string(device).c_str(),
                    fuse ? "fused" : "unfused", why.c_str(), static_cast<int>(t.size()), t.str().data());
        break;
      }
      ++(refused ? refused_ : why.empty() ? passed_ : failed_);
    }
  }

  /// Prints the counts; the exit status.
  int finish() const {
    std::printf("refused by the plan: %llu\n", static_cast<unsigned long long>(refused_));
    std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(passed_), static_cast<unsigned long long>(failed_));
    return failed_ ? 1 : 0;
  }

 private:
  uint64 count_, first_, passed_ = 0, failed_ = 0, refused_ = 0;
};

/// The first run in which `machine` gives another result than `want`, in words.
template <class Machine>
std::string first_difference(Machine& machine, const runs& given, const std::vector<ir::interpretation>& want) {
  for (size_t k = 0; k < given.size(); ++k)
    if (const std::string d = difference(want[k], machine.run(given[k])); !d.empty()) return "run " + std::to_string(k) + ": " + d;
  return {};
}

}  // namespace poot_tests
