#pragma once
/// Text to graph: `parse(text)` reads one graph in the form that docs/ops.md describes, and checks all of it.

#include <poot/core/hash_index.hpp>
#include <poot/ir/detail/attributes.hpp>
#include <poot/ir/group.hpp>

namespace poot::ir {

namespace detail {

/// a · b for numbers from 0 on, or `attr_limit` + 1 when that is larger than the limit.
constexpr int64 limited_product(int64 a, int64 b) {
  if (a == 0 || b == 0) return 0;
  return a > attr_limit / b ? attr_limit + 1 : a * b;
}

/// Whether the arithmetic of the typing rules stays within 64 bits, and every operand they read is there; the rule that
/// text breaks otherwise.
constexpr rule broken_before_typing(op o, view<int64> at, view<tensor_type> in) {
  if (o == op::slice && !in.empty()) {
    for (int i = 0; i < in[0].rank; ++i) {
      const int64 step = at[2 * in[0].rank + i], size = extent::from_code(at[in[0].rank + i]).bound();
      if (step > 1 && limited_product(size, step) > attr_limit) return rule::slice_range;
    }
  }
  if (o == op::concat && !in.empty() && at[0] >= 0 && at[0] < in[0].rank) {
    int64 sum = 0;
    for (const tensor_type& t : in) {
      if (at[0] < t.rank) sum += t.extents[at[0]].bound();
      if (sum > attr_limit) return rule::concat_extents;
    }
  }
  if (o == op::conv2d && in.size() == 2 && in[0].rank == 4 && in[1].rank == 4) {
    for (int i = 0; i < 9; ++i)
      if (at[i] > 0x7fffffff) return rule::conv_attributes;
    for (int i = 2; i < 4; ++i) {
      if (in[1].extents[i].is_dynamic()) return rule::conv_window;
      if (limited_product(in[1].extents[i].code, at[4 + i]) > attr_limit) return rule::conv_window;
      if (in[0].extents[i].bound() > attr_limit - 2 * int64{0x7fffffff}) return rule::conv_window;
    }
  }
  if (o == op::packed_contraction && in.size() != 2 && in.size() != 3) return rule::operand_count;
  if (o == op::packed_contraction && !is_packed(in[1].element)) return rule::operand_dtype;
  if (o == op::packed_gather && in.size() == 2 && !is_packed(in[0].element)) return rule::operand_dtype;
  return rule::none;
}

struct graph_reader : text_reader {
  struct named {
    std::string_view name;
    uint32 id = 0;
  };
  struct result {
    size_t where = 0;
    uint32 value = 0;
    slice_of name{};
  };

  view<const custom_row*> customs{};
  graph g{};
  vec<named> values{};
  hash_index value_index{};   // of `values`, by the name in the text
  hash_index leaf_index{};    // of equations, by the leaf's own name
  hash_index output_index{};  // of outputs, by name
  hash_index symbol_index{};  // of symbols, by key
  group_sizes groups{};
  vec<size_t> output_places{};
  vec<tensor_type> operand_types{};
  vec<uint32> operands{};

  constexpr std::string_view chars(slice_of s) const { return {g.char_pool.data() + s.first, s.count}; }
  constexpr uint32 find_value(std::string_view wanted) const {
    return value_index.find(hash_text(wanted), [&](uint32 i) { return values[i].name == wanted; });
  }
  constexpr uint32 find_leaf(std::string_view wanted) const {
    return leaf_index.find(hash_text(wanted), [&](uint32 i) { return chars(g.eqns[i].name) == wanted; });
  }

  constexpr extent read_extent() {
    const char next = peek();
    if (next == '-') refuse(text("extents must not be negative"));
    if (!starts_identifier(next)) return extent(integer(0, attr_limit));
    const size_t where = at;
    const std::string_view name = word("an extent");
    const uint64 key = extent::key_of(name);
    const uint32 known = symbol_index.find(key, [&](uint32 i) { return g.symbols[i].key == key; });
    if (known != hash_index::none && chars(g.symbols[known].name) != name) {
      text reason("the names of the dynamic extents ");
      excerpt(reason, name) << " and ";
      refuse(where, excerpt(reason, chars(g.symbols[known].name)) << " have one hash; rename one");
    }
    if (!take('<')) {
      if (known != hash_index::none) return extent::dynamic(name, g.symbols[known].bound);
      text reason("the dynamic extent ");
      refuse(where, excerpt(reason, name) << " needs its bound at first use, as in L<=4096");
    }
    expect('=');
    const int64 bound = integer(0, 0x7fffffff);
    if (known == hash_index::none) {
      symbol_index.insert(key, static_cast<uint32>(g.symbols.size()));
      g.symbols.push_back({key, bound, g.intern(name)});
    } else if (g.symbols[known].bound != bound) {
      text reason("the dynamic extent ");
      refuse(where, excerpt(reason, name) << " is at most " << bound << " here and at most " << g.symbols[known].bound << " before");
    }
    return extent::dynamic(name, bound);
  }

