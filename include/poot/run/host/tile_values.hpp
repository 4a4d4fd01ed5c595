#pragma once
/// The pointwise ops on vectors: what the tile interpreter and the straight-line kernels of typed programs compute with.

#include <poot/ir/op.hpp>
#include <poot/run/host/elementary.hpp>

#define POOT_BODY <poot/run/host/tile_values.inc>
#include <poot/run/host/each_isa.inc>
