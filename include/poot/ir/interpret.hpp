#pragma once
/// Runs a graph equation by equation: the reference that every executor is compared with.

#include <poot/core/float_environment.hpp>
#include <poot/core/philox.hpp>
#include <poot/ir/detail/interpret_binding.hpp>
#include <poot/ir/detail/interpret_chain.hpp>
#include <poot/ir/detail/interpret_movement.hpp>

namespace poot::ir {

/// exact: every equation in its dtype and order, rounded as numerics.md says. wide: every float is carried as f64 and
/// only an explicit cast to a narrower float rounds, to show how far the exact values are from the real ones.
enum class arithmetic : uint8 { exact, wide };

/// What happens to an index of gather or indexed_matmul, or a start of dynamic_update_slice, that does not fit.
enum class outside : uint8 { refuse, clamp };

struct interpret_options {
  arithmetic mode = arithmetic::exact;
  outside index = outside::refuse;
  subnormals small = subnormals::kept;  ///< flushed: as on a target whose caps say so; not in constant expressions
};

/// The values after a run. `states` holds every state: its new value, or the old one where the graph writes none.
struct interpretation {
  vec<named_tensor> outputs{};
  vec<named_tensor> states{};
};

namespace detail {

/// Does every value of `to` fit `from` exactly? Then a cast between them rounds nothing.
constexpr bool contains(dtype wider, dtype narrower) {
  const float_format w = format_of(wider), n = format_of(narrower);
  return w.exponent_bits >= n.exponent_bits && w.fraction_bits >= n.fraction_bits;
}

constexpr void cast_equation(const graph_view& g, uint32 id, const tensor& x, tensor& result) {
  const dtype declared = g.type(id).element, from = g.type(g.operands(id)[0]).element;
  const bool widened = declared != result.type.element;
  const bool rounds = widened && is_float(from) && !contains(declared, from);
  cast_all(x, result.type.element, result);
  if (rounds)
    for (uint64& bits : result.bits)
      bits = cast_bits(declared, dtype::f64, cast_bits(dtype::f64, declared, bits));
}

constexpr void leaf_equation(const graph_view& g, uint32 id, view<const tensor*> in, tensor& result) {
  const dtype declared = g.type(id).element, t = result.type.element;
  switch (g[id].kind) {
    case op::constant: {
      const view<int64> given = g.attrs(id);
      for (size_t i = 0; i < result.bits.size(); ++i) {
        const uint64 bits = static_cast<uint64>(given[given.size() == 1 ? 0 : i]);
        const uint64 own = is_float(declared) ? bits & (format_of(declared).sign_bit() * 2 - 1) : store_integer(declared, bits);
        result.bits[i] = cast_bits(declared, t, own);
      }
      break;
    }
    case op::iota: {
      const int axis = static_cast<int>(g.attrs(id)[0]);
      int64 run = 1;
      for (int i = axis + 1; i < result.type.rank; ++i) run *= result.type.extents[i].code;
      for (size_t i = 0; i < result.bits.size(); ++i) {
        const uint64 index = i / static_cast<uint64>(run) % static_cast<uint64>(result.type.extents[axis].code);
        result.bits[i] = is_float(t) ? round_bits(format_of(t), false, index, 0) : store_integer(t, index);
      }
      break;
    }
    default:
      for (size_t i = 0; i < result.bits.size(); ++i)
        result.bits[i] = store_float(t, uniform_element(static_cast<uint32>(in[0]->bits[0]), static_cast<uint32>(in[1]->bits[0]), i));
  }
}

template <class Float>
constexpr void contract(const graph_view& g, uint32 id, const index_rule& inside, view<const tensor*> in, tensor& result) {
  const order o = order_of(g[id]);
  if (in.size() == 3) indexed_matmul<Float>(o, inside, *in[0], *in[1], *in[2], result);
  else if (g[id].kind == op::conv2d) conv2d<Float>(o, g.attrs(id), *in[0], *in[1], result);
  else matmul<Float>(o, !g.attrs(id).empty() && g.attrs(id)[0] != 0, *in[0], *in[1], result);
}

constexpr tensor evaluate_equation(const graph_view& g, uint32 id, view<const tensor*> in, const tensor_type& type, outside index, subnormals small) {
  const float_environment environment(small);
  const eqn& e = g[id];
  const view<int64> at = g.attrs(id);
  const detail::index_rule inside{id, e.kind, index == outside::clamp};
  tensor result(type);
  if (e.kind == op::cast) return detail::cast_equation(g, id, *in[0], result), result;
  switch (row(e.kind).kind) {
    case op_class::leaf: detail::leaf_equation(g, id, in, result); break;
    case op_class::pointwise:
      if (e.custom) detail::custom(*e.custom, in, result);
      else detail::pointwise(e.kind, in, result);
      break;
    case op_class::reduction:
      if (e.kind == op::reduce_sum) detail::check_order(order_of(e), id, e.kind);
      detail::reduce(e.kind, order_of(e), *in[0], static_cast<int>(at[0]), result);
      break;
    case op_class::contraction:
      detail::check_order(order_of(e), id, e.kind);
      if (in[0]->type.element == dtype::f64 || in[1]->type.element == dtype::f64)
        detail::contract<double>(g, id, inside, in, result);
      else
        detail::contract<float>(g, id, inside, in, result);
      break;
    case op_class::movement:
      switch (e.kind) {
        case op::packed_gather:  // rows of a packed value, decoded where a float is declared
          if (!is_packed(type.element)) {
            tensor rows(type.with(in[0]->type.element));
            detail::gather(inside, static_cast<int>(at[0]), *in[0], *in[1], rows);
            detail::cast_all(rows, type.element, result);
            break;
          }
          [[fallthrough]];
        case op::gather: detail::gather(inside, static_cast<int>(at[0]), *in[0], *in[1], result); break;
        case op::slice: detail::slice(at, *in[0], result); break;
        case op::concat: detail::concat(static_cast<int>(at[0]), in, result); break;
        case op::transpose: detail::transpose(at, *in[0], result); break;
        case op::broadcast: detail::copy_broadcast(*in[0], type, result.bits.data()); break;
        case op::reshape: result.bits = in[0]->bits; break;
        default:
          result.bits = in[0]->bits;
          detail::update_slice(inside, *in[1], *in[2], result);
      }
      break;
    case op_class::chain:
      detail::check_order(order_of(e), id, e.kind);
      if (e.kind == op::rope) detail::rope(at, *in[0], *in[1], *in[2], result);
      else if (in[0]->type.element == dtype::f64) detail::attend<double>(e.kind, order_of(e), at, in, result);
      else detail::attend<float>(e.kind, order_of(e), at, in, result);
      break;
    case op_class::collective:
      fail(text{} << "%" << id << ": " << name(e.kind) << ": this is a run of one rank; interpret_ranks runs all of a group");
  }
  return result;
}

/// A run of a graph on one rank, equation by equation.
class rank_run {
 public:
  constexpr rank_run() = default;
  constexpr rank_run(const graph_view& g, view<named_tensor> given, const interpret_options& options)
      : g_(g), options_(options), at_(g.size(), nullptr), last_reader_(g.size(), 0), values_(g.size()) {
    const auto count = static_cast<uint32>(g.size());
    for (uint32 id = 0; id < count; ++id) {
      if (!is_named_leaf(g[id].kind)) continue;
      at_[id] = find(given, g.name_of(id));
      if (!at_[id]) {
        text message;
        write_leaf(message, g, id);
        fail(message << ": no value is given");
      }
      bind_leaf(g, id, *at_[id], is_wide(), bound_);
    }
    for (uint32 id = 0; id < count; ++id)
      for (uint32 in : g.operands(id)) last_reader_[in] = id;
    for (const graph_output& o : g.outputs) last_reader_[o.value] = count;
  }
  constexpr rank_run(rank_run&&) = default;
  constexpr rank_run& operator=(rank_run&&) = default;

