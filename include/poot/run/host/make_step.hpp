#pragma once
/// The step that runs a launch.

#include <poot/run/host/attention_step.hpp>
#include <poot/run/host/contraction_launch.hpp>
#include <poot/run/host/movement_step.hpp>
#include <poot/run/host/reduction_step.hpp>
#include <poot/run/host/region_step.hpp>
#include <poot/run/host/rope_step.hpp>

#include <memory>
#include <vector>

namespace poot::run::host {

inline std::unique_ptr<step> make_step(const plan::program_view& p, const plan::launch& l);

/// A launch of equations that do not depend on each other: one after the other, each shared by the threads.
class members_step : public step {
 public:
  members_step(const plan::program_view& p, const plan::launch& l) {
    for (uint32 k = 0; k < l.members.count; ++k) {
      plan::launch one = l;
      one.members = {l.members.first + k, 1};
      steps_.push_back(make_step(p, one));
    }
  }
  void prepare(const run_context& c) override {
    for (const std::unique_ptr<step>& s : steps_) s->prepare(c);
  }
  void run(const run_context& c) override {
    for (const std::unique_ptr<step>& s : steps_) s->run(c);
  }

 private:
  std::vector<std::unique_ptr<step>> steps_;
};

inline std::unique_ptr<step> make_step(const plan::program_view& p, const plan::launch& l) {
  if (fuse::stands_side_by_side(l.kind) && l.members.count > 1) return std::make_unique<members_step>(p, l);
  switch (l.kind) {
    case fuse::region_kind::pointwise:
    case fuse::region_kind::row: return std::make_unique<region_step>(p, l);
    case fuse::region_kind::contraction: return std::make_unique<contraction_launch>(p, l);
    case fuse::region_kind::rope: return std::make_unique<rope_step>(p, l);
    case fuse::region_kind::attention: return std::make_unique<attention_step>(p, l);
    case fuse::region_kind::reduction: return std::make_unique<reduction_step>(p, l);
    default: return std::make_unique<movement_step>(p, l);
  }
}

}  // namespace poot::run::host
