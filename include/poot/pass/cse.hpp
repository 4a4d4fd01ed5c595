#pragma once
/// Merges equal equations, constants and computed tables included, so that a table built from one recipe exists once.
/// Requires: operands of commutative ops in canonical order (canonicalise). Ensures: no two equations compute the same.
///   %0 = iota {axis=0}; %1 = iota {axis=0}; %2 = add %0, %1   →   %0 = iota {axis=0}; %2 = add %0, %0

#include <poot/pass/rewriter.hpp>

namespace poot::pass {

namespace detail {

constexpr uint64 hash_eqn(const graph_view& g, const eqn& e) {
  uint64 h = static_cast<uint64>(e.kind) | static_cast<uint64>(e.type.element) << 8 | static_cast<uint64>(e.type.rank) << 16;
  for (int i = 0; i < e.type.rank; ++i) h = mix(h, static_cast<uint64>(e.type.extents[i].code));
  const uint32* const in = g.operand_pool.first + e.operands.first;
  for (uint32 k = 0; k < e.operands.count; ++k) h = mix(h, in[k]);
  const int64* const attrs = g.attr_pool.first + e.attrs.first;
  for (uint32 k = 0; k < e.attrs.count; ++k) h = mix(h, static_cast<uint64>(attrs[k]));
  if (e.custom) h = mix(h, hash_text(e.custom->name));
  if (e.name.count) h = mix(h, hash_text(g.chars(e.name)));
  return h;
}

constexpr bool same_eqn(const graph_view& g, const eqn& a, const eqn& b) {
  return a.kind == b.kind && a.custom == b.custom && a.type == b.type && a.sum == b.sum && g.operands(a) == g.operands(b) &&
         g.attrs(a) == g.attrs(b) && g.chars(a.name) == g.chars(b.name);
}

}  // namespace detail

constexpr graph cse(graph g, record& notes) {
  rewriter r(std::move(g));
  size_t capacity = 16;
  while (capacity < 2 * r.size()) capacity *= 2;
  constexpr uint32 empty = 0xffffffffu;
  vec<uint32> table(capacity, empty);  // open addressing over values of the result
  const graph_view& built = r.both();
  for (uint32 id = 0; id < r.size(); ++id) {
    const uint32 made = r.copy(id);
    const eqn& e = r.equation(made);
    if (ir::is_named_leaf(e.kind)) continue;
    if (e.operands.count == 2) {  // renaming operands may have reversed them
      uint32* in = r.operands_of_made(made);
      if (stands_reversed(built, e.kind, in[0], in[1])) {
        std::swap(in[0], in[1]);
        r.mark_changed();
      }
    }
    size_t at = detail::hash_eqn(built, e) & (capacity - 1);
    while (table[at] != empty && !detail::same_eqn(built, built[table[at]], e)) at = (at + 1) & (capacity - 1);
    if (table[at] == empty) table[at] = made;
    else r.merge(id, table[at]);
  }
  return r.finish(notes, pass_id::cse);
}

}  // namespace poot::pass
