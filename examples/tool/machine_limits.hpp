#pragma once
/// What a machine or a device reaches at most.

#include <poot/core/dtype.hpp>

namespace poot::tool {

/// The most that plain loops or kernels reach; GB/s count reads and writes.
struct machine_limits {
  struct speeds {
    int64 bytes = 0;  ///< of the working set
    double read = 0, copy = 0, streaming = 0;
  };
  speeds memory[3];
  double fma_gflops = 0;  ///< f32; a multiply-add is two, rounded once or twice

  /// The speeds over a working set of about `bytes`.
  const speeds& over(double bytes) const {
    for (const speeds& s : memory)
      if (bytes <= static_cast<double>(s.bytes)) return s;
    return memory[2];
  }
};

}  // namespace poot::tool
