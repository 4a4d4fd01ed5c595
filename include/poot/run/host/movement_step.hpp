#pragma once
/// A launch of one op that moves or makes elements.

#include <poot/core/philox.hpp>
#include <poot/run/host/movement.hpp>
#include <poot/run/host/step.hpp>

namespace poot::run::host {

class movement_step : public step {
 public:
  movement_step(const plan::program_view& p, const plan::launch& l) : id_(p(l.members)[0]) {}

  void prepare(const run_context& c) override {
    const view<uint32> in = c.program.graph.operands(id_);
    x_ = c.type(in[0]);
    r_ = c.type(id_);
    if (in.size() > 1) second_ = c.type(in[1]);
  }

  void run(const run_context& c) override {
    const ir::graph_view& g = c.program.graph;
    const ir::eqn& e = g[id_];
    const view<uint32> in = g.operands(id_);
    const view<int64> attrs = g.attrs(id_);
    const tensor_type &x = x_, &r = r_;
    if (r.element_count() == 0) return;
    char* to = c.at(id_);
    const char* from = c.at(in[0]);
    switch (e.kind) {
      case ir::op::reshape:
        if (to != from) std::memcpy(to, from, static_cast<size_t>(r.bytes()));
        return;
      case ir::op::slice: return movement::slice(x, attrs, r, from, to, c.threads);
      case ir::op::transpose: return movement::transpose(x, attrs, r, from, to, c.threads);
      case ir::op::broadcast: return movement::broadcast(x, r, from, to, c.threads);
      case ir::op::cast: return movement::unpack(x, r.element, from, to, c.threads);
      case ir::op::concat: {
        int64 offset = 0;
        const int axis = static_cast<int>(attrs[0]);
        for (uint32 part : in) {
          const tensor_type t = c.type(part);
          movement::concat_part(t, axis, offset, r, c.at(part), to, c.threads);
          offset += t.extents[axis].code;
        }
        return;
      }
      case ir::op::dynamic_update_slice:
        if (to != from) std::memcpy(to, from, static_cast<size_t>(r.bytes()));
        return movement::update(x, second_, c.at<int32>(in[2]), c.at(in[1]), to, c.threads);
      case ir::op::gather:
      case ir::op::packed_gather: {
        const tensor_type& index = second_;
        const int axis = static_cast<int>(attrs[0]);
        if (x.extents[axis].code == 0)
          fail(text{} << "%" << id_ << ": gather: axis " << axis << " has no elements to take");
        if (x.element == r.element) return movement::gather(x, axis, index, c.at<int32>(in[1]), from, to, c.threads);
        return movement::gather_decoded(x, r.element, index, c.at<int32>(in[1]), from, to, c.threads);
      }
      case ir::op::random_uniform: {
        const uint32 seed = *c.at<uint32>(in[0]), offset = *c.at<uint32>(in[1]);
        c.threads.parallel(r.element_count(), [&](int64 begin, int64 end, int) {
          for (int64 i = begin; i < end; ++i)
            reinterpret_cast<float*>(to)[i] = uniform_element(seed, offset, static_cast<uint64>(i));
        }, 4096);
        return;
      }
      default: fail(text{} << "%" << id_ << ": the host has no movement kernel for " << ir::name(e.kind));
    }
  }

 private:
  uint32 id_;
  tensor_type x_{}, second_{}, r_{};  ///< of the first two operands and the result, in this run
};

}  // namespace poot::run::host
