#pragma once
/// What the free nodes of a model say twice, and differently the second time. (What the bodies of blocks say is found when
/// they are traced.)

#include <poot/dsl/output.hpp>

namespace poot::dsl {

/// Takes the outputs of a model, one after the other.
class contradiction {
 public:
  template <model_output O>
  constexpr void operator()(O) {
    if constexpr (named_output<O>) {
      walk(&O::node::node_description);
      give(O::output_name, O::node::result);
    } else {
      walk(&O::node_description);
    }
  }
  /// The first one, as tracing would say it; empty if there is none.
  constexpr text message() const {
    if (!message_.empty()) return message_;
    for (const named& r : results_) {
      const uint32 known = find(leaf_at_, leaves_, r.name);
      if (known != hash_index::none && leaves_[known].kind == ir::op::state && !(leaves_[known].type == r.type))
        return ir::state_of_another_type(r.name, leaves_[known].type, r.type, {});
    }
    return {};
  }

 private:
  struct named {
    std::string_view name;
    tensor_type type{};
    ir::op kind = ir::op::input;
  };
  static constexpr uint32 find(const hash_index& at, const vec<named>& list, std::string_view name) {
    return at.find(hash_text(name), [&](uint32 i) { return list[i].name == name; });
  }

  constexpr void walk(const description* root) {
    vec<const description*> open{root};
    while (!open.empty() && message_.empty()) {
      const description* d = open.back();
      open.pop_back();
      if (seen_.find(d->key, [&](uint32 i) { return nodes_[i] == d; }) != hash_index::none) continue;
      seen_.insert(d->key, static_cast<uint32>(nodes_.size()));
      nodes_.push_back(d);
      for (const description* operand : d->operands) open.push_back(operand);
      for (const symbol_name& s : d->symbols) declare(s);
      if (d->what == description::form::update) give(d->name, d->type);
      if (d->what == description::form::equation && ir::is_named_leaf(d->kind)) read({d->name, d->type, d->kind});
    }
  }
  constexpr void declare(const symbol_name& s) {
    for (const symbol_name& before : symbols_) {
      if (extent::key_of(before.name) != extent::key_of(s.name)) continue;
      if (before.name != s.name || before.bound != s.bound) message_ = ir::extent_of_another_bound(s.name, s.bound, before.name, before.bound);
      return;
    }
    symbols_.push_back(s);
  }
  constexpr void read(const named& leaf) {
    const uint32 known = find(leaf_at_, leaves_, leaf.name);
    if (known == hash_index::none) {
      leaf_at_.insert(hash_text(leaf.name), static_cast<uint32>(leaves_.size()));
      leaves_.push_back(leaf);
    } else if (const named& before = leaves_[known]; before.kind != leaf.kind || !(before.type == leaf.type)) {
      message_ = ir::leaf_of_another_type(leaf.name, leaf.kind, leaf.type, before.kind, before.type, {});
    }
  }
  constexpr void give(std::string_view name, const tensor_type& type) {
    if (!message_.empty()) return;
    if (find(result_at_, results_, name) != hash_index::none) {
      message_ = ir::output_given_twice(name);
      return;
    }
    result_at_.insert(hash_text(name), static_cast<uint32>(results_.size()));
    results_.push_back({name, type});
  }

  text message_;
  vec<const description*> nodes_;
  vec<named> leaves_, results_;
  vec<symbol_name> symbols_;
  hash_index seen_, leaf_at_, result_at_;
};

template <model M>
struct contradiction_of {
  constexpr text operator()() const {
    contradiction c;
    if constexpr (several_outputs<M>) M::each([&](auto output) { c(output); });
    else c(M{});
    return c.message();
  }
};

}  // namespace poot::dsl
