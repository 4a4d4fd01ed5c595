#pragma once
/// The interpreter's leaves: values are checked against the declared types, dynamic extents bound to what they show.

#include <poot/ir/evaluate.hpp>
#include <poot/ir/graph.hpp>
#include <poot/ir/tensor.hpp>

namespace poot::ir {

/// What the dynamic extents of a graph stand at, and which leaf said so.
struct extent_values {
  struct entry {
    uint64 key;
    int64 count;
    uint32 leaf;
  };
  vec<entry> entries{};

  constexpr const entry* find(uint64 key) const {
    for (const entry& e : entries)
      if (e.key == key) return &e;
    return nullptr;
  }
};

namespace detail {

constexpr void write_extent(text& out, const graph_view& g, extent e) {
  if (const symbol* s = g.find_symbol(e.key())) out << g.chars(s->name);
  else out << "a dynamic extent of at most " << e.bound();
}

constexpr void write_leaf(text& out, const graph_view& g, uint32 id) {
  out << name(g[id].kind) << " \"" << g.name_of(id) << "\"";
}

/// `t` with counts for extents.
constexpr tensor_type concrete(const graph_view& g, const tensor_type& t, const extent_values& bound, uint32 id) {
  tensor_type r = t;
  for (int i = 0; i < t.rank; ++i) {
    if (!t.extents[i].is_dynamic()) continue;
    const extent_values::entry* e = bound.find(t.extents[i].key());
    if (!e) {
      text message;
      message << "%" << id << ": " << name(g[id].kind) << ": no input, weight or state says what ";
      write_extent(message, g, t.extents[i]);
      fail(message << " is");
    }
    r.extents[i] = extent(e->count);
  }
  return r;
}

/// Checks one value for leaf `id`, and binds the dynamic extents that it is the first to show. `widened` allows f64
/// in place of the declared float.
constexpr void bind_leaf(const graph_view& g, uint32 id, const tensor& value, bool widened, extent_values& bound) {
  const tensor_type& declared = g.type(id);
  const bool element_fits = value.type.element == declared.element ||
                            (widened && is_float(declared.element) && value.type.element == dtype::f64);
  bool fits = element_fits && value.type.rank == declared.rank;
  for (int i = 0; fits && i < declared.rank; ++i)
    if (!declared.extents[i].is_dynamic()) fits = value.type.extents[i] == declared.extents[i];
  if (!fits) {
    text message;
    write_leaf(message, g, id);
    message << ": the value is ";
    write_type(message, value.type);
    message << ", the graph declares ";
    write_type(message, declared, g);
    fail(message);
  }
  for (int i = 0; i < declared.rank; ++i) {
    const extent e = declared.extents[i], given = value.type.extents[i];
    if (!e.is_dynamic()) continue;
    const extent_values::entry* before = bound.find(e.key());
    if (given.code >= 0 && given.code <= e.bound() && (!before || before->count == given.code)) {
      if (!before) bound.entries.push_back({e.key(), given.code, id});
      continue;
    }
    text message;
    write_leaf(message, g, id);
    message << ": axis " << i << " is " << given.code << ", and ";
    write_extent(message, g, e);
    if (given.code < 0 || given.code > e.bound()) fail(message << " is at most " << e.bound());
    message << " is " << before->count << " in ";
    write_leaf(message, g, before->leaf);
    fail(message);
  }
  if (static_cast<int64>(value.bits.size()) != word_count(value.type)) {
    text message;
    write_leaf(message, g, id);
    message << ": the value has " << value.bits.size() << " words, and ";
    write_type(message, value.type);
    fail(message << " has " << word_count(value.type));
  }
}

/// The bits of `x` as f64.
constexpr tensor widen(const tensor& x) {
  tensor r(x.type.with(dtype::f64), vec<uint64>(x.bits.size()));
  for (size_t i = 0; i < r.bits.size(); ++i) r.bits[i] = cast_bits(x.type.element, dtype::f64, x.bits[i]);
  return r;
}

}  // namespace detail
}  // namespace poot::ir
