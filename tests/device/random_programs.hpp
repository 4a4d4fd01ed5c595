#pragma once
/// Random graphs planned for an executor, fused and one dispatch per equation, every other one with attention in parts, and what became of them.

#include "executor.hpp"

#include <poot/ir/print.hpp>
#include <poot/plan/compile.hpp>

#include "../random/graph_generator.hpp"
#include "../random/interpreted.hpp"

#include <cstdio>
#include <cstdlib>

namespace poot_tests {

/// The first run in which `m` gives another result than `want`, in words.
inline std::string first_difference(machine& m, const runs& given, const std::vector<ir::interpretation>& want) {
  for (size_t k = 0; k < given.size(); ++k)
    if (const std::string d = difference(want[k], m.run(given[k])); !d.empty()) return "run " + std::to_string(k) + ": " + d;
  return {};
}

class random_programs {
 public:
  /// Numbers of graphs and the first seed, from a command line.
  random_programs(int argc, char** argv, uint64 usual_count)
      : count_(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : usual_count), first_(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1) {}

  /// Runs every seed that leaves `remainder` divided by `of`, `steps` runs of each.
  void on(executor& e, int steps, uint64 remainder = 0, uint64 of = 1) {
    std::vector<planned_graph> batch;
    for (uint64 seed = first_; seed < first_ + count_ && failed_ < most_failures; ++seed) {
      if (seed % of == remainder) batch.push_back({seed, {}, {}});
      if (batch.size() < batch_size && seed + 1 < first_ + count_) continue;
      run(e, batch, steps);
      batch.clear();
    }
  }

  /// Prints the counts; the exit status.
  int finish() const {
    std::printf("refused by the plan: %llu\n", static_cast<unsigned long long>(refused_));
    std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(passed_), static_cast<unsigned long long>(failed_));
    return failed_ ? 1 : 0;
  }

 private:
  static constexpr size_t batch_size = 16;
  static constexpr uint64 most_failures = 20;

  struct planned_graph {
    uint64 seed = 0;
    ir::graph drawn;
    std::vector<plan::program> planned;  ///< fused and unfused; none where the plan refuses
  };

  void run(executor& e, std::vector<planned_graph>& batch, int steps) {
    std::vector<plan::program> coming;
    for (planned_graph& g : batch) {
      g.drawn = graph_generator(g.seed).make();
      plan::options wanted;
      if (g.seed % 2 == 1) wanted.split_keys = 0;
      for (const bool fuse : {true, false}) {
        wanted.fuse = fuse;
        plan::program p = plan::compile(g.drawn, e.where(), wanted);
        if (!p.refused.empty()) break;
        coming.push_back(p);
        g.planned.push_back(std::move(p));
      }
    }
    e.prepare(coming);
    for (const planned_graph& g : batch) ++(g.planned.empty() ? refused_ : agrees(e, g, steps) ? passed_ : failed_);
  }

  /// Says what differs.
  bool agrees(executor& e, const planned_graph& g, int steps) const {
    const runs given = draw_runs(g.seed, g.drawn, steps);
    const bool flushes = e.where().caps.flushes;
    for (const plan::program& p : g.planned) {
      const bool fused = &p == &g.planned.front();
      const text t = ir::print(fused ? ir::graph_view(p.graph) : ir::graph_view(g.drawn));
      std::string why;
      try {
        const auto want = interpret_runs(p.graph, given, ir::outside::clamp, flushes ? subnormals::flushed : subnormals::kept);
        const std::unique_ptr<machine> m = e.load(p);
        why = first_difference(*m, given, want);
        if (why.empty()) why = e.complaints();
      } catch (const std::exception& thrown) {
        why = std::string("refused: ") + thrown.what();
      }
      if (why.empty()) continue;
      std::printf("FAIL seed %llu, %s, %s: %s\n%.*s", static_cast<unsigned long long>(g.seed), e.name().c_str(),
                  fused ? "fused" : "unfused", why.c_str(), static_cast<int>(t.size()), t.str().data());
      return false;
    }
    return true;
  }

  uint64 count_, first_, passed_ = 0, failed_ = 0, refused_ = 0;
};

}  // namespace poot_tests
