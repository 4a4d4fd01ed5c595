#pragma once
/// How an operand lies that is read where it is: dense, a window of whole rows, or either under other axes of 1.

#include <poot/run/host/step.hpp>

namespace poot::run::host {

/// Strides in elements over the axes of the operand's type; 0 where the extent is 1.
struct operand_strides {
  int64 of[max_rank]{};

  operand_strides() = default;
  operand_strides(const run_context& c, uint32 id) {
    const plan::placement& p = c.program.placements[id];
    const tensor_type t = c.type(id);
    if (p.where == plan::place::view && c.program.placements[p.index].where == plan::place::window) {
      const operand_strides behind(c, p.index);
      const tensor_type source = c.type(p.index);
      int from = 0;
      for (int i = 0; i < t.rank; ++i) {
        if (t.extents[i] == extent(1)) continue;
        while (source.extents[from] == extent(1)) ++from;
        of[i] = behind.of[from++];
      }
      return;
    }
    const tensor_type held = p.where == plan::place::window ? c.type(p.index) : t;
    int64 step = 1;
    for (int i = t.rank; i-- > 0; step *= held.extents[i].code) of[i] = t.extents[i] == extent(1) ? 0 : step;
  }
};

}  // namespace poot::run::host
