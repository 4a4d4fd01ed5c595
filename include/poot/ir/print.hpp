#pragma once
/// Graph to text: `print(graph)` writes the form that `parse` reads, the same text for equal graphs.

#include <poot/core/hash_index.hpp>
#include <poot/ir/detail/attributes.hpp>

namespace poot::ir {

/// Appends the bits of one number of type `t` in a form that gives them back: `-3`, `0x1.8p-5`, `inf`, `bits 0x7fc00001`.
constexpr void write_number(text& out, dtype t, uint64 bits) {
  const uint64 mask = t == dtype::boolean ? 1 : ~uint64{0} >> (64 - 8 * row(t).block_bytes);
  bits &= mask;
  if (is_float(t)) {
    if (!write_hex_float(out, format_of(t), bits)) (out << "bits ").hex(bits);
  } else if (is_signed(t) && bits > mask >> 1) {
    out << static_cast<int64>(bits | ~mask);
  } else {
    out << bits;
  }
}

/// A constant of rank 0 that is no output: text writes it where it is read, as a literal.
constexpr bool is_inlined(const graph_view& g, uint32 id, view<uint8> is_output) {
  return g[id].kind == op::constant && g[id].type.rank == 0 && g[id].attrs.count == 1 && !is_output[id];
}
/// For each value, whether it is an output.
constexpr vec<uint8> mark_outputs(const graph_view& g) {
  vec<uint8> marks(g.size(), 0);
  for (const graph_output& o : g.outputs)
    if (o.value < g.size()) marks[o.value] = 1;
  return marks;
}

namespace detail {

struct graph_writer {
  graph_view g;
  text out{};
  vec<uint8> is_output{};
  vec<uint32> numbers{};    // of values; `by_name` for those printed under their own name
  vec<uint8> mentioned{};   // of symbols
  static constexpr uint32 by_name = ~uint32{0};

  constexpr void number_values() {
    is_output = mark_outputs(g);
    hash_index leaves;
    numbers = vec<uint32>(g.size(), 0);
    for (uint32 id = 0; id < g.size(); ++id) {
      if (!is_named_leaf(g[id].kind) || !is_identifier(g.name_of(id))) continue;
      const uint64 hash = hash_text(g.name_of(id));
      const uint32 other = leaves.find(hash, [&](uint32 i) { return g.name_of(i) == g.name_of(id); });
      if (other == hash_index::none) leaves.insert(hash, id);
      numbers[id] = by_name;
      if (other != hash_index::none) numbers[id] = numbers[other] = 0;
    }
    uint32 next = 0;
    for (uint32 id = 0; id < g.size(); ++id)
      if (numbers[id] != by_name && !is_inlined(g, id, is_output)) numbers[id] = next++;
  }

  constexpr void write_value(uint32 id) {
    if (id < g.size() && is_inlined(g, id, is_output)) {
      write_literal(id);
      return;
    }
    out << '%';
    if (id >= g.size()) out << "?";
    else if (numbers[id] == by_name) out << g.name_of(id);
    else out << numbers[id];
  }
  constexpr void write_literal(uint32 id) {
    out << name(g.type(id).element) << '(';
    write_number(out, g.type(id).element, static_cast<uint64>(g.attrs(id)[0]));
    out << ')';
  }
  constexpr void write_extent(extent e) {
    if (!e.is_dynamic() || e.is_negative()) {
      out << e.code;
      return;
    }
    for (size_t i = 0; i < g.symbols.size(); ++i) {
      if (g.symbols[i].key != e.key()) continue;
      out << g.chars(g.symbols[i].name);
      if (!mentioned[i]) out << "<=" << e.bound();
      mentioned[i] = 1;
      return;
    }
    out << "?<=" << e.bound();
  }
  constexpr void write_quoted(std::string_view s) {
    out << '"';
    for (char c : s) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') out << '\\' << c;
      else if (byte < 32) out << "\\x" << "0123456789abcdef"[byte >> 4] << "0123456789abcdef"[byte & 15];
      else out << c;
    }
    out << '"';
  }