  constexpr dtype read_dtype() {
    skip();
    const size_t where = at;
    const std::string_view name = word("an element type");
    dtype t{};
    if (!find_dtype(name, t)) {
      text reason("there is no element type ");
      refuse(where, excerpt(reason, name));
    }
    return t;
  }

  constexpr tensor_type read_type() {
    skip();
    const size_t where = at;
    tensor_type t;
    t.element = read_dtype();
    expect('[');
    int64 bytes = row(t.element).block_bytes;  // of as many blocks as there are elements: never less than the true size
    if (!take(']')) {
      do {
        if (t.rank == max_rank) refuse(explain(rule::rank_limit));
        const extent e = read_extent();
        if (e.bound() > 0) bytes = limited_product(bytes, e.bound());
        t.extents[t.rank++] = e;
      } while (take(','));
      expect(']');
    }
    if (bytes > attr_limit) refuse(where, text("the extents multiply to more than 2^62 bytes"));
    return t;
  }

  /// `f32(1e-5)`: the type and the bits.
  constexpr dtype read_literal(uint64& bits) {
    const dtype t = read_dtype();
    expect('(');
    bits = read_number(*this, t);
    expect(')');
    return t;
  }

  constexpr void read_operands() {
    operands.clear();
    do {
      const char next = peek();
      const size_t where = at;
      if (next == '%') {
        const std::string_view name = value_name();
        const uint32 found = find_value(name);
        if (found == hash_index::none) {
          text reason("reads ");
          refuse(where, excerpt(reason, name) << ", which is not named before it");
        }
        operands.push_back(values[found].id);
      } else if (starts_identifier(next)) {
        uint64 bits = 0;
        const dtype t = read_literal(bits);
        operands.push_back(g.literal(t, bits));
      } else if (!operands.empty()) {
        unexpected("an operand after ','");
      } else {
        break;
      }
    } while (take(','));
  }

  /// Types the equation as `infer` says, and compares with what the text declares.
  constexpr uint32 add(size_t where, op o, const tensor_type& declared, view<int64> attrs, order sum, slice_of leaf) {
    operand_types.clear();
    for (uint32 id : operands) operand_types.push_back(g.eqns[id].type);
    typing t;
    t.broken = broken_before_typing(o, attrs, operand_types);
    if (t.ok()) t = infer(o, attrs, operand_types, declared);
    if (!t.ok()) {
      const std::string_view leaf_name = is_named_leaf(o) ? chars(leaf) : std::string_view{};
      text reason = describe(o, t, operand_types, g, declared);
      if (!leaf_name.empty()) excerpt(reason << " (\"", leaf_name) << "\")";
      call = {};  // the description begins with it
      refuse(where, reason);
    }
    if (!(t.type == declared)) {
      text reason("gives ");
      write_type(reason, t.type, g);
      write_type(reason << ", declared is ", declared, g);
      refuse(where, reason);
    }
    eqn e;
    e.kind = o;
    e.sum = sum;
    e.type = t.type;
    e.attrs = g.keep_attrs(attrs);
    e.name = leaf;
    return g.append(e, operands);
  }

  constexpr const custom_row* find_custom(std::string_view wanted) const {
    for (const custom_row* row : customs)
      if (row->name == wanted) return row;
    return nullptr;
  }

  constexpr void read_equation() {
    skip();
    const size_t where = at;
    subject = value_name();
    if (find_value(subject) != hash_index::none) refuse(where, text("this name is taken by an earlier value"));
    expect(':');
    const tensor_type declared = read_type();
    expect('=');
    skip();
    const size_t op_where = at;
    call = word("an op");
    op o{};
    const custom_row* custom = find_custom(call);
    if (custom) o = op::custom;
    if (!custom && (!find_op(call, o) || o == op::custom)) {
      const std::string_view name = call;
      call = {};
      text reason("there is no op ");
      refuse(op_where, excerpt(reason, name));
    }
    slice_of leaf{};
    uint64 bits = 0;
    bool literal = false;
    operands.clear();
    if (is_named_leaf(o)) {
      skip();
      const size_t name_where = at;
      const vec<char> name = quoted("the name in quotes");
      const std::string_view name_chars{name.data(), name.size()};
      if (find_leaf(name_chars) != hash_index::none) {
        text reason("the name \"");
        refuse(name_where, excerpt(reason, name_chars) << "\" is taken by an earlier input, weight or state");
      }
      leaf = g.intern(name_chars);
    } else if (o == op::constant && starts_identifier(peek())) {
      skip();
      const size_t literal_where = at;
      literal = true;
      const dtype t = read_literal(bits);
      if (t != declared.element)
        refuse(literal_where, text{} << "the number is " << name(t) << ", declared is " << name(declared.element));
    } else {
      read_operands();
    }
    uint32 id = 0;
    if (literal) {
      const int64 one[1] = {static_cast<int64>(bits)};
      id = add(op_where, o, declared, {one, 1}, {}, {});
    } else {
      const attributes a = read_attributes(*this, o, declared.element, [this] { return read_extent(); });
      const tensor_type* first = operands.empty() ? nullptr : &g.eqns[operands[0]].type;
      const vec<int64> kept = kept_attributes(*this, o, a, first);
      if (is_collective(o)) leaf = g.intern({a.group.data(), a.group.size()});
      id = add(op_where, o, declared, kept, a.sum, leaf);
      if (is_collective(o))
        if (const text wrong = groups.note(g, id); !wrong.empty()) refuse(op_where, wrong);
    }
    if (custom && operands.size() != static_cast<size_t>(custom->arity))
      refuse(op_where, text{} << "takes " << custom->arity << " operands, " << operands.size() << " are given");
    g.eqns[id].custom = custom;
    if (is_named_leaf(o)) leaf_index.insert(hash_text(chars(leaf)), id);
    value_index.insert(hash_text(subject), static_cast<uint32>(values.size()));
    values.push_back({subject, id});
    subject = call = {};
  }