  /// The value of equation `id`, once it was computed.
  constexpr const tensor* operator[](uint32 id) const { return at_[id]; }
  /// The type that equation `id` has in this run.
  constexpr tensor_type type(uint32 id) const {
    tensor_type t = concrete(g_, g_.type(id), bound_, id);
    if (is_wide() && is_float(t.element)) t.element = dtype::f64;
    return t;
  }
  constexpr void compute(uint32 id) {
    if (is_named_leaf(g_[id].kind)) {
      if (is_wide() && is_float(g_.type(id).element)) take(id, widen(*at_[id]));
      return;
    }
    in_.clear();
    for (uint32 operand : g_.operands(id)) in_.push_back(at_[operand]);
    take(id, evaluate_equation(g_, id, in_, type(id), options_.index, options_.small));
  }
  /// Makes `value` that of equation `id`. Values live until their last reader; outputs and states until the end.
  constexpr void take(uint32 id, tensor value) {
    values_[id] = std::move(value);
    at_[id] = &values_[id];
    for (uint32 operand : g_.operands(id))
      if (last_reader_[operand] == id && g_[operand].kind != op::state) values_[operand].bits = vec<uint64>();
  }

  constexpr interpretation results() const {
    const auto count = static_cast<uint32>(g_.size());
    interpretation result;
    for (uint32 id = 0; id < count; ++id) {
      if (g_[id].kind != op::state) continue;
      const tensor* value = at_[id];
      for (const graph_output& o : g_.outputs)
        if (g_.chars(o.name) == g_.name_of(id)) value = at_[o.value];
      result.states.push_back({g_.name_of(id), *value});
    }
    for (const graph_output& o : g_.outputs) {
      const uint32 leaf = g_.find_leaf(g_.chars(o.name));
      if (leaf == count || g_[leaf].kind != op::state) result.outputs.push_back({g_.chars(o.name), *at_[o.value]});
    }
    return result;
  }

