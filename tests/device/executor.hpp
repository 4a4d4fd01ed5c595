#pragma once
/// What programs run on in these tests: an executor makes them ready, a machine runs one.

#include <poot/ir/interpret.hpp>
#include <poot/plan/program.hpp>

#include <memory>
#include <string>
#include <vector>

namespace poot_tests {

using namespace poot;

/// A loaded program with memory of its own.
class machine {
 public:
  virtual ~machine() = default;
  /// One step: what it computes, and what the states hold after it. Values of states count in the first one only.
  virtual ir::interpretation run(const std::vector<ir::named_tensor>& values) = 0;
};

class executor {
 public:
  virtual ~executor() = default;
  virtual std::string name() const = 0;
  /// What programs are planned for.
  virtual target where() const = 0;
  /// Its compiler takes long over kernels of contractions and of rows: where one of their kind has run, one in so many of the
  /// others does.
  virtual size_t one_long_kernel_in() const { return 1; }
  /// Told of programs that will be loaded, so that what they need can be compiled together.
  virtual void prepare(const std::vector<plan::program>&) {}
  /// Throws `error` where the program cannot run here.
  virtual std::unique_ptr<machine> load(plan::program p) = 0;
  /// What was said against the runs since the call before.
  virtual std::string complaints() { return {}; }
};

using executors = std::vector<std::unique_ptr<executor>>;

/// Interpreters of kernels, for a device with a fused multiply-add, one without, whose grids are small, and one that flushes
/// subnormals.
executors kernel_interpreters();
/// The C++ text of kernels, compiled, for small grids; empty, with the reason in `why_not`, where there is no compiler.
executors compiled_texts(std::string& why_not);
executors hosts();
/// Every Vulkan device that is found; empty, with the reason in `why_not`, where there is none.
executors vulkan_devices(std::string& why_not);

}  // namespace poot_tests
