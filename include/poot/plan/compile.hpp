#pragma once
/// From a graph to a program: passes, regions, launches, storage. The same function inside a static_assert and at run time.

#include <poot/fuse/parts.hpp>
#include <poot/ir/analysis.hpp>
#include <poot/ir/attention_memory.hpp>
#include <poot/ir/verify.hpp>
#include <poot/pass/pipeline.hpp>
#include <poot/plan/chunks.hpp>
#include <poot/plan/countable.hpp>
#include <poot/plan/imported.hpp>
#include <poot/plan/kernels.hpp>
#include <poot/plan/storage.hpp>

namespace poot::plan {

struct options {
  bool fuse = true;                ///< off: one dispatch per equation; same bits
  bool with_broadcast = true;      ///< values of smaller extents may join a region
  bool fuse_narrow_casts = false;  ///< an explicit cast to a narrower float may stand inside a region
  bool horizontal = true;          ///< independent regions that read a value in the same way become one
  bool document_rules = false;     ///< one contraction a region, and movements, ropes and attention alone
  bool strict = false;             ///< chains are recognised only where no bit changes: attention while a row of scores fits the target
  bool matrix_units = false;       ///< products are left to matrix units where the target has them: other bits (*reordered*); not with `strict`
  int64 split_keys = INT64_MAX;    ///< least bound of keys from which devices split attention over chunks; fewer only where memory does not hold them
};

/// What these options ask of the passes.
constexpr pass::options pass_options(const options& wanted) {
  return {.strict = wanted.strict, .matrix_units = wanted.matrix_units && !wanted.strict, .split_keys = wanted.split_keys};
}

/// What regions these options and the target allow.
constexpr fuse::rules region_rules(const target& where, const options& wanted) {
  fuse::rules allowed;
  allowed.with_broadcast = wanted.with_broadcast;
  allowed.fuse_narrow_casts = wanted.fuse_narrow_casts;
  allowed.horizontal = wanted.horizontal;
  allowed.sibling_heads = allowed.side_by_side = allowed.row_prologue = allowed.tails = !wanted.document_rules;
  allowed.row_epilogue = !wanted.document_rules && where.caps.max_workgroup > 0;  // the host runs no workgroups
  allowed.max_run = where.caps.run_columns();
  if (where.caps.is_processor()) allowed.max_prologue_rows = 1;
  if (where.caps.max_workgroup > 0) allowed.max_prologue_bytes = where.caps.shared_bytes - fuse::reducing_bytes;
  allowed.max_buffers = static_cast<uint32>(where.caps.max_buffers);
  allowed.max_members = static_cast<uint32>(where.caps.max_members);
  allowed.integer_rows = where.caps.max_workgroup > 0;
  return allowed;
}

namespace detail {

/// Collects the values a region reads from and writes to memory, and what that costs.
class launch_builder {
 public:
  constexpr launch_builder(program& made, const graph_view& g, const fuse::partition& regions)
      : p_(made), g_(g), regions_(regions), region_of_(regions.region_of.data()), seen_(g_.size(), 0), read_by_(g_.size(), 0) {
    // A value is written if an output, a reshape or another region reads it.
    uint8* const read_by = read_by_.data();
    for (uint32 id = 0, size = static_cast<uint32>(g_.size()); id < size; ++id) {
      const uint32* const in = g_.first_operand(id);
      for (uint32 k = 0, count = g_.operand_count(id); k < count; ++k)
        if (region_of_[in[k]] != none && region_of_[in[k]] != region_of_[id]) read_by[in[k]] = 1;
    }
    for (const ir::graph_output& o : g_.outputs) read_by[o.value] = 1;
  }