 private:
  constexpr bool is_wide() const { return options_.mode == arithmetic::wide; }

  graph_view g_;
  interpret_options options_;
  extent_values bound_;
  vec<const tensor*> at_, in_;
  vec<uint32> last_reader_;
  vec<tensor> values_;  ///< (where they are does not change as a run is moved)
};

constexpr interpretation evaluate_graph(const graph_view& g, view<named_tensor> given, const interpret_options& options) {
  rank_run run(g, given, options);
  for (uint32 id = 0; id < g.size(); ++id) run.compute(id);
  return run.results();
}

}  // namespace detail

inline constexpr uint64 interpreter_layout = mix(graph_layout, layout_of<tensor, named_tensor, interpret_options>);
namespace precompiled {
template <uint64 Layout>
tensor interpret_equation(const graph_view& g, uint32 id, view<const tensor*> in, const tensor_type& type, outside index, subnormals small);
template <uint64 Layout>
interpretation interpret(const graph_view& g, view<named_tensor> given, const interpret_options& options);
}  // namespace precompiled

/// The value of equation `id`, no input, weight or state, over the values of its operands. `type` is its type with
/// counts for extents, and with f64 for a float in wide arithmetic.
constexpr tensor interpret_equation(const graph_view& g, uint32 id, view<const tensor*> in, const tensor_type& type,
                                    outside index = outside::refuse, subnormals small = subnormals::kept) {
  if constexpr (!is_precompiled) return detail::evaluate_equation(g, id, in, type, index, small);
  else if (__builtin_is_constant_evaluated()) return detail::evaluate_equation(g, id, in, type, index, small);
  else return precompiled::interpret_equation<interpreter_layout>(g, id, in, type, index, small);
}

/// Runs `g` once over values for its inputs, weights and states, found by name; names that the graph does not read
/// are ignored. Throws where a value is missing or does not fit its leaf, where an index lies outside, and at a collective
/// (ir/interpret_ranks.hpp).
constexpr interpretation interpret(const graph_view& g, view<named_tensor> given, const interpret_options& options = {}) {
  if constexpr (!is_precompiled) return detail::evaluate_graph(g, given, options);
  else if (__builtin_is_constant_evaluated()) return detail::evaluate_graph(g, given, options);
  else return precompiled::interpret<interpreter_layout>(g, given, options);
}

}  // namespace poot::ir
