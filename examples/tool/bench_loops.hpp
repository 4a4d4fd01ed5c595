#pragma once
/// What `poot bench` holds poot against on the same machine in the same run: the machine's own limits, and loops by hand.

#include "machine_limits.hpp"

#include <poot/run/host/pool.hpp>

namespace poot::tool {

/// relu(((x · 1.5 + 0.25) · x − 0.75) · x + 0.5) · 0.9 with vectors and, where the processor has them, streaming stores.
void chain_loop(const float* from, float* to, int64 begin, int64 end);

/// Takes a second or two.
machine_limits probe(run::host::pool& threads);

}  // namespace poot::tool
