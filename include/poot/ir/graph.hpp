#pragma once
/// A graph: equations in order of definition, each with an op, operands, attributes and a type.

#include <poot/core/error.hpp>
#include <poot/core/name_index.hpp>
#include <poot/core/precompiled.hpp>
#include <poot/ir/custom.hpp>
#include <poot/ir/typing.hpp>

namespace poot::ir {

/// The order of a sum, as numerics.md defines it: `lanes` partial sums, chunks of `chunk` elements, and whether product
/// and sum of a contraction round once. `hardware`: a matrix unit adds the products in an order of its own; what is said
/// beside it is the one of the interpreter. Unset (lanes 0) until "reduction and dtype preparation" sets it.
struct order {
  uint16 lanes = 0;
  uint16 chunk = 0;
  bool fused = false;
  bool hardware = false;
  constexpr bool operator==(const order&) const = default;
};

/// A run of a pool: characters of a name, operands, attributes.
struct slice_of {
  uint32 first = 0;
  uint32 count = 0;
  constexpr bool operator==(const slice_of&) const = default;
};

/// One equation. Its value is named by its index in the graph. Attributes by op:
///   constant: the bits of one value, or of every element in row-major order · iota, reductions, gather, concat: axis
///   matmul: transpose_b · conv2d: stride[2] pad[4] dilation[2] groups · transpose: perm
///   slice: start[rank] size[rank] (codes of extents) step[rank]
///   all_gather, reduce_scatter: axis
///   rope: turned width, adjacent, signed · attention: the bits of scale and softcap (0: none) in f32, has a sink, is strict;
///   attention_parts: scale and softcap
struct eqn {
  op kind = op::input;
  order sum{};
  tensor_type type{};
  slice_of operands{};
  slice_of attrs{};
  slice_of name{};      ///< of named leaves; of collectives, their group
  const custom_row* custom = nullptr;  ///< of a user's op
  uint32 origin = 0;    ///< the equation of the traced graph that this one comes from; set by the first pass
};

struct symbol {
  uint64 key = 0;
  int64 bound = 0;
  slice_of name{};
};

struct graph_output {
  uint32 value = 0;
  slice_of name{};
};

/// The read-only form of a graph, whether it lives on the heap or in a frozen constexpr object.
struct graph_view {
  view<eqn> eqns;
  view<uint32> operand_pool;
  view<int64> attr_pool;
  view<char> char_pool;
  view<graph_output> outputs;
  view<symbol> symbols;
  slice_of name{};

  constexpr size_t size() const { return eqns.count; }
  constexpr const eqn& operator[](uint32 id) const { return eqns.first[id]; }
  constexpr view<uint32> operands(const eqn& e) const { return {operand_pool.first + e.operands.first, e.operands.count}; }
  constexpr view<uint32> operands(uint32 id) const { return {first_operand(id), eqns.first[id].operands.count}; }
  /// Where the `operand_count` operands stand.
  constexpr const uint32* first_operand(uint32 id) const { return operand_pool.first + eqns.first[id].operands.first; }
  constexpr uint32 operand_count(uint32 id) const { return eqns.first[id].operands.count; }
  constexpr view<int64> attrs(const eqn& e) const { return {attr_pool.first + e.attrs.first, e.attrs.count}; }
  constexpr view<int64> attrs(uint32 id) const { return attrs(eqns.first[id]); }
  constexpr std::string_view chars(slice_of s) const { return {char_pool.first + s.first, s.count}; }
  constexpr std::string_view name_of(uint32 id) const { return chars(eqns.first[id].name); }
  constexpr const tensor_type& type(uint32 id) const { return eqns.first[id].type; }

