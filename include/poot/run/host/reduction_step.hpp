#pragma once
/// A launch of one reduction that is no row region: over another axis, or of integers.

#include <poot/ir/detail/interpret_reduction.hpp>
#include <poot/run/host/step.hpp>

namespace poot::run::host {

class reduction_step : public step {
 public:
  reduction_step(const plan::program_view& p, const plan::launch& l) : id_(p(l.members)[0]) {}

  void run(const run_context& c) override {
    const ir::graph_view& g = c.program.graph;
    const uint32 in = g.operands(id_)[0];
    ir::tensor x(c.type(in)), r(c.type(id_));
    const size_t bytes = row(x.type.element).block_bytes, result_bytes = row(r.type.element).block_bytes;
    for (size_t i = 0; i < x.bits.size(); ++i) std::memcpy(&x.bits[i], c.at(in) + i * bytes, bytes);
    ir::detail::reduce(g[id_].kind, g[id_].sum, x, static_cast<int>(g.attrs(id_)[0]), r);
    for (size_t i = 0; i < r.bits.size(); ++i) std::memcpy(c.at(id_) + i * result_bytes, &r.bits[i], result_bytes);
  }

 private:
  uint32 id_;
};

}  // namespace poot::run::host