  constexpr launch build(const fuse::partition::region& r, uint32 index) {
    launch l;
    l.kind = r.kind;
    l.members = keep(regions_.members_of(r));
    if (r.kind == fuse::region_kind::attention && !is_strict(regions_.members[r.members.first])) l.compares = comparison::restructured;
    if (fuse::is_on_matrix_unit(g_, regions_.members[r.members.first])) l.compares = comparison::reordered;
    l.inputs.first = static_cast<uint32>(p_.ids.size());
    const uint32* const members = regions_.members.data() + r.members.first;
    uint32* const seen = seen_.data();
    l.flops = flops_of(r);
    for (uint32 m = 0; m < r.members.count; ++m) {
      const uint32 id = members[m];
      const uint32* const operands = g_.first_operand(id);
      for (uint32 k = 0, count = g_.operand_count(id); k < count; ++k) {
        const uint32 in = operands[k];
        if (region_of_[in] == index || seen[in] == index + 1 || is_immediate(r.kind, id, in)) continue;
        seen[in] = index + 1;
        p_.ids.push_back(in);
        l.bytes += bytes_read(id, in);
      }
    }
    l.inputs.count = static_cast<uint32>(p_.ids.size()) - l.inputs.first;
    l.outputs.first = static_cast<uint32>(p_.ids.size());
    const uint8* const read_by = read_by_.data();
    for (uint32 m = 0; m < r.members.count; ++m) {
      if (!read_by[members[m]]) continue;
      p_.ids.push_back(members[m]);
      l.bytes += bytes_written(members[m]);
    }
    l.outputs.count = static_cast<uint32>(p_.ids.size()) - l.outputs.first;
    return l;
  }

 private:
  static constexpr uint32 none = fuse::grouping::none;

  constexpr bool is_strict(uint32 attention) const { return g_[attention].kind == ir::op::attention && g_.attrs(attention)[3] != 0; }

  /// Scalar constants are part of a kernel's text where equation `id` computes with them; what moves bytes reads them from memory.
  constexpr bool is_immediate(fuse::region_kind kind, uint32 id, uint32 in) const {
    if (!g_.is_scalar_constant(in)) return false;
    if (kind == fuse::region_kind::contraction) return g_.type(in).rank == 0;
    return kind == fuse::region_kind::pointwise || kind == fuse::region_kind::row ||
           (fuse::stands_side_by_side(kind) && fuse::kind_of(g_, id) == fuse::region_kind::pointwise);
  }

  constexpr slice_of keep(view<uint32> items) {
    const slice_of s{static_cast<uint32>(p_.ids.size()), static_cast<uint32>(items.size())};
    p_.ids.append(items);
    return s;
  }

  /// A gather, a slice and an update in place touch only the part they move.
  constexpr int64 bytes_read(uint32 id, uint32 in) const {
    const ir::eqn& e = g_[id];
    const int64 all = g_.type(in).bytes();
    if (e.kind == ir::op::slice) return e.type.bytes();
    if ((e.kind == ir::op::gather || e.kind == ir::op::packed_gather) && in == g_.first_operand(id)[0])
      return byte_size(g_.type(in).element, e.type.element_count());
    if (e.kind == ir::op::indexed_matmul || (e.kind == ir::op::packed_contraction && e.operands.count == 3)) {
      const tensor_type& w = g_.type(in);
      const int64 rows = e.type.extents[0].bound(), experts = w.rank == 3 ? w.extents[0].bound() : 0;
      if (in == g_.first_operand(id)[1] && rows < experts) return all / experts * rows;
    }
    if (e.kind == ir::op::dynamic_update_slice && in == g_.first_operand(id)[0]) return 0;
    return all;
  }
  constexpr int64 bytes_written(uint32 id) const {
    return g_[id].kind == ir::op::dynamic_update_slice ? g_.type(g_.first_operand(id)[1]).bytes() : g_.type(id).bytes();
  }

