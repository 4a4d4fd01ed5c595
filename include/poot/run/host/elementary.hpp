#pragma once
/// exp, log, tanh, erf, sin, cos and pow on the vectors of each instruction set: the text of core/elementary.inc.

#include <poot/run/host/simd.hpp>

#define POOT_BODY <poot/core/elementary.inc>
#include <poot/run/host/each_isa.inc>
