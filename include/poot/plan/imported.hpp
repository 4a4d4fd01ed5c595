#pragma once
/// Which launches take a kernel that the library ships as text (kernel/imported/) instead of one that is generated for them.
///
///   gemv            f32 [1,K] · [K,N]                K whole reads, N whole runs of 4 columns
///   batched_gemv    f32 [B,1,K] · [B,K,N]            the same
///   gemm            f32 [M,K] · [K,N], M > 4         the same, N whole runs of 8 columns
///   argmax          f32 [R,N] to i32 [R,1]           N whole rounds of the workgroup
///   random_uniform  f32 of any extents
///   packed_gather   f32 [I,D] of packed [R,D], i32 [I]; one kernel for each format
///   widen_bf16      bf16 to f32 of any extents, one of them whole runs of 8
///
/// Each alone in its launch, with its operands where their own extents say. Such a kernel reads all extents from the metadata
/// of a launch: one text serves every launch of its family. Contractions and argmax are written twice, for processors, whose
/// invocations step together in small numbers, and for GPUs.

#include <poot/plan/program.hpp>

namespace poot::plan {

enum class shipped : uint8 { none, gemv, batched_gemv, gemm, argmax, random_uniform, packed_gather, widen_bf16 };
enum class device_class : uint8 { any, processor, gpu };

struct shipped_kernel {
  shipped family = shipped::none;
  device_class written_for = device_class::any;
  dtype format = dtype::f32;  ///< of packed rows; f32 elsewhere
  constexpr bool operator==(const shipped_kernel&) const = default;
};

constexpr std::string_view name(shipped s) {
  constexpr std::string_view names[] = {"none", "gemv", "batched_gemv", "gemm", "argmax", "random_uniform", "packed_gather", "widen_bf16"};
  return names[static_cast<int>(s)];
}
/// `gemv_processor`, `packed_gather_q4_0`, `widen_bf16`.
constexpr text name(const shipped_kernel& s) {
  text out(name(s.family));
  if (s.written_for != device_class::any) out << (s.written_for == device_class::gpu ? "_gpu" : "_processor");
  if (s.format != dtype::f32) out << '_' << poot::name(s.format);
  return out;
}

namespace detail {

/// Chooses among the shipped kernels for a launch whose storage is planned.
struct shipped_chooser {
  const graph_view& g;
  const device_caps& caps;
  const placement* placements;

  constexpr shipped_kernel choose(const launch& l, const uint32* ids) const {
    if (l.members.count != 1 || l.outputs.count != 1) return {};
    const uint32 id = ids[l.members.first];
    const ir::eqn& e = g[id];
    if (l.inputs.count != e.operands.count) return {};  // one operand twice, or part of the text
    switch (e.kind) {
      case ir::op::matmul: return whole_operands(id) ? contraction(e) : shipped_kernel{};
      case ir::op::reduce_argmax: return whole_operands(id) ? argmax(e) : shipped_kernel{};
      case ir::op::packed_gather: return whole_operands(id) ? packed_gather(e) : shipped_kernel{};
      case ir::op::random_uniform: return whole_operands(id) ? random(e) : shipped_kernel{};
      case ir::op::cast: return whole_operands(id) ? widening(e) : shipped_kernel{};
      default: return {};
    }
  }

 private:
  constexpr const tensor_type& operand(const ir::eqn& e, uint32 k) const { return g.type(g.operands(e)[k]); }
  /// Whether every operand begins where its memory does.
  constexpr bool whole_operands(uint32 id) const {
    for (uint32 in : g.operands(id))
      for (uint32 at = in;; at = placements[at].index) {
        if (placements[at].where == place::window) return false;
        if (placements[at].where != place::view) break;
      }
    return true;
  }
  static constexpr bool is_multiple(extent e, int64 of) { return !e.is_dynamic() && e.code > 0 && e.code % of == 0; }
  constexpr device_class class_of_device() const {
    return caps.is_processor() ? device_class::processor : caps.subgroup > 0 ? device_class::gpu : device_class::any;
  }

