#pragma once
/// A fused region as instructions over tiles of 512 elements: what the tile interpreter runs.
///
/// A value is uniform (one for the region), a row value (one for each row of a row region) or a tile value. A row region
/// runs each row in phases with a reduction between them; every other region is one phase.

#include <poot/ir/graph.hpp>
#include <poot/run/host/tile_function.hpp>

namespace poot::run::host {

enum class region_kind : uint8 { pointwise, row, epilogue };
enum class value_level : uint8 { uniform, row, tile };

/// A member list of one graph. `members` are ascending equation ids: pointwise ops and, in a row region, reductions over
/// the last axis. `outputs` are the members (or heads) to store. `heads` are the contractions of an epilogue, of equal extents.
struct region_members {
  region_kind kind = region_kind::pointwise;
  view<uint32> members;
  view<uint32> outputs;
  view<uint32> heads{};
};

/// Where the pointer of a register comes from: scratch memory, the constants, a buffer as the run advances, a kept row,
/// or the table of all registers itself.
enum class register_kind : uint8 { scratch, constant, input, output, kept, table };
struct tile_register {
  register_kind kind = register_kind::scratch;
  uint32 at = 0;  ///< offset in bytes in scratch or constants (in scratch also where a buffer does not serve), or the kept row's number
};

struct tile_instruction {
  tile_function run = nullptr;
  uint16 out = 0;
  uint16 in[3]{};
  chain_op chained = chain_op::end;  ///< what it is as a step of a chain; `end`: nothing
  form operands = form::both_tiles;
  bool to_output = false;  ///< a chain whose result is an output that nobody reads again: it may be streamed
};

/// A buffer that the region reads.
struct tile_input {
  uint32 id = 0;  ///< the equation whose value it holds
  tensor_type type{};
  value_level level = value_level::tile;
  int head = -1;  ///< which contraction's f32 tile; -1: none's
  bool is_head() const { return head >= 0; }
  uint16 slot = 0;
  tile_function load = nullptr, fill = nullptr;
};

/// A buffer that the region writes, dense.
struct tile_output {
  uint32 id = 0;
  tensor_type type{};
  value_level level = value_level::tile;
  bool direct = false;    ///< the instruction may write the buffer itself
  bool streamed = false;  ///< and past the caches
  uint16 slot = 0;
  tile_function store = nullptr, stream = nullptr;
};

struct tile_reduction {
  reduction_functions run;
  uint16 operand = 0, out = 0;
  uint32 state = 0;  ///< offset in scratch
  int32 chunk = 4096;
  bool sums_f32 = false;
  bool is_step = false;  ///< taken by a chain
};

struct tile_phase {
  vec<uint16> inputs;                 ///< of tile level, read in this phase
  vec<uint16> kept;                   ///< registers of rows kept for or from other phases
  vec<tile_instruction> instructions;
  vec<tile_reduction> reductions;
  vec<uint16> outputs;                ///< of tile level, complete after this phase
  vec<tile_instruction> after;        ///< on row values, once the reductions are finished
  int32 fetches = -1;                 ///< register with the address of what a chain fetches: the input of the next row
};

struct kept_row {
  int bytes = 4;  ///< of an element
};

struct tile_program {
  region_kind kind = region_kind::pointwise;
  tensor_type space{};  ///< extents that the region runs over
  vec<tile_input> inputs;
  vec<tile_output> outputs;
  vec<tile_register> registers;
  vec<uint64> constants;  ///< uniform operands and the steps of chains
  vec<kept_row> kept;
  vec<tile_instruction> once;    ///< on uniform values
  vec<tile_instruction> before;  ///< on row values, at the start of a row
  vec<tile_phase> phases;
  vec<uint64> symbols;           ///< keys of the dynamic extents
  uint32 scratch_bytes = 0;
  uint32 slot_bytes = 4 * tile_elements;
  int32 flops = 0;               ///< of one element, as the op table counts
};

inline constexpr uint32 uniform_bytes = 8 * uniform_elements;

}  // namespace poot::run::host
