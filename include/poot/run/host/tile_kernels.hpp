#pragma once
/// The bodies of the tile instructions for each instruction set. Include tile_function.hpp, which includes this where
/// they are not precompiled.

#include <poot/run/host/tile_function.hpp>
#include <poot/run/host/tile_values.hpp>

#define POOT_BODY <poot/run/host/tile_ops.inc>
#include <poot/run/host/each_isa.inc>
#define POOT_BODY <poot/run/host/tile_convert.inc>
#include <poot/run/host/each_isa.inc>
#define POOT_BODY <poot/run/host/tile_memory.inc>
#include <poot/run/host/each_isa.inc>
#define POOT_BODY <poot/run/host/tile_reduce.inc>
#include <poot/run/host/each_isa.inc>
#define POOT_BODY <poot/run/host/tile_chain.inc>
#include <poot/run/host/each_isa.inc>

namespace poot::run::host {

/// Of the instruction set in use. Inlined at every level, or the linker may put the one of poot::precompiled's callers
/// in its place, which calls poot::precompiled.
[[gnu::always_inline]] inline tile_functions current_tile_functions() {
  return {POOT_FOR_ISA(find_unary), POOT_FOR_ISA(find_binary), POOT_FOR_ISA(find_select),
          POOT_FOR_ISA(find_conversion), POOT_FOR_ISA(find_load), POOT_FOR_ISA(find_store),
          POOT_FOR_ISA(find_fill), POOT_FOR_ISA(find_stream), POOT_FOR_ISA(find_chain),
          POOT_FOR_ISA(find_reduction), POOT_FOR_ISA(find_argmax_rows)};
}

}  // namespace poot::run::host
