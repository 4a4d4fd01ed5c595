#pragma once
/// Writes free nodes and typed tensors into a graph, each distinct node once.

#include <poot/core/hash_index.hpp>
#include <poot/dsl/operand.hpp>

namespace poot::dsl {

class tracer {
 public:
  /// With `shared`, others write to `g` as well: what is already there is found again by its content.
  constexpr explicit tracer(ir::graph& g, bool shared = false) : graph_(&g), shared_(shared) {}
  constexpr ir::graph& graph() { return *graph_; }

  /// The equation of a free node.
  constexpr uint32 lower(const description* root) {
    if (const uint32 known = find(root); known != hash_index::none) return numbers_[known].number;
    if (root->operands.empty() && !root->body) return finish(root);
    vec<frame> stack;
    stack.push_back({root, 0});
    while (true) {
      frame& top = stack.back();
      if (top.next < top.node->operands.size()) {
        const description* operand = top.node->operands[top.next++];
        if (find(operand) == hash_index::none) stack.push_back({operand, 0});
        continue;
      }
      const uint32 id = finish(top.node);
      stack.pop_back();
      if (stack.empty()) return id;
    }
  }

  /// Appends an equation whose typing was checked when the types were made.
  constexpr uint32 emit(const description& d, view<uint32> in) {
    ir::eqn e;
    e.custom = d.custom;
    e.kind = d.kind;
    e.type = d.type;
    if (!d.attrs.empty()) e.attrs = graph_->keep_attrs(d.attrs);
    if (!d.name.empty()) e.name = graph_->intern(d.name);
    return graph_->append(e, in);
  }
  constexpr void declare(view<symbol_name> symbols) {
    for (const symbol_name& s : symbols) graph_->dynamic(s.name, s.bound);
  }
  /// The leaf of this kind, type and name, made on first sight.
  constexpr uint32 named_leaf(ir::op kind, const tensor_type& type, std::string_view name) {
    const uint64 key = hash_text(name);
    const uint32 known = names_.find(key, [&](uint32 id) { return graph_->view_of().name_of(id) == name; });
    if (known != hash_index::none) return check_leaf(known, kind, type, name);
    if (shared_) {
      const uint32 id = graph_->view_of().find_leaf(name);
      if (id != graph_->size()) return check_leaf(id, kind, type, name);
    }
    ir::eqn e;
    e.kind = kind;
    e.type = type;
    e.name = graph_->intern(name);
    const uint32 id = graph_->append(e, {});
    names_.insert(key, id);
    return id;
  }

 private:
  struct frame {
    const description* node = nullptr;
    uint32 next = 0;
  };
  struct numbered {
    const description* node = nullptr;
    uint32 number = 0;
  };

  /// Where a node stands in `numbers_`. A key only finds the place: two nodes are one when they are one object.
  constexpr uint32 find(const description* d) const {
    return seen_.find(d->key, [&](uint32 i) { return numbers_[i].node == d; });
  }

  constexpr uint32 check_leaf(uint32 id, ir::op kind, const tensor_type& type, std::string_view name) const {
    const ir::eqn& e = graph_->eqns[id];
    if (e.kind == kind && e.type == type) return id;
    fail(ir::leaf_of_another_type(name, kind, type, e.kind, e.type, *graph_));
  }

  constexpr uint32 finish(const description* d) {
    vec<uint32> in;
    in.reserve(d->operands.size());
    for (const description* operand : d->operands) in.push_back(numbers_[find(operand)].number);
    uint32 number = 0;
    switch (d->what) {
      case description::form::equation: number = equation(d, in); break;
      case description::form::part: number = parts_[in[0] + d->part]; break;
      case description::form::update:
        number = in[1];
        graph_->add_output(d->name, number);
        break;
      case description::form::block: {
        vec<uint32> out;
        d->body(*this, in.data(), out);
        if (out.size() == 1) {
          number = out[0];
        } else {
          number = static_cast<uint32>(parts_.size());
          parts_.append(out);
        }
      }
    }
    seen_.insert(d->key, static_cast<uint32>(numbers_.size()));
    numbers_.push_back({d, number});
    return number;
  }

  constexpr uint32 equation(const description* d, view<uint32> in) {
    declare(d->symbols);
    if (ir::is_named_leaf(d->kind)) return named_leaf(d->kind, d->type, d->name);
    if (shared_)
      for (uint32 id = 0; id < graph_->size(); ++id) {
        const ir::eqn& e = graph_->eqns[id];
        if (e.kind == d->kind && e.custom == d->custom && e.type == d->type && graph_->view_of().chars(e.name) == d->name && graph_->view_of().attrs(e) == d->attrs &&
            graph_->view_of().operands(e) == in)
          return id;
      }
    return emit(*d, in);
  }

  ir::graph* graph_;
  bool shared_;
  hash_index seen_;         ///< into numbers_
  vec<numbered> numbers_;  ///< a node and its equation; of blocks with several results, the first in parts_
  hash_index names_;       ///< equations of named leaves
  vec<uint32> parts_;  ///< results of blocks that have several
};

}  // namespace poot::dsl