  constexpr shipped_kernel contraction(const ir::eqn& e) const {
    const device_class here = class_of_device();
    const tensor_type &a = operand(e, 0), &b = operand(e, 1);
    const view<int64> attrs = g.attrs(e);
    if (here == device_class::any || a.element != dtype::f32 || b.element != dtype::f32 || e.type.element != dtype::f32) return {};
    if (a.rank != b.rank || (!attrs.empty() && attrs[0] != 0)) return {};
    if (e.sum.lanes > 1 || (e.sum.chunk != 0 && e.sum.chunk != 256) || e.sum.fused != (here == device_class::gpu)) return {};
    if (!is_multiple(a.last(), here == device_class::gpu ? 32 : 4) || !is_multiple(b.last(), 4)) return {};
    const extent rows = a.extents[a.rank - 2];
    if (a.rank == 2 && rows == extent(1)) return {shipped::gemv, here};
    if (a.rank == 2 && rows.bound() > 4 && is_multiple(b.last(), 8)) return {shipped::gemm, here};
    if (a.rank == 3 && rows == extent(1) && a.extents[0] == b.extents[0] && a.extents[0] != extent(1)) return {shipped::batched_gemv, here};
    return {};
  }
  constexpr shipped_kernel argmax(const ir::eqn& e) const {
    const device_class here = class_of_device();
    const tensor_type& x = operand(e, 0);
    if (here == device_class::any || x.element != dtype::f32 || x.rank != 2 || g.attrs(e)[0] != 1) return {};
    if ((e.sum.lanes != 0 && e.sum.lanes != 256) || (e.sum.chunk != 0 && e.sum.chunk != 4096)) return {};
    if (!is_multiple(x.last(), here == device_class::gpu ? 4 : 256) || x.last().code < 256) return {};
    return {shipped::argmax, here};
  }
  constexpr shipped_kernel random(const ir::eqn& e) const {
    bool ones = true;
    for (int i = 0; i < e.type.rank; ++i) ones = ones && e.type.extents[i] == extent(1);
    if (ones || operand(e, 0).rank != 0 || operand(e, 1).rank != 0) return {};
    return {shipped::random_uniform};
  }
  constexpr shipped_kernel packed_gather(const ir::eqn& e) const {
    const tensor_type &x = operand(e, 0), &index = operand(e, 1);
    if (x.rank != 2 || index.rank != 1 || g.attrs(e)[0] != 0 || e.type.element != dtype::f32) return {};
    return {shipped::packed_gather, device_class::any, x.element};
  }
  constexpr shipped_kernel widening(const ir::eqn& e) const {
    if (operand(e, 0).element != dtype::bf16 || e.type.element != dtype::f32) return {};
    for (int i = 0; i < e.type.rank; ++i)
      if (is_multiple(e.type.extents[i], 8)) return {shipped::widen_bf16};
    return {};
  }
};

/// What body each launch has, where storage is planned and refusals are known.
constexpr void choose_bodies(program& p, const graph_view& g) {
  const bool on_host = p.planned_for.kind == backend::host;
  vec<uint8> missing(p.refused.empty() ? 0 : g.size(), p.planned_for.kind == backend::aie);
  for (const refusal& r : p.refused) missing[r.equation] = 1;
  const shipped_chooser chooser{g, p.planned_for.caps, p.placements.data()};
  for (vec<launch>* list : {&p.launches, &p.prologue})
    for (launch& l : *list) {
      bool refused = l.kind == fuse::region_kind::collective;
      if (!missing.empty())
        for (uint32 m = 0; m < l.members.count; ++m) refused = refused || missing[p.ids[l.members.first + m]];
      if (refused) l.body = origin::none;  // or nothing to generate
      else if (on_host ? l.kind == fuse::region_kind::contraction : chooser.choose(l, p.ids.data()).family != shipped::none)
        l.body = origin::imported;
      else l.body = origin::generated;
    }
}

}  // namespace detail

/// The shipped kernel that launch `l` of `p` takes on a device; none where its body is none of them. (Of the host's own
/// contractions there is one implementation.)
constexpr shipped_kernel shipped_of(const program_view& p, const launch& l) {
  if (l.body != origin::imported || p.planned_for.kind == backend::host) return {};
  return detail::shipped_chooser{p.graph, p.planned_for.caps, p.placements.first}.choose(l, p.ids.first);
}

}  // namespace poot::plan