  constexpr int64 flops_of(const fuse::partition::region& r) const {
    int64 flops = 0, heads = 0;  // what a space of its own begins with
    const view<uint32> members = regions_.members_of(r);
    if (r.kind == fuse::region_kind::contraction)
      for (uint32 id : members) heads += ir::is_contraction(g_[id].kind) || ir::is_reduction(g_[id].kind);
    if (heads < 2) {
      const bool apart = fuse::stands_side_by_side(r.kind);
      for (uint32 id : members) flops += flops_of(id, apart ? g_.type(id) : r.space);
      return flops;
    }
    const fuse::contraction_parts all = fuse::parts_of(g_, members);
    for (uint32 id : all.prologue) flops += flops_of(id, g_.type(g_.first_operand(all.parts[0].heads[0])[0]));
    for (uint32 id : all.epilogue) flops += flops_of(id, g_.type(all.runs));
    for (const fuse::contraction_part& part : all.parts)
      for (const vec<uint32>* list : {&part.heads, &part.steps})
        for (uint32 id : *list) flops += flops_of(id, g_.type(part.heads[0]));
    return flops;
  }
  constexpr int64 flops_of(uint32 id, const tensor_type& space) const {
    const ir::eqn& e = g_[id];
    const int64 each = e.custom ? e.custom->flops : ir::row(e.kind).flops;
    switch (e.kind) {
      case ir::op::matmul:
      case ir::op::indexed_matmul:
      case ir::op::packed_contraction: return each * e.type.element_count() * g_.type(g_.first_operand(id)[0]).last().bound();
      case ir::op::conv2d: {
        const tensor_type& w = g_.type(g_.first_operand(id)[1]);
        return each * e.type.element_count() * (w.element_count() / (w.extents[0].bound() ? w.extents[0].bound() : 1));
      }
      case ir::op::attention:
      case ir::op::attention_parts:
      case ir::op::attention_join: return ir::flops(g_, id);
      default: break;
    }
    if (ir::is_reduction(e.kind)) return each * g_.type(g_.first_operand(id)[0]).element_count();
    return each * (ir::is_pointwise(e.kind) && e.type.last() == space.last() ? space : e.type).element_count();
  }

