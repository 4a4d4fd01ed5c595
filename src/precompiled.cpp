/// The heavy kernels of the host for every instruction set, compiled once: the library poot::precompiled.

#define POOT_PRECOMPILING
#include <poot/run/host/contraction_kernels.hpp>
#include <poot/run/host/tile_function.hpp>
