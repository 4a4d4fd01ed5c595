#pragma once
/// The plan of a typed model as a constant object: one for each model and target, read by every assertion.
///
///   constexpr auto y = poot::output<"y">(poot::block(rms_norm, x, gain));
///   static_assert(poot::planned<y, poot::targets::host>.dispatch_count() == 1);

#include <poot/dsl/trace.hpp>
#include <poot/ir/freeze.hpp>
#include <poot/plan/compile.hpp>

namespace poot::plan {

struct program_sizes {
  size_t launches = 0, prologue = 0, ids = 0, placements = 0, copies = 0, kernels = 0, sections = 0, passes = 0,
         numerical_declines = 0, chain_declines = 0, declines = 0, refusals = 0;
  constexpr bool operator==(const program_sizes&) const = default;
  constexpr bool within(const program_sizes& c) const {
    return launches <= c.launches && prologue <= c.prologue && ids <= c.ids && placements <= c.placements &&
           copies <= c.copies && kernels <= c.kernels && sections <= c.sections && passes <= c.passes &&
           numerical_declines <= c.numerical_declines && chain_declines <= c.chain_declines && declines <= c.declines && refusals <= c.refusals;
  }
};
constexpr program_sizes sizes_of(const program_view& p) {
  return {p.launches.size(), p.prologue.size(),     p.ids.size(),      p.placements.size(),
          p.copies.size(),   p.kernel_table.size(), p.repeated.size(), p.changed.size(),
          p.declined_numerically.size(), p.declined_chains.size(), p.declined.size(), p.refused.size()};
}

/// A program but for its graph in arrays of `Capacity`. One that is larger leaves only its sizes.
template <program_sizes Capacity>
struct frozen_program {
  program_sizes sizes{};
  target planned_for{};
  std::array<launch, Capacity.launches> launches{};
  std::array<launch, Capacity.prologue> prologue{};
  std::array<uint32, Capacity.ids> ids{};
  std::array<placement, Capacity.placements> placements{};
  std::array<copy, Capacity.copies> copies{};
  std::array<kernel, Capacity.kernels> kernel_table{};
  std::array<section, Capacity.sections> repeated{};
  std::array<pass::pass_id, Capacity.passes> changed{};
  std::array<pass::numerical_decline, Capacity.numerical_declines> declined_numerically{};
  std::array<pass::chain_decline, Capacity.chain_declines> declined_chains{};
  std::array<fuse::decline, Capacity.declines> declined{};
  std::array<refusal, Capacity.refusals> refused{};
  int64 arena_bytes = 0, unshared_bytes = 0, table_bytes = 0;

  constexpr explicit frozen_program(const program_view& p) : sizes(sizes_of(p)) {
    if (!fits()) return;
    copy_scalars(*this, p);
    each_array(*this, p, [](auto& to, const auto& from) { ir::copy_into(to, from); });
  }
  constexpr bool fits() const { return sizes.within(Capacity); }

  constexpr program_view view(const graph_view& graph) const {
    program_view p;
    p.graph = graph;
    copy_scalars(p, *this);
    p.launches = {launches.data(), sizes.launches};
    p.prologue = {prologue.data(), sizes.prologue};
    p.ids = {ids.data(), sizes.ids};
    p.placements = {placements.data(), sizes.placements};
    p.copies = {copies.data(), sizes.copies};
    p.kernel_table = {kernel_table.data(), sizes.kernels};
    p.repeated = {repeated.data(), sizes.sections};
    p.changed = {changed.data(), sizes.passes};
    p.declined_numerically = {declined_numerically.data(), sizes.numerical_declines};
    p.declined_chains = {declined_chains.data(), sizes.chain_declines};
    p.declined = {declined.data(), sizes.declines};
    p.refused = {refused.data(), sizes.refusals};
    return p;
  }
};

namespace detail {

/// A prepared graph as a constant, so that planning starts with a fresh budget of evaluation steps.
struct prepared_sizes {
  ir::graph_sizes graph{};
  size_t passes = 0, declines = 0, chain_declines = 0;
  constexpr bool within(const prepared_sizes& c) const {
    return graph.within(c.graph) && passes <= c.passes && declines <= c.declines && chain_declines <= c.chain_declines;
  }
};
template <prepared_sizes Capacity>
struct frozen_prepared {
  prepared_sizes sizes;
  ir::frozen_graph<Capacity.graph> optimized;
  std::array<pass::pass_id, Capacity.passes> changed{};
  std::array<pass::numerical_decline, Capacity.declines> numerical_declines{};
  std::array<pass::chain_decline, Capacity.chain_declines> chain_declines{};