  /// The state that output `o` is the new value of; size() if it is a plain result.
  constexpr uint32 state_of(const graph_output& o) const {
    const uint32 leaf = find_leaf(chars(o.name));
    return leaf < eqns.size() && eqns[leaf].kind == op::state ? leaf : static_cast<uint32>(eqns.size());
  }
  /// The equation that reads the input, weight or state called `wanted`; size() if there is none.
  constexpr uint32 find_leaf(std::string_view wanted) const {
    for (uint32 i = 0; i < eqns.count; ++i)
      if (is_named_leaf(eqns.first[i].kind) && name_of(i) == wanted) return i;
    return static_cast<uint32>(eqns.count);
  }
  /// The same, for many look-ups in one graph that `names` was made for.
  constexpr uint32 find_leaf(std::string_view wanted, name_index& names) const {
    return names.find(static_cast<uint32>(eqns.size()), wanted,
                      [&](uint32 i) { return is_named_leaf(eqns.first[i].kind) ? name_of(i) : std::string_view{}; });
  }
  constexpr const symbol* find_symbol(uint64 key) const {
    for (const symbol& s : symbols)
      if (s.key == key) return &s;
    return nullptr;
  }
  constexpr bool is_scalar_constant(uint32 id) const {
    const eqn& e = eqns.first[id];
    return e.kind == op::constant && e.attrs.count == 1;
  }
};

/// Appends a type as graph text spells it, `f32[8,L]`; a dynamic extent without a known name shows its bound.
constexpr void write_type(text& out, const tensor_type& t, const graph_view& g = {}) {
  out << name(t.element) << '[';
  for (int i = 0; i < t.rank; ++i) {
    if (i) out << ',';
    const bool dynamic = t.extents[i].is_dynamic() && !t.extents[i].is_negative();
    const symbol* s = dynamic ? g.find_symbol(t.extents[i].key()) : nullptr;
    if (s) out << g.chars(s->name);
    else if (dynamic) out << "?<=" << t.extents[i].bound();
    else out << t.extents[i].code;
  }
  out << ']';
}

// Sentences for what a graph is told twice.

constexpr text extent_of_another_bound(std::string_view extent_name, int64 bound, std::string_view name_before, int64 before) {
  return text{} << "dynamic extent " << extent_name << " is at most " << bound << " here and at most " << before
                << " before (or its name collides with " << name_before << ")";
}
constexpr text leaf_of_another_type(std::string_view leaf_name, op kind, const tensor_type& type, op kind_before, const tensor_type& before, const graph_view& g) {
  text message;
  write_type(message << name(kind) << " \"" << leaf_name << "\": read as ", type, g);
  write_type(message << " here and as ", before, g);
  return message << " (" << name(kind_before) << ") before";
}
constexpr text output_given_twice(std::string_view result) {
  return text{} << "output \"" << result << "\": this name is taken by an earlier output";
}
constexpr text state_of_another_type(std::string_view result, const tensor_type& state, const tensor_type& value_type, const graph_view& g) {
  text message;
  write_type(message << "output \"" << result << "\": the state is ", state, g);
  write_type(message << " and its new value is ", value_type, g);
  return message << "; both must be the same";
}

struct value;

/// A graph under construction.
struct graph {
  vec<eqn> eqns;
  vec<uint32> operand_pool;
  vec<int64> attr_pool;
  vec<char> char_pool;
  vec<graph_output> outputs;
  vec<symbol> symbols;
  slice_of name{};
  name_index leaf_names, output_names;  ///< for `leaf` and `add_output`

  constexpr graph() = default;
  constexpr explicit graph(std::string_view graph_name) { name = intern(graph_name); }
  /// A copy of what `g` reads.
  constexpr explicit graph(const graph_view& g)
      : eqns(g.eqns), operand_pool(g.operand_pool), attr_pool(g.attr_pool), char_pool(g.char_pool), outputs(g.outputs),
        symbols(g.symbols), name(g.name) {}
  constexpr operator graph_view() const {
    return {eqns, operand_pool, attr_pool, char_pool, outputs, symbols, name};
  }
  constexpr graph_view view_of() const { return *this; }
  constexpr size_t size() const { return eqns.size(); }

