#pragma once
/// A launch of one reduction that is no row region: over another axis, or of integers.

#include <poot/run/host/reduction.hpp>
#include <poot/run/host/step.hpp>

namespace poot::run::host {

class reduction_step : public step {
 public:
  reduction_step(const plan::program_view& p, const plan::launch& l)
      : id_(p(l.members)[0]), in_(p.graph.operands(id_)[0]), reduce_(p.graph, id_) {}

  void run(const run_context& c) override { reduce_.run(c.at(in_), c.at(id_), c.counts, &c.threads); }

 private:
  uint32 id_, in_;
  axis_reduction reduce_;
};

}  // namespace poot::run::host
