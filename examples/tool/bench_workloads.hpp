#pragma once
/// What `poot bench` measures: graphs made at run time, named as other systems' benchmarks of the same work are.

#include "bench_chains.hpp"

#include <poot/ir/graph.hpp>

#include <functional>
#include <string>
#include <vector>

namespace poot::tool {

/// One piece of work.
struct workload {
  std::string name;
  dtype element = dtype::f32;  ///< of the weights, or of everything where there are none
  double flops = 0;            ///< a multiply-add is two, a function one
  /// The graph; its results are prefixes of those of `make(size)` where `count` is less than `size`.
  std::function<ir::graph(int64 count)> make{};
  int64 size = 1;              ///< rows, or output columns
  int64 checked = 0;           ///< the count that is compared with f64 arithmetic; 0: none
  bool reads_mostly = false;   ///< its limit is reading, not copying
  bool small = false;          ///< small enough for a software GPU
  int64 position = 0;          ///< what i32 inputs of one element hold
  /// The same graph typed, between memory of `size` rows.
  typed_run typed = nullptr;
  /// The same by hand, from the input to the result: how fast a compiler's loop is.
  void (*loop)(const float* from, float* to, int64 begin, int64 end) = nullptr;
};

std::vector<workload> workloads();

/// y = x + 1 + 1 …, `count` times, of 16 elements.
ir::graph additions(int64 count);

/// About `count` equations in blocks of norms, products, residuals and pointwise chains.
ir::graph graph_to_plan(int64 count);

}  // namespace poot::tool