  constexpr explicit frozen_prepared(const pass::prepared& p)
      : sizes{ir::sizes_of(p.optimized), p.notes.changed.size(), p.notes.numerical_declines.size(), p.notes.chain_declines.size()},
        optimized(p.optimized) {
    if (!fits()) return;
    ir::copy_into<pass::pass_id>(changed, p.notes.changed);
    ir::copy_into<pass::numerical_decline>(numerical_declines, p.notes.numerical_declines);
    ir::copy_into<pass::chain_decline>(chain_declines, p.notes.chain_declines);
  }
  constexpr bool fits() const { return sizes.within(Capacity); }
};

template <auto Model>
inline constexpr bool is_verified = ir::verify(dsl::frozen<Model>.view());

template <auto Model, target Where, pass::options Wanted>
struct prepare_model {
  template <prepared_sizes Capacity>
  using frozen = frozen_prepared<Capacity>;
  constexpr pass::prepared operator()() const {
    static_assert(is_verified<Model>);
    return pass::run_passes(dsl::frozen<Model>.view(), Where, Wanted);
  }
  /// Passes drop equations and names, and fold constants.
  static constexpr prepared_sizes capacity() {
    ir::graph_sizes most = dsl::frozen<Model>.sizes;
    most.attrs += most.eqns;
    return {most, 16, most.eqns / 4 + 4, most.eqns / 8 + 2};
  }
};
template <auto Model, target Where, pass::options Wanted>
inline constexpr const auto& prepared_model = ir::freeze<prepare_model<Model, Where, Wanted>>;

/// The chosen regions as a constant, for the same reason.
struct partition_sizes {
  size_t regions = 0, members = 0, equations = 0, declines = 0;
  constexpr bool within(const partition_sizes& c) const {
    return regions <= c.regions && members <= c.members && equations <= c.equations && declines <= c.declines;
  }
};
template <partition_sizes Capacity>
struct frozen_partition {
  partition_sizes sizes;
  std::array<fuse::partition::region, Capacity.regions> regions{};
  std::array<uint32, Capacity.members> members{};
  std::array<uint32, Capacity.equations> region_of{};
  std::array<fuse::decline, Capacity.declines> declines{};

  constexpr explicit frozen_partition(const fuse::partition& p)
      : sizes{p.regions.size(), p.members.size(), p.region_of.size(), p.declines.size()} {
    if (!fits()) return;
    ir::copy_into<fuse::partition::region>(regions, p.regions);
    ir::copy_into<uint32>(members, p.members);
    ir::copy_into<uint32>(region_of, p.region_of);
    ir::copy_into<fuse::decline>(declines, p.declines);
  }
  constexpr bool fits() const { return sizes.within(Capacity); }
  constexpr fuse::partition thaw() const {
    fuse::partition p;
    p.regions = view<fuse::partition::region>(regions.data(), sizes.regions);
    p.members = view<uint32>(members.data(), sizes.members);
    p.region_of = view<uint32>(region_of.data(), sizes.equations);
    p.declines = view<fuse::decline>(declines.data(), sizes.declines);
    return p;
  }
};

template <auto Model, target Where, options Wanted>
struct partition_model {
  template <partition_sizes Capacity>
  using frozen = frozen_partition<Capacity>;
  constexpr fuse::partition operator()() const {
    return choose_regions(prepared_model<Model, Where, pass_options(Wanted)>.optimized.view(), Where, Wanted);
  }
  static constexpr partition_sizes capacity() {
    const size_t eqns = prepared_model<Model, Where, pass_options(Wanted)>.optimized.sizes.eqns;
    return {Wanted.fuse ? eqns / 2 + 2 : eqns, eqns, eqns, Wanted.fuse ? eqns / 2 + 4 : 0};
  }
};
template <auto Model, target Where, options Wanted>
inline constexpr const auto& chosen_regions = ir::freeze<partition_model<Model, Where, Wanted>>;

template <auto Model, target Where, options Wanted>
struct plan_model {
  template <program_sizes Capacity>
  using frozen = frozen_program<Capacity>;
  constexpr program operator()() const {
    constexpr const auto& ready = prepared_model<Model, Where, pass_options(Wanted)>;
    program p = plan_beside(ready.optimized.view(), Where, chosen_regions<Model, Where, Wanted>.thaw());
    p.changed = view<pass::pass_id>(ready.changed.data(), ready.sizes.passes);
    p.declined_numerically = view<pass::numerical_decline>(ready.numerical_declines.data(), ready.sizes.declines);
    p.declined_chains = view<pass::chain_decline>(ready.chain_declines.data(), ready.sizes.chain_declines);
    return p;
  }
  /// Every launch is a region; its ids are its members, what these read, and those of them that are written.
  static constexpr program_sizes capacity() {
    constexpr const auto& ready = prepared_model<Model, Where, pass_options(Wanted)>.sizes;
    constexpr const auto& regions = chosen_regions<Model, Where, Wanted>.sizes;
    program_sizes most;
    for (size_t i = 0; i < regions.regions; ++i)
      ++(chosen_regions<Model, Where, Wanted>.regions[i].prologue ? most.prologue : most.launches);
    most.kernels = most.launches;
    most.sections = most.launches / 4;
    most.ids = 2 * regions.members + ready.graph.operands;
    most.placements = ready.graph.eqns;
    most.copies = ready.graph.outputs;
    most.passes = ready.passes;
    most.numerical_declines = ready.declines;
    most.chain_declines = ready.chain_declines;
    most.declines = regions.declines;
    most.refusals = Where.kind == backend::host ? 0 : ready.graph.eqns + 1;
    return most;
  }
};
template <auto Model, target Where, options Wanted>
inline constexpr const auto& frozen_plan = ir::freeze<plan_model<Model, Where, Wanted>>;

}  // namespace detail

/// The plan of `Model` for `Where`: a program_view.
template <auto Model, target Where, options Wanted = options{}>
inline constexpr program_view planned =
    detail::frozen_plan<Model, Where, Wanted>.view(detail::prepared_model<Model, Where, pass_options(Wanted)>.optimized.view());

/// The same plan on the heap, for a device to load.
template <auto Model, target Where, options Wanted = options{}>
program instantiate() {
  const program_view& v = planned<Model, Where, Wanted>;
  program p;
  p.graph = ir::graph(v.graph);
  copy_scalars(p, v);
  each_array(p, v, [](auto& to, const auto& from) { to = from; });
  return p;
}

}  // namespace poot::plan

namespace poot {
using plan::planned;
}  // namespace poot
