#pragma once
/// Models as graphs: `trace(model)`, and the frozen constant `frozen<model>`.

#include <poot/dsl/block.hpp>
#include <poot/dsl/contradiction.hpp>
#include <poot/dsl/output.hpp>
#include <poot/ir/freeze.hpp>

namespace poot::dsl {

/// The equations that outputs need, each after its operands, in the order in which outputs first reach them. (In what
/// order a compiler evaluates the operands of an operator inside a block no longer shows.)
constexpr ir::graph in_order_of_outputs(const ir::graph_view& g) {
  ir::graph r;
  constexpr uint32 unseen = ~uint32{0};
  vec<uint32> places(g.size(), unseen);
  uint32* const place = places.data();
  struct frame {
    uint32 id = 0, next = 0;
  };
  vec<frame> stack;
  r.eqns.reserve(g.eqns.size());
  r.operand_pool.reserve(g.operand_pool.size());
  r.attr_pool.reserve(g.attr_pool.size());
  r.char_pool.reserve(g.char_pool.size());
  const auto keep = [&](uint32 id) {
    place[id] = static_cast<uint32>(r.eqns.size());
    r.eqns.push_back(g[id]);
    ir::eqn& e = r.eqns.back();
    const uint32* const in = g.first_operand(id);
    e.operands.first = static_cast<uint32>(r.operand_pool.size());
    for (uint32 k = 0; k < e.operands.count; ++k) r.operand_pool.push_back(place[in[k]]);
    if (e.attrs.count) e.attrs = r.keep_attrs(g.attrs(e));
    if (e.name.count) e.name = r.intern(g.chars(e.name));
  };
  for (const ir::graph_output& o : g.outputs) {
    if (place[o.value] == unseen) stack.push_back({o.value, 0});
    while (!stack.empty()) {
      frame& top = stack.back();
      if (top.next < g.operand_count(top.id)) {
        const uint32 operand = g.first_operand(top.id)[top.next++];
        if (place[operand] == unseen) {
          if (g.operand_count(operand)) stack.push_back({operand, 0});
          else keep(operand);
        }
      } else {
        if (place[top.id] == unseen) keep(top.id);
        stack.pop_back();
      }
    }
  }
  for (const ir::graph_output& o : g.outputs) r.outputs.push_back({place[o.value], r.intern(g.chars(o.name))});
  for (const ir::symbol& s : g.symbols) r.symbols.push_back({s.key, s.bound, r.intern(g.chars(s.name))});
  r.name = r.intern(g.chars(g.name));
  return r;
}

struct output_tracer {
  tracer& t;
  template <model_output O>
  constexpr void operator()(O) const {
    if constexpr (named_output<O>) t.graph().add_output(O::output_name, t.lower(&O::node::node_description));
    else t.lower(&O::node_description);
  }
};

/// The graph of a model; its outputs stand in the order in which they are traced. Room is made for `expected` equations.
template <model M>
constexpr ir::graph trace(M, std::string_view graph_name = "model", size_t expected = 0) {
  ir::graph g(graph_name);
  g.eqns.reserve(expected);
  tracer t(g);
  if constexpr (several_outputs<M>) M::each(output_tracer{t});
  else output_tracer{t}(M{});
  return in_order_of_outputs(g);
}

/// Adds up what each distinct free node of a model brings to its graph; of a block, whose body is not run, the most that
/// one layer of a decoder does.
class size_estimate {
 public:
  ir::graph_sizes sizes{};

  template <model_output O>
  constexpr void operator()(O) {
    if constexpr (named_output<O>) add(&O::node::node_description), add_name(O::output_name);
    else add(&O::node_description);
  }

 private:
  constexpr void add_name(std::string_view name) {
    ++sizes.outputs;
    sizes.chars += name.size();
  }
  constexpr void add(const description* root) {
    vec<const description*> open{root};
    while (!open.empty()) {
      const description* d = open.back();
      open.pop_back();
      if (nodes_.find(d->key, [&](uint32 i) { return list_[i] == d; }) != hash_index::none) continue;
      nodes_.insert(d->key, static_cast<uint32>(list_.size()));
      list_.push_back(d);
      for (const description* operand : d->operands) open.push_back(operand);
      count(*d);
    }
  }
  constexpr void count(const description& d) {
    const bool block = d.what == description::form::block;
    sizes.eqns += block ? 112 : 1;
    sizes.operands += block ? 160 : d.operands.size();
    sizes.attrs += block ? 80 : d.attrs.size();
    sizes.chars += block ? 64 : d.name.size();
    sizes.outputs += block ? 4 : 0;
    sizes.symbols += block ? 1 : d.symbols.size();
    for (const symbol_name& s : d.symbols) sizes.chars += s.name.size();
    if (d.what == description::form::update) add_name(d.name);
  }

  vec<const description*> list_;
  hash_index nodes_;
};

template <class M>
struct traced {
  template <ir::graph_sizes Capacity>
  using frozen = ir::frozen_graph<Capacity>;
  constexpr ir::graph operator()() const { return trace(M{}, "model", capacity().eqns); }
  static constexpr ir::graph_sizes capacity() {
    size_estimate estimate;
    if constexpr (several_outputs<M>) M::each([&](auto output) { estimate(output); });
    else estimate(M{});
    estimate.sizes.chars += 8;  // the graph's name
    return estimate.sizes;
  }
};

/// In place of the graph of a model that is refused.
struct no_graph {
  template <ir::graph_sizes Capacity>
  using frozen = ir::frozen_graph<Capacity>;
  constexpr ir::graph operator()() const { return {}; }
  static constexpr ir::graph_sizes capacity() { return {}; }
};
template <model M>
constexpr const auto& frozen_of() {
  if constexpr (detail::is_silent<contradiction_of<M>>()) {
    return ir::freeze<traced<M>>;
  } else {
    static_assert(accepted_call<typename detail::sentence<contradiction_of<M>>::type>, "poot: this model is refused");
    return ir::freeze<no_graph>;
  }
}
/// The graph of a model as a constant. A model that contradicts itself is refused: a name read as two types, a dynamic extent
/// with two bounds, a result or a state given twice, a state given another type. (Where only the body of a block says so, tracing
/// it stops the compiler, and the sentence is not shown.)
template <auto Model>
  requires model<std::remove_const_t<decltype(Model)>>
inline constexpr const auto& frozen = frozen_of<std::remove_const_t<decltype(Model)>>();

}  // namespace poot::dsl

namespace poot {
using dsl::frozen, dsl::trace;
}  // namespace poot