  // Run-time models: shapes known when a checkpoint is opened.
  constexpr value input(std::string_view leaf, dtype t, std::initializer_list<extent> extents);
  constexpr value weight(std::string_view leaf, dtype t, std::initializer_list<extent> extents);
  constexpr value state(std::string_view leaf, dtype t, std::initializer_list<extent> extents);
  constexpr void output(std::string_view result, value v);
  /// A named dynamic extent, at most `bound`.
  constexpr extent dynamic(std::string_view extent_name, int64 bound) {
    const extent e = extent::dynamic(extent_name, bound);
    for (const symbol& s : symbols) {
      if (s.key != e.key()) continue;
      if (s.bound != bound || view_of().chars(s.name) != extent_name)
        fail(extent_of_another_bound(extent_name, bound, view_of().chars(s.name), s.bound));
      return e;
    }
    if (bound < 0 || bound > 0x7fffffff) fail(text{} << "dynamic extent " << extent_name << ": the bound must fit 31 bits");
    symbols.push_back({e.key(), bound, intern(extent_name)});
    return e;
  }

  /// Appends an equation without checking it.
  constexpr uint32 append(const eqn& e, view<uint32> in) {
    const auto id = static_cast<uint32>(eqns.size());
    eqns.push_back(e);
    eqns[id].operands = {static_cast<uint32>(operand_pool.size()), static_cast<uint32>(in.size())};
    operand_pool.append(in);
    return id;
  }
  /// Appends `o` over `in`; throws when a typing rule is broken.
  constexpr uint32 apply(op o, view<uint32> in, view<int64> attrs = {}, const tensor_type& declared = {});
  /// Appends a user's op over `in`; throws when a typing rule is broken.
  constexpr uint32 apply(const custom_row& row, view<uint32> in) {
    if (in.size() != static_cast<size_t>(row.arity))
      fail(text{} << row.name << ": takes " << row.arity << " operands, " << in.size() << " are given");
    const uint32 id = apply(op::custom, in);
    eqns[id].custom = &row;
    return id;
  }
  /// Appends a leaf; throws when a typing rule is broken or the name of an input, weight or state is taken.
  constexpr uint32 leaf(op o, const tensor_type& t, view<int64> attrs = {}, std::string_view leaf_name = {});
  /// A scalar constant with these bits of `t`.
  constexpr uint32 literal(dtype t, uint64 bits) {
    const int64 attr[1] = {static_cast<int64>(bits)};
    return leaf(op::constant, type_of(t), {attr, 1});
  }
  /// Makes value `id` the result called `result`, or the new value of the state of that name.
  constexpr void add_output(std::string_view result, uint32 id);

