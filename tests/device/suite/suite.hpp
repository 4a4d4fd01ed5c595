#pragma once
/// Runs samples on executors, and keeps count.

#include "../executor.hpp"
#include "sample.hpp"

#include <chrono>
#include <map>
#include <mutex>
#include <set>

namespace poot_tests {

/// Of an equation that a target has no form of: its op, and what the target lacks.
using expected_refusals = std::set<std::pair<op, plan::capability>>;

class suite {
 public:
  /// Patient: an executor whose compiler takes long gets all samples too.
  suite(samples all, bool is_patient) : all_(std::move(all)), is_patient_(is_patient) {}

  /// Runs every sample on every executor, two executors at once.
  void run(const executors& on);
  /// Checks that every op was met with every element type that it accepts.
  void check_coverage();
  void skip(const std::string& why);

  /// Prints the counts; the exit status.
  int finish() const;

 private:
  /// What the interpreter makes of a sample: names are those of the graph, which no pass has seen but the one that sets orders.
  struct reference {
    ir::graph ordered;
    std::vector<ir::interpretation> results;  ///< per run
  };
  struct referenced {
    std::string name;
    sample made;
    bool has_long_kernels = false;
    std::map<std::pair<bool, bool>, reference> wanted;  ///< by fma_fused and flushes
    const std::vector<ir::interpretation>& on(const device_caps& caps, std::mutex& making);
  };
  /// Both plans of a sample.
  struct planned_sample {
    plan::program fused, unfused;
  };
  struct counts {
    int ran = 0;
    std::set<std::pair<op, dtype>> met;  ///< ops that ran, by the type of their first operand
    int long_kernels = 0, left_out = 0;  ///< programs that add no op to those, and those of them that were left out
    std::map<std::string, int> refused;  ///< programs, by what is missing
    std::chrono::duration<double> took{};
  };

  void run_some(executor& e, std::vector<referenced>& some);
  void run_one(executor& e, referenced& r, const planned_sample& p, counts& c);
  static std::string refused(executor& e, const referenced& r, const planned_sample& p, counts& c);
  /// Whether the executor is spared a sample, because others have shown it these ops.
  bool is_left_out(const executor& e, const referenced& r, const ir::graph_view& planned, counts& c) const;
  void check(const std::string& wrong, const std::string& where);

  samples all_;
  bool is_patient_;
  std::map<std::string, counts> counted_;  ///< by executor
  std::mutex counting_, making_;  ///< of counts, and of what the interpreter gives
  int passed_ = 0, failed_ = 0, skipped_ = 0;
};

}  // namespace poot_tests
