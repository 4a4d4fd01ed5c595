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
  ir::graph_sizes graph{};
  size_t launches = 0, prologue = 0, ids = 0, placements = 0, copies = 0, kernels = 0, sections = 0, passes = 0,
         numerical_declines = 0, declines = 0, refusals = 0;
  constexpr bool operator==(const program_sizes&) const = default;
};
constexpr program_sizes sizes_of(const program_view& p) {
  return {ir::sizes_of(p.graph),   p.launches.size(), p.prologue.size(), p.ids.size(),
          p.placements.size(),     p.copies.size(),   p.kernel_table.size(), p.repeated.size(),
          p.changed.size(),        p.declined_numerically.size(), p.declined.size(), p.refused.size()};
}

/// A program of exact size; `view()` reads it.
template <program_sizes S>
struct frozen_program {
  ir::frozen_graph<S.graph> graph;
  target planned_for{};
  std::array<launch, S.launches> launches{};
  std::array<launch, S.prologue> prologue{};
  std::array<uint32, S.ids> ids{};
  std::array<placement, S.placements> placements{};
  std::array<copy, S.copies> copies{};
  std::array<kernel, S.kernels> kernel_table{};
  std::array<section, S.sections> repeated{};
  std::array<pass::pass_id, S.passes> changed{};
  std::array<pass::numerical_decline, S.numerical_declines> declined_numerically{};
  std::array<fuse::decline, S.declines> declined{};
  std::array<refusal, S.refusals> refused{};
  int64 arena_bytes = 0, unshared_bytes = 0, table_bytes = 0;

  constexpr explicit frozen_program(const program_view& p) : graph(p.graph) {
    copy_scalars(*this, p);
    each_array(*this, p, [](auto& to, const auto& from) {
      for (size_t i = 0; i < to.size(); ++i) to[i] = from[i];
    });
  }

  constexpr program_view view() const {
    program_view p;
    p.graph = graph.view();
    copy_scalars(p, *this);
    each_array(p, *this, [](auto& to, const auto& from) { to = {from.data(), from.size()}; });
    return p;
  }
};

namespace detail {

/// A prepared graph at exact size, so that planning starts with a fresh budget of evaluation steps.
struct prepared_sizes {
  ir::graph_sizes graph{};
  size_t passes = 0, declines = 0;
};
template <prepared_sizes S>
struct frozen_prepared {
  ir::frozen_graph<S.graph> optimized;
  std::array<pass::pass_id, S.passes> changed{};
  std::array<pass::numerical_decline, S.declines> numerical_declines{};

  constexpr explicit frozen_prepared(const pass::prepared& p) : optimized(p.optimized) {
    for (size_t i = 0; i < S.passes; ++i) changed[i] = p.notes.changed[i];
    for (size_t i = 0; i < S.declines; ++i) numerical_declines[i] = p.notes.numerical_declines[i];
  }
};

template <auto Model>
inline constexpr bool is_verified = ir::verify(dsl::frozen<Model>.view());

template <auto Model, target Where>
constexpr pass::prepared prepare_model() {
  static_assert(is_verified<Model>);
  return pass::run_passes(dsl::frozen<Model>.view(), Where);
}
template <auto Model, target Where>
inline constexpr auto prepared_model = frozen_prepared<[] {
  const pass::prepared p = prepare_model<Model, Where>();
  return prepared_sizes{ir::sizes_of(p.optimized), p.notes.changed.size(), p.notes.numerical_declines.size()};
}()>(prepare_model<Model, Where>());

/// A graph on the heap with the content of a frozen one.
constexpr ir::graph thaw(const graph_view& g) {
  ir::graph r;
  r.eqns = vec<ir::eqn>(g.eqns);
  r.operand_pool = vec<uint32>(g.operand_pool);
  r.attr_pool = vec<int64>(g.attr_pool);
  r.char_pool = vec<char>(g.char_pool);
  r.outputs = vec<ir::graph_output>(g.outputs);
  r.symbols = vec<ir::symbol>(g.symbols);
  r.name = g.name;
  return r;
}

/// The chosen regions at exact size, for the same reason.
struct partition_sizes {
  size_t regions = 0, members = 0, equations = 0, declines = 0;
};
template <partition_sizes S>
struct frozen_partition {
  std::array<fuse::partition::region, S.regions> regions{};
  std::array<uint32, S.members> members{};
  std::array<uint32, S.equations> region_of{};
  std::array<fuse::decline, S.declines> declines{};

  constexpr explicit frozen_partition(const fuse::partition& p) {
    for (size_t i = 0; i < S.regions; ++i) regions[i] = p.regions[i];
    for (size_t i = 0; i < S.members; ++i) members[i] = p.members[i];
    for (size_t i = 0; i < S.equations; ++i) region_of[i] = p.region_of[i];
    for (size_t i = 0; i < S.declines; ++i) declines[i] = p.declines[i];
  }
  constexpr fuse::partition thaw() const {
    fuse::partition p;
    p.regions = view<fuse::partition::region>(regions.data(), S.regions);
    p.members = view<uint32>(members.data(), S.members);
    p.region_of = view<uint32>(region_of.data(), S.equations);
    p.declines = view<fuse::decline>(declines.data(), S.declines);
    return p;
  }
};

template <auto Model, target Where, options Wanted>
constexpr fuse::partition partition_model() {
  return choose_regions(prepared_model<Model, Where>.optimized.view(), Where, Wanted);
}
template <auto Model, target Where, options Wanted>
inline constexpr auto chosen_regions = frozen_partition<[] {
  const fuse::partition p = partition_model<Model, Where, Wanted>();
  return partition_sizes{p.regions.size(), p.members.size(), p.region_of.size(), p.declines.size()};
}()>(partition_model<Model, Where, Wanted>());

template <auto Model, target Where, options Wanted>
constexpr program plan_model() {
  constexpr const auto& ready = prepared_model<Model, Where>;
  program p = plan_regions(thaw(ready.optimized.view()), Where, chosen_regions<Model, Where, Wanted>.thaw());
  for (pass::pass_id id : ready.changed) p.changed.push_back(id);
  for (const pass::numerical_decline& d : ready.numerical_declines) p.declined_numerically.push_back(d);
  return p;
}

template <auto Model, target Where, options Wanted>
inline constexpr auto frozen_plan = frozen_program<[] { return sizes_of(plan_model<Model, Where, Wanted>().view_of()); }()>(
    plan_model<Model, Where, Wanted>().view_of());

}  // namespace detail

/// The plan of `Model` for `Where`: a program_view.
template <auto Model, target Where, options Wanted = options{}>
inline constexpr program_view planned = detail::frozen_plan<Model, Where, Wanted>.view();

/// The same plan on the heap, for a device to load.
template <auto Model, target Where, options Wanted = options{}>
program instantiate() {
  const program_view& v = planned<Model, Where, Wanted>;
  program p;
  p.graph = detail::thaw(v.graph);
  copy_scalars(p, v);
  each_array(p, v, [](auto& to, const auto& from) { to = from; });
  return p;
}

}  // namespace poot::plan

namespace poot {
using plan::planned;
}  // namespace poot
