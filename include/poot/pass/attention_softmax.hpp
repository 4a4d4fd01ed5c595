#pragma once
/// What a chain of attention divides exponentials by, found through a few steps more than a softmax has: those are declined by name.

#include <poot/ir/analysis.hpp>

namespace poot::pass::detail {

using ir::graph_view;
using ir::op;

class attention_softmax {
 public:
  constexpr explicit attention_softmax(const graph_view& g) : g_(g) {}

 protected:
  static constexpr uint32 none = 0xffffffffu;

  constexpr uint32 first(uint32 id) const { return *g_.first_operand(id); }
  constexpr uint32 second(uint32 id) const { return g_.first_operand(id)[1]; }
  constexpr uint32 behind_broadcast(uint32 id) const { return g_[id].kind == op::broadcast ? first(id) : id; }
  static constexpr bool is_step(op o) { return ir::is_pointwise(o) || ir::is_movement(o); }

  /// What is divided by a sum, or by something computed from one.
  struct softmax_parts {
    uint32 at, weights, divisor, sum;
    bool by_reciprocal, is_reversed;
  };
  constexpr bool read_softmax(uint32 id, softmax_parts& p) const {
    const op kind = g_[id].kind;
    if (kind != op::div && kind != op::mul) return false;
    for (int k = 1; k >= 0; --k) {
      const uint32 weights = g_.first_operand(id)[1 - k];
      uint32 divisor = behind_broadcast(g_.first_operand(id)[k]);
      if (kind == op::mul) {
        if (g_[divisor].kind == op::recip) divisor = behind_broadcast(first(divisor));
        else if (g_[divisor].kind == op::div && g_.is_scalar_constant(first(divisor))) divisor = behind_broadcast(second(divisor));
        else continue;
      }
      const uint32 sum = sum_behind(divisor, 2);
      if (sum == none || exponential_behind(weights, 2) == none) continue;
      p = {id, weights, divisor, sum, kind == op::mul, kind == op::div && k == 0};
      return true;
    }
    return false;
  }
  constexpr uint32 sum_behind(uint32 id, int steps) const {
    if (g_[id].kind == op::reduce_sum) return id;
    if (steps == 0 || !ir::is_pointwise(g_[id].kind)) return none;
    for (uint32 in : g_.operands(id))
      if (const uint32 found = sum_behind(behind_broadcast(in), steps - 1); found != none) return found;
    return none;
  }
  /// The softmax that `id` is, or is computed from in so many steps.
  constexpr bool softmax_behind(uint32 id, int steps, softmax_parts& p) const {
    if (read_softmax(id, p)) return true;
    if (steps == 0 || !is_step(g_[id].kind)) return false;
    for (uint32 in : g_.operands(id))
      if (softmax_behind(in, steps - 1, p)) return true;
    return false;
  }
  constexpr uint32 exponential_behind(uint32 id, int steps) const {
    if (g_[id].kind == op::exp) return id;
    if (steps == 0 || !ir::is_pointwise(g_[id].kind)) return none;
    for (uint32 in : g_.operands(id))
      if (const uint32 found = exponential_behind(in, steps - 1); found != none) return found;
    return none;
  }
  /// What is added to the sum as the exponential of a sink.
  constexpr uint32 sink_term(const softmax_parts& p) const {
    if (g_[p.divisor].kind != op::add) return none;
    const uint32 term = first(p.divisor) == p.sum ? second(p.divisor) : second(p.divisor) == p.sum ? first(p.divisor) : none;
    return term != none && g_[term].kind == op::exp ? term : none;
  }

  const graph_view& g_;
};

}  // namespace poot::pass::detail