  // Attributes: `open` writes what stands between them.
  bool braces = false;
  constexpr text& open(attr a) {
    out << (braces ? " " : " {") << attr_names[static_cast<int>(a)] << '=';
    braces = true;
    return out;
  }
  constexpr void write_list(attr a, view<int64> items) {
    open(a) << '[';
    for (size_t i = 0; i < items.size(); ++i) {
      if (i) out << ',';
      out << items[i];
    }
    out << ']';
  }
  constexpr void write_list_unless(attr a, view<int64> items, int64 value) {
    for (int64 item : items)
      if (item != value) return write_list(a, items);
  }
  constexpr void write_attributes(const eqn& e) {
    const view<int64> at = g.attrs(e);
    braces = false;
    switch (e.kind) {
      case op::constant:
        open(attr::values) << '[';
        for (size_t i = 0; i < at.size(); ++i) {
          if (i) out << ',';
          write_number(out, e.type.element, static_cast<uint64>(at[i]));
        }
        out << ']';
        break;
      case op::transpose: write_list(attr::perm, at); break;
      case op::matmul: case op::packed_contraction:
        if (!at.empty() && at[0]) open(attr::transpose_b) << at[0];
        break;
      case op::rope:
        if (at.size() != 3) break;
        open(attr::width) << at[0];
        if (at[1]) open(attr::adjacent) << at[1];
        if (at[2]) open(attr::signs) << at[2];
        break;
      case op::attention: case op::attention_parts:
        if (at.size() != (e.kind == op::attention ? 4u : 2u)) break;
        if (at[0] != 0x3f800000) write_number(open(attr::scale), dtype::f32, static_cast<uint64>(at[0]));
        if (at[1]) write_number(open(attr::softcap), dtype::f32, static_cast<uint64>(at[1]));
        if (e.kind == op::attention_parts) break;
        if (at[2]) open(attr::sink) << at[2];
        if (at[3]) open(attr::strict) << at[3];
        break;
      case op::conv2d:
        if (at.size() != 9) break;
        write_list_unless(attr::stride, at.subview(0, 2), 1);
        write_list_unless(attr::pad, at.subview(2, 4), 0);
        write_list_unless(attr::dilation, at.subview(6, 2), 1);
        if (at[8] != 1) open(attr::groups) << at[8];
        break;
      case op::slice: {
        const size_t rank = at.size() / 3;
        write_list(attr::start, at.subview(0, rank));
        open(attr::size) << '[';
        for (size_t i = 0; i < rank; ++i) {
          if (i) out << ',';
          write_extent(extent::from_code(at[rank + i]));
        }
        out << ']';
        write_list_unless(attr::step, at.subview(2 * rank, rank), 1);
        break;
      }
      case op::all_reduce_sum: case op::all_gather: case op::reduce_scatter:
        open(attr::group);
        write_quoted(g.chars(e.name));
        if (!at.empty()) open(attr::axis) << at[0];
        break;
      default:
        if ((attrs_of(e.kind) & attr_set(attr::axis)) && !at.empty()) open(attr::axis) << at[0];
    }
    if (!(e.sum == order{})) {
      open(attr::order) << "{lanes=" << e.sum.lanes << " chunk=" << e.sum.chunk;
      if (e.sum.fused) out << " fused=1";
      if (e.sum.hardware) out << " hardware=1";
      out << '}';
    }
    if (braces) out << '}';
  }

  constexpr void write_equation(uint32 id) {
    const eqn& e = g[id];
    out << "  ";
    write_value(id);
    out << " : " << name(e.type.element) << '[';
    for (int i = 0; i < e.type.rank; ++i) {
      if (i) out << ',';
      write_extent(e.type.extents[i]);
    }
    out << "] = " << (e.custom ? e.custom->name : name(e.kind));
    if (is_named_leaf(e.kind)) {
      out << ' ';
      write_quoted(g.name_of(id));
    } else if (e.kind == op::constant && e.attrs.count == 1) {
      out << ' ';
      write_literal(id);
    } else {
      const char* between = " ";
      for (uint32 operand : g.operands(e)) {
        out << between;
        write_value(operand);
        between = ", ";
      }
      write_attributes(e);
    }
    out << '\n';
  }

  constexpr void write_graph() {
    number_values();
    mentioned = vec<uint8>(g.symbols.size(), 0);
    out << "graph ";
    if (is_identifier(g.chars(g.name))) out << g.chars(g.name);
    else write_quoted(g.chars(g.name));
    out << " {\n";
    for (uint32 id = 0; id < g.size(); ++id)
      if (!is_inlined(g, id, is_output)) write_equation(id);
    for (const graph_output& o : g.outputs) {
      out << "  output ";
      write_quoted(g.chars(o.name));
      out << " = ";
      write_value(o.value);
      out << '\n';
    }
    out << "}\n";
  }
};

constexpr text written(const graph_view& g) {
  graph_writer writer{g};
  writer.write_graph();
  return std::move(writer.out);
}

}  // namespace detail

namespace precompiled {
template <uint64 Layout>
text print(const graph_view& g);
}

/// The text of a graph. `parse` gives back a graph that is `structurally_equal`, and its text is the same.
constexpr text print(const graph_view& g) {
  if constexpr (!is_precompiled) return detail::written(g);
  else if (__builtin_is_constant_evaluated()) return detail::written(g);
  else return precompiled::print<graph_layout>(g);
}

}  // namespace poot::ir