  constexpr slice_of intern(std::string_view s) {
    const slice_of where{static_cast<uint32>(char_pool.size()), static_cast<uint32>(s.size())};
    char_pool.append({s.data(), s.size()});
    return where;
  }
  constexpr slice_of keep_attrs(view<int64> attrs) {
    const slice_of where{static_cast<uint32>(attr_pool.size()), static_cast<uint32>(attrs.size())};
    attr_pool.append(attrs);
    return where;
  }
};

/// A handle to one value of a graph.
struct value {
  graph* owner = nullptr;
  uint32 id = 0;
  constexpr const tensor_type& type() const { return owner->eqns[id].type; }
};

/// Of what takes or gives graphs (core/precompiled.hpp).
inline constexpr uint64 graph_layout = mix(op_table_hash, layout_of<graph, graph_view, eqn>);

/// One sentence for a broken rule: the call, the operand with its type, the rule.
constexpr text describe(op o, const typing& t, view<tensor_type> in, const graph_view& g, const tensor_type& declared) {
  text message;
  message << name(o) << ": ";
  if (t.operand >= 0) message << "operand " << static_cast<int>(t.operand) << " of ";
  message << '(';
  for (size_t i = 0; i < in.size(); ++i) {
    if (i) message << ", ";
    write_type(message, in[i], g);
  }
  message << ')';
  if (in.empty() || o == op::cast || o == op::broadcast || o == op::reshape || o == op::attention || o == op::attention_join || is_contraction(o) ||
      (is_collective(o) && o != op::all_reduce_sum)) {
    message << " to ";
    write_type(message, declared, g);
  }
  message << ": " << explain(t.broken);
  if (t.broken == rule::packed_block) message << ", here " << row(declared.element).block_elements;
  return message;
}

constexpr uint32 graph::apply(op o, view<uint32> in, view<int64> attrs, const tensor_type& declared) {
  tensor_type types[8]{};
  vec<tensor_type> many;
  view<tensor_type> operand_types{types, in.size()};
  if (in.size() <= 8) {
    for (size_t i = 0; i < in.size(); ++i) types[i] = eqns[in[i]].type;
  } else {
    for (uint32 id : in) many.push_back(eqns[id].type);
    operand_types = many;
  }
  const typing t = infer(o, attrs, operand_types, declared);
  if (!t.ok()) fail(describe(o, t, operand_types, *this, declared));
  eqn e;
  e.kind = o;
  e.type = t.type;
  e.attrs = keep_attrs(attrs);
  return append(e, in);
}

constexpr uint32 graph::leaf(op o, const tensor_type& t, view<int64> attrs, std::string_view leaf_name) {
  const typing checked = infer(o, attrs, {}, t);
  if (!checked.ok()) {
    text message = describe(o, checked, {}, *this, t);
    if (!leaf_name.empty()) message << " (\"" << leaf_name << "\")";
    fail(message);
  }
  if (is_named_leaf(o) && view_of().find_leaf(leaf_name, leaf_names) != eqns.size())
    fail(text{} << poot::ir::name(o) << " \"" << leaf_name << "\": this name is taken by an earlier input, weight or state");
  eqn e;
  e.kind = o;
  e.type = t;
  e.attrs = keep_attrs(attrs);
  if (is_named_leaf(o)) e.name = intern(leaf_name);
  return append(e, {});
}

constexpr void graph::add_output(std::string_view result, uint32 id) {
  const auto count = static_cast<uint32>(outputs.size());
  if (output_names.find(count, result, [&](uint32 i) { return view_of().chars(outputs[i].name); }) != count)
    fail(output_given_twice(result));
  const uint32 leaf_id = view_of().find_leaf(result, leaf_names);
  if (leaf_id != eqns.size() && eqns[leaf_id].kind == op::state && !(eqns[leaf_id].type == eqns[id].type))
    fail(state_of_another_type(result, eqns[leaf_id].type, eqns[id].type, *this));
  outputs.push_back({id, intern(result)});
}

namespace detail {
constexpr value named_leaf(graph& g, op o, std::string_view leaf_name, dtype t, std::initializer_list<extent> extents) {
  tensor_type type;
  type.element = t;
  if (extents.size() > max_rank) fail(text{} << name(o) << " \"" << leaf_name << "\": " << explain(rule::rank_limit));
  for (extent e : extents) type.extents[type.rank++] = e;
  return {&g, g.leaf(o, type, {}, leaf_name)};
}
}  // namespace detail

constexpr value graph::input(std::string_view leaf_name, dtype t, std::initializer_list<extent> extents) {
  return detail::named_leaf(*this, op::input, leaf_name, t, extents);
}
constexpr value graph::weight(std::string_view leaf_name, dtype t, std::initializer_list<extent> extents) {
  return detail::named_leaf(*this, op::weight, leaf_name, t, extents);
}
constexpr value graph::state(std::string_view leaf_name, dtype t, std::initializer_list<extent> extents) {
  return detail::named_leaf(*this, op::state, leaf_name, t, extents);
}
constexpr void graph::output(std::string_view result, value v) {
  if (v.owner != this) fail(text{} << "output \"" << result << "\": the value belongs to another graph");
  add_output(result, v.id);
}

}  // namespace poot::ir