  constexpr void read_output() {
    const size_t where = at;
    const vec<char> name = quoted("the output's name in quotes");
    const std::string_view name_chars{name.data(), name.size()};
    const auto same = [&](uint32 i) { return chars(g.outputs[i].name) == name_chars; };
    if (output_index.find(hash_text(name_chars), same) != hash_index::none) {
      text reason("output \"");
      refuse(where, excerpt(reason, name_chars) << "\": this name is taken by an earlier output");
    }
    expect('=');
    skip();
    const size_t value_where = at;
    const std::string_view value = value_name();
    const uint32 found = find_value(value);
    if (found == hash_index::none) {
      text reason("output \"");
      excerpt(reason, name_chars) << "\" reads ";
      refuse(value_where, excerpt(reason, value) << ", which is not named before it");
    }
    output_index.insert(hash_text(name_chars), static_cast<uint32>(g.outputs.size()));
    g.outputs.push_back({values[found].id, g.intern(name_chars)});
    output_places.push_back(where);
  }

  /// An output with the name of a state is its new value, of the same type; names of inputs and weights are free.
  constexpr void check_outputs() const {
    for (size_t i = 0; i < g.outputs.size(); ++i) {
      const std::string_view name = chars(g.outputs[i].name);
      const uint32 leaf = find_leaf(name);
      if (leaf == hash_index::none) continue;
      const tensor_type &old = g.eqns[leaf].type, &now = g.eqns[g.outputs[i].value].type;
      if (g.eqns[leaf].kind != op::state || old == now) continue;
      text reason("output \"");
      excerpt(reason, name) << "\": ";
      write_type(reason << "the state is ", old, g);
      write_type(reason << " and its new value is ", now, g);
      refuse(output_places[i], reason << "; both must be the same");
    }
  }

  constexpr void read_graph() {
    if (source.size() > size_t{1} << 30) refuse(text("a graph of more than 2^30 characters"));
    if (word("'graph'") != "graph") {
      at = 0;
      skip();
      unexpected("'graph'");
    }
    if (peek() == '"') {
      const vec<char> name = quoted("the graph's name");
      g.name = g.intern({name.data(), name.size()});
    } else {
      g.name = g.intern(word("the graph's name"));
    }
    expect('{');
    while (!take('}')) {
      if (peek() == '%') {
        read_equation();
        continue;
      }
      const size_t where = at;
      if (!starts_identifier(peek()) || word("output") != "output") {
        at = where;
        unexpected("a value, an output or '}'");
      }
      skip();
      read_output();
    }
    if (!at_end()) unexpected("nothing after the graph");
    check_outputs();
  }
};

constexpr graph read(std::string_view source, view<const custom_row*> customs) {
  graph_reader reader{{source}};
  reader.customs = customs;
  reader.read_graph();
  return std::move(reader.g);
}

}  // namespace detail

namespace precompiled {
template <uint64 Layout>
graph parse(std::string_view source, view<const custom_row*> customs);
}

/// Reads a graph. Throws `error` with line and column, the value, the op and the rule when the text is not well formed
/// or breaks a typing rule. Time and memory grow with the text, whatever it holds.
/// `customs` are the user's ops that the text may name.
constexpr graph parse(std::string_view source, view<const custom_row*> customs = {}) {
  if constexpr (!is_precompiled) return detail::read(source, customs);
  else if (__builtin_is_constant_evaluated()) return detail::read(source, customs);
  else return precompiled::parse<graph_layout>(source, customs);
}

}  // namespace poot::ir
