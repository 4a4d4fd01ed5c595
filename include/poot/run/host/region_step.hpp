#pragma once
/// A launch of a pointwise or row region.

#include <poot/run/host/region.hpp>
#include <poot/run/host/step.hpp>

namespace poot::run::host {

/// The buffers of a tile program, looked up when bindings change.
class region_bindings {
 public:
  void look_up(const tile_program& p, const run_context& c) {
    inputs_.clear();
    outputs_.clear();
    for (const tile_input& in : p.inputs) inputs_.push_back(in.is_head() ? nullptr : c.at(in.id));
    for (const tile_output& out : p.outputs) outputs_.push_back(c.at(out.id));
  }
  /// Lets the last output lie elsewhere, and returns where.
  char* replace_last_output(char* at) {
    outputs_[outputs_.size() - 1] = at;
    return at;
  }
  region_buffers buffers() const { return {inputs_.data(), outputs_.data()}; }

 private:
  vec<const void*> inputs_;
  vec<void*> outputs_;
};

class region_step : public step {
 public:
  region_step(const plan::program_view& p, const plan::launch& l)
      : region_(p.graph, {l.kind == fuse::region_kind::row ? region_kind::row : region_kind::pointwise, p(l.members),
                          p(l.outputs)}) {}

  void prepare(const run_context& c) override {
    bindings_.look_up(region_.program(), c);
    region_.prepare(c.counts, bindings_.buffers());
  }
  void run(const run_context& c) override { region_.run_prepared(bindings_.buffers(), &c.threads); }

 private:
  region region_;
  region_bindings bindings_;
};

}  // namespace poot::run::host
