#pragma once
/// The steps of every kind of launch. make_step.hpp is what to call.

#include <poot/run/host/attention_step.hpp>
#include <poot/run/host/collective_step.hpp>
#include <poot/run/host/contraction_launch.hpp>
#include <poot/run/host/movement_step.hpp>
#include <poot/run/host/reduction_step.hpp>
#include <poot/run/host/region_step.hpp>
#include <poot/run/host/rope_step.hpp>

#include <memory>
#include <vector>

namespace poot::run::host {

inline std::unique_ptr<step> step_of(const plan::program_view& p, const plan::launch& l);

/// A launch of parts that do not depend on each other: one after the other, each shared by the threads; a head, then what stands
/// behind it, through memory of the entry.
class parts_step : public step {
 public:
  parts_step(const plan::program_view& p, const plan::launch& l) : own_(p) {
    const vec<vec<uint32>> parts = fuse::parts_beside(p.graph, p(l.members));
    struct piece {
      fuse::region_kind kind;
      ir::slice_of members, outputs;
    };
    vec<piece> pieces;
    const auto keep = [&](uint32 id) { ids_.push_back(id); };
    const auto count = [&] { return static_cast<uint32>(ids_.size()); };
    for (const vec<uint32>& part : parts) {
      if (fuse::has_head(p.graph, part)) {
        for (uint32 id : part) {
          keep(id);
          pieces.push_back({fuse::kind_of(p.graph, id), {count() - 1, 1}, {count() - 1, 1}});
        }
        continue;
      }
      piece one{fuse::region_kind::pointwise, {count(), static_cast<uint32>(part.size())}, {}};
      for (uint32 id : part) keep(id);
      one.outputs.first = count();
      for (uint32 id : p(l.outputs))
        for (uint32 member : part)
          if (member == id) keep(id);
      one.outputs.count = count() - one.outputs.first;
      pieces.push_back(one);
    }
    own_.ids = ids_;
    for (const piece& each : pieces) {
      plan::launch one = l;
      one.kind = each.kind;
      one.members = each.members;
      one.outputs = each.outputs;
      steps_.push_back(step_of(own_, one));
    }
  }
  void prepare(const run_context& c) override {
    for (const std::unique_ptr<step>& s : steps_) s->prepare(c);
  }
  void run(const run_context& c) override {
    for (const std::unique_ptr<step>& s : steps_) s->run(c);
  }

 private:
  plan::program_view own_;  ///< the program, its ids replaced by those of the parts
  vec<uint32> ids_;
  std::vector<std::unique_ptr<step>> steps_;
};

inline std::unique_ptr<step> step_of(const plan::program_view& p, const plan::launch& l) {
  if (fuse::stands_side_by_side(l.kind) && l.members.count > 1) return std::make_unique<parts_step>(p, l);
  switch (l.kind) {
    case fuse::region_kind::pointwise:
    case fuse::region_kind::row: return std::make_unique<region_step>(p, l);
    case fuse::region_kind::contraction: return std::make_unique<contraction_launch>(p, l);
    case fuse::region_kind::rope: return std::make_unique<rope_step>(p, l);
    case fuse::region_kind::attention: return std::make_unique<attention_step>(p, l);
    case fuse::region_kind::reduction: return std::make_unique<reduction_step>(p, l);
    case fuse::region_kind::collective: return std::make_unique<collective_step>(p, l);
    default: return std::make_unique<movement_step>(p, l);
  }
}

}  // namespace poot::run::host