  program& p_;
  const graph_view g_;
  const fuse::partition& regions_;
  const uint32* region_of_;  ///< of regions_
  vec<uint32> seen_;
  vec<uint8> read_by_;
};

/// An update that is not in place also copies what it does not overwrite.
constexpr void count_copying_updates(program& p, const graph_view& g) {
  for (vec<launch>* list : {&p.launches, &p.prologue})
    for (launch& l : *list)
      for (uint32 m = 0; m < l.members.count; ++m) {
        const uint32 id = p.ids[l.members.first + m];
        if (g[id].kind != ir::op::dynamic_update_slice || p.placements[id].where == place::state) continue;
        const uint32 written = g.first_operand(id)[1];
        for (uint32 other = 0; other < m; ++other)  // fuse/ ends a tail only with what is in place
          if (p.ids[l.members.first + other] == written) fail(text{} << "plan: update %" << id << " ends a tail, and is not in place");
        l.bytes += 2 * (g.type(id).bytes() - g.type(g.first_operand(id)[1]).bytes());
      }
}

/// Launches that bind more than the target can: too many values, or one that is too large at any extents. Where extents
/// are dynamic, the bound says nothing yet.
constexpr void refuse_buffers(program& p, const graph_view& g) {
  if (p.planned_for.kind == backend::host) return;
  const device_caps& has = p.planned_for.caps;
  vec<uint8> told(g.size(), 0);
  for (const vec<launch>* list : {&p.prologue, &p.launches})
    for (const launch& l : *list) {
      const uint32 bound = l.inputs.count + l.outputs.count;
      if (bound > static_cast<uint32>(has.max_buffers)) p.refused.push_back({p.ids[l.members.first], capability::max_buffers});
      for (uint32 k = 0; k < bound; ++k) {  // outputs follow inputs
        const uint32 id = storage_of(p.placements.data(), p.ids[l.inputs.first + k]);
        if (told[id] || g.type(id).is_dynamic() || g.type(id).bytes() <= has.buffer_bytes) continue;
        told[id] = 1;
        p.refused.push_back({id, capability::buffer_bytes});
      }
    }
}

constexpr bool runs_attention(const graph_view& g, uint32 id, const device_caps& caps) {
  if (!caps.attention || g[id].kind == ir::op::attention_join) return caps.attention;
  if (g[id].kind == ir::op::attention_parts)
    return ir::attention_parts_workgroup(caps, ir::heads_at_once(g.type(g.operands(id)[0]), g.type(g.operands(id)[1]))) != 0;
  const tensor_type &k = g.type(g.operands(id)[1]), &v = g.type(g.operands(id)[2]);
  return ir::attention_fits(caps, k.extents[k.rank - 2], v.last(), g.attrs(id)[3] != 0);
}

/// What the target cannot do.
constexpr void refuse_missing(program& p, const graph_view& g) {
  if (p.planned_for.kind == backend::host) {  // it has no workgroups to split attention over
    for (uint32 id = 0; id < g.size(); ++id)
      if (ir::is_attention(g[id].kind) && g[id].kind != ir::op::attention) p.refused.push_back({id, capability::attention});
    return;
  }
  if (p.planned_for.kind == backend::aie && g.size() > 0)
    p.refused.push_back({p.launches.empty() ? 0 : p.ids[p.launches[0].members.first], capability::execution});
  for (uint32 id = 0; id < g.size(); ++id) {
    const ir::op o = g[id].kind;
    const bool function = (o >= ir::op::exp && o <= ir::op::erf && o != ir::op::sqrt && o != ir::op::recip) || o == ir::op::pow;
    if (g[id].type.element == dtype::f64)
      p.refused.push_back({id, function ? capability::f64_functions : capability::f64_values});
    if (o == ir::op::custom && g[id].custom->steps.empty()) p.refused.push_back({id, capability::custom_functions});
    if (ir::is_collective(o)) p.refused.push_back({id, capability::collectives});
    if (o == ir::op::rope && !p.planned_for.caps.rope) p.refused.push_back({id, capability::rope});
    if (ir::is_attention(o) && !runs_attention(g, id, p.planned_for.caps)) p.refused.push_back({id, capability::attention});
  }
}

/// What a program of these regions of `g` holds beside its graph.
constexpr program plan_beside(const graph_view& g, const target& where, fuse::partition regions) {
  program p;
  p.planned_for = where;
  launch_builder builder(p, g, regions);
  p.launches.reserve(regions.regions.size());
  const fuse::partition::region* const region = regions.regions.data();
  for (uint32 i = 0, count = static_cast<uint32>(regions.regions.size()); i < count; ++i)
    (region[i].prologue ? p.prologue : p.launches).push_back(builder.build(region[i], i));
  p.declined = std::move(regions.declines);
  storage_planner(p, g, regions);
  count_copying_updates(p, g);
  refuse_missing(p, g);
  choose_bodies(p, g);
  split_launches(p, g);
  share_kernels(p, g);
  find_sections(p);
  refuse_buffers(p, g);
  return p;
}

}  // namespace detail

/// A program of exactly these regions, in their order: launches, storage, kernels, sections.
constexpr program plan_regions(ir::graph optimized, const target& where, fuse::partition regions) {
  program p = detail::plan_beside(optimized, where, std::move(regions));
  p.graph = std::move(optimized);
  return p;
}

/// The regions that these options and the target allow.
constexpr fuse::partition choose_regions(const graph_view& optimized, const target& where, const options& wanted) {
  return fuse::choose_regions(optimized, region_rules(where, wanted), wanted.fuse);
}

/// Plans an already prepared graph.
constexpr program plan_prepared(ir::graph optimized, const target& where, const options& wanted) {
  fuse::partition regions = choose_regions(optimized, where, wanted);
  return plan_regions(std::move(optimized), where, std::move(regions));
}

namespace detail {
constexpr program compile(const graph_view& traced, const target& where, const options& wanted) {
  ir::verify(traced);
  if (!is_countable(traced)) fail(text{} << "compile: graph " << traced.chars(traced.name) << ": " << uncountable);
  pass::prepared ready = pass::run_passes(traced, where, pass_options(wanted));
  program p = plan_prepared(std::move(ready.optimized), where, wanted);
  p.changed = std::move(ready.notes.changed);
  p.declined_numerically = std::move(ready.notes.numerical_declines);
  p.declined_chains = std::move(ready.notes.chain_declines);
  return p;
}
}  // namespace detail

inline constexpr uint64 compile_layout = mix(program_layout, layout_of<options>);
namespace precompiled {
template <uint64 Layout>
program compile(const graph_view& traced, const target& where, const options& wanted);
}

/// Plans `traced` for `where`. Throws `error` when the graph is not well formed.
constexpr program compile(const graph_view& traced, const target& where, const options& wanted = {}) {
  if constexpr (!is_precompiled) return detail::compile(traced, where, wanted);
  else if (__builtin_is_constant_evaluated()) return detail::compile(traced, where, wanted);
  else return precompiled::compile<compile_layout>(traced, where, wanted);
}

}  // namespace poot::plan
