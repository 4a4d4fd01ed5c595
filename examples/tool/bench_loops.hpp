#pragma once
/// What `poot bench` holds poot against on the same machine in the same run: the machine's own limits, and loops by hand.

#include <poot/run/host/pool.hpp>

namespace poot::tool {

/// relu(((x · 1.5 + 0.25) · x − 0.75) · x + 0.5) · 0.9 with vectors and, where the processor has them, streaming stores.
void chain_loop(const float* from, float* to, int64 begin, int64 end);

/// The most that plain loops of `threads` reach; GB/s count reads and writes.
struct machine_limits {
  struct speeds {
    int64 bytes = 0;  ///< of the working set
    double read = 0, copy = 0, streaming = 0;
  };
  speeds memory[3];
  double fma_gflops = 0;

  /// The speeds over a working set of about `bytes`.
  const speeds& over(double bytes) const {
    for (const speeds& s : memory)
      if (bytes <= static_cast<double>(s.bytes)) return s;
    return memory[2];
  }
};

/// Takes a second or two.
machine_limits probe(run::host::pool& threads);

}  // namespace poot::tool
