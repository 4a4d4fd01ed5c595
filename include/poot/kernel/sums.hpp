#pragma once
/// Sums of products in the order that a contraction carries.

#include <poot/ir/graph.hpp>
#include <poot/kernel/values.hpp>

namespace poot::kernel {

/// sum + a · b, rounded once or twice as the order says.
constexpr number multiply_add(ir::order o, number a, number b, number sum) { return o.fused ? fma(a, b, sum) : add(sum, mul(a, b)); }

/// Several sums of products at once, in the order of their equation.
class chunked_sums {
 public:
  constexpr chunked_sums() = default;
  constexpr chunked_sums(builder& k, ir::order o, uint32 count) : k_(&k), order_(o), chunk_(o.chunk ? o.chunk : 256) {
    for (uint32 i = 0; i < count; ++i) totals_.push_back(k.declare(number(0.0f)));
  }

  /// `terms(first, end)` takes the products of a chunk. Chunks begin at multiples of their length.
  template <class Terms>
  constexpr void run(word n, Terms terms) {
    k_->for_(0u, n, chunk_, [&](word first) {
      partials_.clear();
      for (size_t i = 0; i < totals_.size(); ++i) partials_.push_back(k_->declare(number(0.0f)));
      const word past = first + word(chunk_), end = select(below(n, past), n, past);
      terms(first, end);
      for (size_t i = 0; i < totals_.size(); ++i) {
        const number before = k_->read(totals_[i]);
        k_->assign(totals_[i], add(before, k_->read(partials_[i])));
      }
    });
  }
  constexpr void take(uint32 i, number x, number y) {
    const number before = k_->read(partials_[i]);
    k_->assign(partials_[i], multiply_add(order_, x, y, before));
  }
  constexpr number result(uint32 i) { return k_->read(totals_[i]); }

 private:
  builder* k_ = nullptr;
  ir::order order_{};
  uint32 chunk_ = 256;
  vec<variable<number>> totals_, partials_;
};

}  // namespace poot::kernel
