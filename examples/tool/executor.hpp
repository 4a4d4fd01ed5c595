#pragma once
/// What can run a graph: the interpreter, and whatever a machine offers besides.

#include <poot/ir/interpret.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace poot::tool {

enum class fusion { on, off };

/// Thrown where an executor cannot run a graph for want of a capability, which is no failure of the graph.
struct missing_capability {
  std::string what;
};

/// One graph on one executor. States keep their values from run to run.
class loaded_graph {
 public:
  virtual ~loaded_graph() = default;
  /// Runs once. A state must be given a value before or in the first run; one given later replaces what it holds.
  virtual ir::interpretation run(view<ir::named_tensor> given) = 0;
  /// Launches of one run as planned; none where the executor does not plan.
  virtual std::optional<int64> dispatch_count() const { return std::nullopt; }
  /// What the plan declined to fuse, one sentence each.
  virtual std::vector<std::string> declines() const { return {}; }
};

class executor {
 public:
  virtual ~executor() = default;
  virtual std::string name() const = 0;
  /// Throws `error` for a graph that must be refused. The graph stays alive as long as what is returned.
  virtual std::unique_ptr<loaded_graph> load(const ir::graph& g, fusion fused) const = 0;
};

/// The interpreter and the host; or the one device of that name.
std::vector<std::unique_ptr<executor>> executors(const std::string& device = {});

}  // namespace poot::tool
