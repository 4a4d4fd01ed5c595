#pragma once
/// Equality of programs: the same graph, numbered alike, and the same plan for it.

#include <poot/ir/equal.hpp>
#include <poot/plan/program.hpp>

namespace poot::plan {

namespace detail {

/// What differs between two launches; empty where nothing does.
constexpr std::string_view difference(const program_view& a, const launch& x, const program_view& b, const launch& y) {
  if (x.kind != y.kind) return "kind";
  if (x.body != y.body) return "origin";
  if (x.compares != y.compares) return "comparison class";
  if (!(a(x.members) == b(y.members))) return "members";
  if (!(a(x.inputs) == b(y.inputs))) return "inputs";
  if (!(a(x.outputs) == b(y.outputs))) return "outputs";
  if (x.kernel != y.kernel) return "kernel";
  if (x.bytes != y.bytes) return "bytes";
  if (x.flops != y.flops) return "flops";
  if (x.chunks != y.chunks) return "chunks";
  return "";
}
constexpr bool same(const placement& x, const placement& y) {
  return x.where == y.where && x.index == y.index && x.offset == y.offset;
}
constexpr bool same(const copy& x, const copy& y) { return x.value == y.value && x.output == y.output; }
constexpr bool same(const kernel& x, const kernel& y) {
  return x.hash == y.hash && x.first_launch == y.first_launch && x.launches == y.launches;
}
constexpr bool same(const refusal& x, const refusal& y) { return x.equation == y.equation && x.missing == y.missing; }
template <class T>
constexpr bool same(const T& x, const T& y) {
  return x == y;
}

template <class T>
constexpr bool all_same(view<T> a, view<T> b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i])) return false;
  return true;
}
constexpr bool all_same(const program_view& a, view<launch> x, const program_view& b, view<launch> y) {
  if (x.size() != y.size()) return false;
  for (size_t i = 0; i < x.size(); ++i)
    if (!difference(a, x[i], b, y[i]).empty()) return false;
  return true;
}

/// Equations with equal numbers are equal, constants like others.
constexpr bool numbered_alike(const graph_view& a, const graph_view& b) {
  if (a.size() != b.size() || a.outputs.size() != b.outputs.size() || a.chars(a.name) != b.chars(b.name)) return false;
  for (uint32 id = 0; id < a.size(); ++id) {
    const ir::eqn &x = a[id], &y = b[id];
    if (x.kind != y.kind || !(x.sum == y.sum) || !(x.type == y.type) || x.origin != y.origin) return false;
    if (x.custom != y.custom && (!x.custom || !y.custom || x.custom->name != y.custom->name)) return false;
    if (!(a.operands(x) == b.operands(y)) || !ir::detail::equal_attributes(x.kind, a.attrs(x), b.attrs(y))) return false;
    if (a.name_of(id) != b.name_of(id)) return false;
  }
  for (size_t k = 0; k < a.outputs.size(); ++k)
    if (a.outputs[k].value != b.outputs[k].value || a.chars(a.outputs[k].name) != b.chars(b.outputs[k].name)) return false;
  return true;
}

}  // namespace detail

/// The first part in which two programs differ, in the order of their text; empty where they are equal.
constexpr std::string_view first_difference(const program_view& a, const program_view& b) {
  using detail::all_same;
  if (!(a.planned_for == b.planned_for)) return "target";
  if (!all_same(a.changed, b.changed)) return "passes";
  if (a.arena_bytes != b.arena_bytes || a.unshared_bytes != b.unshared_bytes || a.table_bytes != b.table_bytes) return "memory";
  if (!all_same(a, a.prologue, b, b.prologue)) return "prologue";
  if (!all_same(a, a.launches, b, b.launches)) return "launches";
  if (!all_same(a.copies, b.copies)) return "copies";
  if (!all_same(a.kernel_table, b.kernel_table)) return "kernels";
  if (!all_same(a.repeated, b.repeated)) return "sections";
  if (!all_same(a.placements, b.placements)) return "placements";
  if (!all_same(a.declined, b.declined)) return "declines";
  if (!all_same(a.declined_numerically, b.declined_numerically)) return "numerical declines";
  if (!all_same(a.declined_chains, b.declined_chains)) return "chain declines";
  if (!all_same(a.refused, b.refused)) return "refusals";
  return detail::numbered_alike(a.graph, b.graph) ? "" : "graph";
}

/// Whether a device would run the same launches of the same graph in the same memory, and a reader find the same reasons.
constexpr bool equal(const program_view& a, const program_view& b) { return first_difference(a, b).empty(); }

}  // namespace poot::plan
