#pragma once
/// A program: everything a device needs to run a model, and everything a reader may ask about the plan.

#include <poot/core/target.hpp>
#include <poot/fuse/choose.hpp>
#include <poot/pass/rewriter.hpp>

namespace poot::plan {

using ir::graph_view;
using ir::slice_of;

/// What a dispatch's body is: written for this region, a kernel that the library ships, or nothing, where the target refuses
/// an equation of it, and of a collective, which a communicator runs.
enum class origin : uint8 { generated, imported, none };

/// How far a plan's values may be from one dispatch per equation (numerics.md, "Comparison classes").
enum class comparison : uint8 { exact, reordered, restructured, approximate };

constexpr std::string_view name(origin o) {
  return o == origin::generated ? "generated" : o == origin::imported ? "imported" : "none";
}
constexpr std::string_view name(comparison c) {
  switch (c) {
    case comparison::exact: return "exact";
    case comparison::reordered: return "reordered";
    case comparison::restructured: return "restructured";
    case comparison::approximate: return "approximate";
  }
  return "";
}

/// One dispatch, or several chunks of its grid where a device cannot start all of it at once. Inputs and outputs are values
/// (equations) that it reads from and writes to memory.
struct launch {
  fuse::region_kind kind = fuse::region_kind::pointwise;
  origin body = origin::generated;
  comparison compares = comparison::exact;
  uint32 kernel = 0;     ///< of the table of distinct kernels
  slice_of members{};    ///< equations, ascending
  slice_of inputs{};
  slice_of outputs{};
  int64 bytes = 0;       ///< read once and written once, dynamic extents at their bound
  int64 flops = 0;
  uint32 chunks = 1;     ///< dispatches that its workgroups are split into (plan/chunks.hpp)
};

/// A distinct kernel: launches that differ only in extents and bindings share one.
struct kernel {
  uint64 hash = 0;
  uint32 first_launch = 0;
  uint32 launches = 0;
};

/// Launches [first, first + length) repeat `times` times: a layer is planned once and called that often.
struct section {
  uint32 first = 0, length = 0, times = 0;
  constexpr bool operator==(const section&) const = default;
};

/// Where a value lives.
enum class place : uint8 {
  none,    ///< inside its region, never in memory
  leaf,    ///< an input, weight or state: bound by the caller
  table,   ///< made once, when the program is loaded
  arena,   ///< transient memory, at `offset`
  output,  ///< the caller's buffer for output `index`
  view,    ///< the memory of value `index` under other extents
  window,  ///< whole rows of value `index`, where they lie
  state,   ///< updated in place: the memory of state `index`
};

struct placement {
  place where = place::none;
  uint32 index = 0;
  int64 offset = 0;  ///< bytes, into the arena or the tables
};

/// The value whose memory `id` is: itself, or what it views.
constexpr uint32 storage_of(const placement* placements, uint32 id) {
  while (placements[id].where == place::view || placements[id].where == place::window) id = placements[id].index;
  return id;
}

/// Alignment of every value in the arena and in the tables, bytes: a cache line, and a 512-bit vector.
inline constexpr int64 alignment = 64;
constexpr int64 aligned(int64 bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// Copies value `value` to output `output` after the last launch. Needed where a result is a leaf, another result, or
/// the new value of a state that could not be written in place.
struct copy {
  uint32 value = 0;
  uint32 output = 0;
};

/// What a target lacks for an equation.
enum class capability : uint8 { f64_functions, f64_values, custom_functions, rope, attention, max_buffers, buffer_bytes, collectives, execution };

constexpr std::string_view explain(capability c) {
  switch (c) {
    case capability::f64_functions: return "f64_functions: elementary functions of f64 exist on the host only";
    case capability::f64_values: return "f64_values: kernels hold numbers of 32 bits";
    case capability::custom_functions: return "custom_functions: a user's op that takes floats or branches on a value is a function of the host";
    case capability::rope: return "rope: the target has no kernel for it";
    case capability::attention: return "attention: the target has no kernel for it, or too little workgroup memory for so many keys";
    case capability::max_buffers: return "max_buffers: alone it reads and writes more values than a kernel can bind";
    case capability::buffer_bytes: return "buffer_bytes: it has more bytes than a buffer that a kernel can reach";
    case capability::collectives: return "collectives: ranks exchange values of the host only";
    case capability::execution: return "execution: programs of this target are planned and printed, and nothing runs them";
  }
  return "";
}

struct refusal {
  uint32 equation = 0;
  capability missing{};
};

/// Questions that a program answers; `Self::view()` gives the read-only form.
template <class Self>
struct questions;

/// The read-only form of a program, on the heap or frozen.
struct program_view;

template <class Self>
struct questions {
  /// Dispatches of one step, as a device counts them: a launch is one, or one for each of its chunks; not the prologue, not views.
  constexpr size_t dispatch_count() const {
    size_t n = v().copies.size();
    for (const launch& l : v().launches) n += l.chunks;
    return n;
  }
  /// Bytes that one step reads and writes: each region's inputs once and outputs once, dynamic extents at their bound.
  constexpr int64 bytes_moved() const {
    int64 bytes = 0;
    for (const launch& l : v().launches) bytes += l.bytes;
    for (const copy& c : v().copies) bytes += 2 * v().graph.type(c.value).bytes();
    return bytes;
  }
  constexpr int64 flops() const {
    int64 flops = 0;
    for (const launch& l : v().launches) flops += l.flops;
    return flops;
  }
  /// Bytes of transient memory, with storage shared by values that do not live at the same time.
  constexpr int64 peak_transient_bytes() const { return v().arena_bytes; }
  /// Bytes of transient memory if no storage were shared.
  constexpr int64 transient_bytes_without_reuse() const { return v().unshared_bytes; }
  constexpr view<pass::pass_id> passes() const { return v().changed; }
  constexpr view<fuse::decline> declines() const { return v().declined; }
  constexpr view<pass::numerical_decline> numerical_declines() const { return v().declined_numerically; }
  /// Chains that nearly were one equation.
  constexpr view<pass::chain_decline> chain_declines() const { return v().declined_chains; }
  constexpr view<refusal> refusals() const { return v().refused; }
  constexpr view<section> sections() const { return v().repeated; }
  constexpr view<kernel> kernels() const { return v().kernel_table; }
  /// The widest class of any launch.
  constexpr comparison comparison_class() const {
    comparison widest = comparison::exact;
    for (const launch& l : v().launches) widest = l.compares > widest ? l.compares : widest;
    return widest;
  }
  /// Launches whose region is of kind `k`.
  constexpr size_t count(fuse::region_kind k) const {
    size_t n = 0;
    for (const launch& l : v().launches) n += l.kind == k;
    return n;
  }

 private:
  constexpr auto v() const { return static_cast<const Self&>(*this).view_of(); }
};

struct program_view : questions<program_view> {
  graph_view graph;
  target planned_for{};
  view<launch> launches, prologue;
  view<uint32> ids;  ///< members, inputs and outputs of launches
  view<placement> placements;
  view<copy> copies;
  view<kernel> kernel_table;
  view<section> repeated;
  view<pass::pass_id> changed;
  view<pass::numerical_decline> declined_numerically;
  view<pass::chain_decline> declined_chains;
  view<fuse::decline> declined;
  view<refusal> refused;
  int64 arena_bytes = 0, unshared_bytes = 0, table_bytes = 0;

  constexpr const program_view& view_of() const { return *this; }
  constexpr view<uint32> operator()(slice_of s) const { return ids.subview(s.first, s.count); }
  constexpr uint32 storage_of(uint32 id) const { return plan::storage_of(placements.first, id); }
};

/// Calls take(to.a, from.a) for each array `a` of two forms of a program: the one list of them.
template <class To, class From, class Take>
constexpr void each_array(To& to, const From& from, Take take) {
  take(to.launches, from.launches);
  take(to.prologue, from.prologue);
  take(to.ids, from.ids);
  take(to.placements, from.placements);
  take(to.copies, from.copies);
  take(to.kernel_table, from.kernel_table);
  take(to.repeated, from.repeated);
  take(to.changed, from.changed);
  take(to.declined_numerically, from.declined_numerically);
  take(to.declined_chains, from.declined_chains);
  take(to.declined, from.declined);
  take(to.refused, from.refused);
}
/// Copies what is no array.
template <class To, class From>
constexpr void copy_scalars(To& to, const From& from) {
  to.planned_for = from.planned_for;
  to.arena_bytes = from.arena_bytes;
  to.unshared_bytes = from.unshared_bytes;
  to.table_bytes = from.table_bytes;
}

/// A planned model. A device loads it and never plans again.
struct program : questions<program> {
  ir::graph graph;
  target planned_for{};
  vec<launch> launches, prologue;
  vec<uint32> ids;
  vec<placement> placements;
  vec<copy> copies;
  vec<kernel> kernel_table;
  vec<section> repeated;
  vec<pass::pass_id> changed;
  vec<pass::numerical_decline> declined_numerically;
  vec<pass::chain_decline> declined_chains;
  vec<fuse::decline> declined;
  vec<refusal> refused;
  int64 arena_bytes = 0, unshared_bytes = 0, table_bytes = 0;

  constexpr program_view view_of() const {
    program_view p;
    p.graph = graph;
    copy_scalars(p, *this);
    each_array(p, *this, [](auto& to, const auto& from) { to = from; });
    return p;
  }
  constexpr operator program_view() const { return view_of(); }
};

/// Of what takes or gives programs (core/precompiled.hpp).
inline constexpr uint64 program_layout = mix(ir::graph_layout, layout_of<program, program_view, launch, target>);

}  // namespace poot::plan
