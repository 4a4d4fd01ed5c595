#pragma once
/// What a program's names stand for in one run: inputs, weights, states and results, and the dynamic extents that their
/// shapes decide.

#include <poot/plan/program.hpp>
#include <poot/run/declared.hpp>
#include <poot/run/extents.hpp>

namespace poot::run {

/// Checks buffers against a program's leaves and results.
class bindings {
 public:
  explicit bindings(const plan::program_view& p) : p_(p), leaves_(p.graph.size()), results_(p.graph.outputs.size()), elsewhere_(p.graph.size(), 0),
        kept_(p.graph.size(), 0) {
    if (p.graph.symbols.size() > max_symbols) refuse_symbols();
  }

  /// Lends `b` for the input, weight or state called `name`. Returns which leaf that is.
  uint32 lend(std::string_view name, const buffer& b) {
    const uint32 id = p_.graph.find_leaf(name);
    if (id == p_.graph.size()) fail(text{} << "bind \"" << name << "\": the program has no input, weight or state of this name");
    if (!b.is_writable && is_updated(id))
      fail(text{} << "bind \"" << name << "\": the program writes this state, and the memory given is read only");
    buffer& held = leaves_[id];
    if (held.data && !kept_[id] && held.data == b.data && held.type == b.type) return id;
    check_fits("bind", name, p_.graph.type(id), b, p_.graph);
    if (held.data != b.data) moved_ = true;
    held = b;
    elsewhere_[id] = kept_[id] = 0;
    changed_ = true;
    changed_leaves_.push_back(id);
    return id;
  }
  /// Says that leaf `id` lies where no pointer reaches it, as an array of concrete type `t`.
  void provide(uint32 id, const tensor_type& t) {
    leaves_[id] = {nullptr, t};
    elsewhere_[id] = changed_ = moved_ = true;
    changed_leaves_.push_back(id);
  }
  /// Says that the executor keeps state `id`, at `data` or, where that is null, where no pointer reaches it. Its dynamic
  /// extents follow those of what is lent, and stand at their bounds where nothing says more.
  void keep(uint32 id, void* data) {
    leaves_[id] = {data, extent_counts()(p_.graph.type(id))};
    elsewhere_[id] = !data;
    kept_[id] = changed_ = moved_ = true;
    changed_leaves_.push_back(id);
  }
  /// Lends `b` for the result called `name`, which no state takes.
  void lend_result(std::string_view name, const buffer& b) {
    for (uint32 k = 0; k < p_.graph.outputs.size(); ++k) {
      if (p_.graph.chars(p_.graph.outputs[k].name) != name) continue;
      if (p_.graph.state_of(p_.graph.outputs[k]) < p_.graph.size())
        fail(text{} << "into \"" << name << "\": this result is the new value of a state, and lies where that is bound");
      if (!b.is_writable) fail(text{} << "into \"" << name << "\": the memory given is read only");
      check_fits("into", name, p_.graph.type(p_.graph.outputs[k].value), b, p_.graph);
      results_[k] = b;
      changed_ = moved_ = results_changed_ = true;
      return;
    }
    fail(text{} << "into \"" << name << "\": the program has no result of this name");
  }

  const buffer& leaf(uint32 id) const { return leaves_[id]; }
  const buffer& result(uint32 output) const { return results_[output]; }
  const extent_counts& counts() const { return counts_; }

  /// What `settle` found changed since the call before.
  struct change {
    bool anything = false;
    bool memory = false;   ///< a pointer, not only a shape
    bool results = false;  ///< a result was lent
  };
  /// The leaves lent since the last but one `settle`; one may stand there twice.
  view<uint32> changed_leaves() const { return settled_leaves_; }

  /// Completes a run's bindings: every leaf is there, dynamic extents agree, results fit. Does nothing when nothing was
  /// bound since the last call, or the same again.
  change settle() {
    if (!changed_) return {};
    counts_.clear();
    for (uint32 id = 0; id < p_.graph.size(); ++id) {
      if (!ir::is_named_leaf(p_.graph[id].kind)) continue;
      const std::string_view name = p_.graph.name_of(id);
      if (!leaves_[id].data && !elsewhere_[id] && leaves_[id].type.element_count() > 0)
        if (leaves_[id].type.rank != p_.graph.type(id).rank || p_.graph.type(id).element_count() > 0)
          fail(text{} << "run: " << ir::name(p_.graph[id].kind) << " \"" << name << "\" is not bound");
      if (!kept_[id]) bind_extents(name, p_.graph.type(id), leaves_[id].type);
    }
    for (uint32 id = 0; id < p_.graph.size(); ++id)
      if (kept_[id]) leaves_[id].type = counts_(p_.graph.type(id));
    for (uint32 k = 0; k < results_.size(); ++k) {
      if (!results_[k].data) continue;
      const std::string_view name = p_.graph.chars(p_.graph.outputs[k].name);
      const tensor_type wanted = counts_(p_.graph.type(p_.graph.outputs[k].value));
      if (!(wanted == results_[k].type)) refuse_type("into", name, wanted, results_[k].type, "the shapes must be equal");
    }
    const change found{true, moved_, results_changed_};
    settled_leaves_.clear();
    std::swap(settled_leaves_, changed_leaves_);
    changed_ = moved_ = results_changed_ = false;
    return found;
  }

 private:
  /// Whether `id` is a state that the program gives a new value.
  bool is_updated(uint32 id) const {
    if (p_.graph[id].kind != ir::op::state) return false;
    for (const ir::graph_output& o : p_.graph.outputs)
      if (p_.graph.chars(o.name) == p_.graph.name_of(id)) return true;
    return false;
  }

  /// Refuses leaves of more dynamic extents than a run binds.
  void refuse_symbols() const {
    uint32 found = 0;
    for (const ir::symbol& s : p_.graph.symbols) {
      bool is_bound = false;
      for (uint32 id = 0; id < p_.graph.size() && !is_bound; ++id) {
        if (!ir::is_named_leaf(p_.graph[id].kind)) continue;
        const tensor_type& t = p_.graph.type(id);
        for (int i = 0; i < t.rank; ++i) is_bound = is_bound || (t.extents[i].is_dynamic() && t.extents[i].key() == s.key);
      }
      found += is_bound;
    }
    if (found > max_symbols)
      fail(text{} << "load: inputs, weights and states have " << found << " dynamic extents, and a run binds at most " << max_symbols);
  }

  void bind_extents(std::string_view name, const tensor_type& declared, const tensor_type& given) {
    for (int i = 0; i < declared.rank; ++i) {
      const extent e = declared.extents[i];
      if (!e.is_dynamic() || counts_.bind(e.key(), given.extents[i].code)) continue;
      const ir::symbol* s = p_.graph.find_symbol(e.key());
      fail(text{} << "run: \"" << name << "\" makes the dynamic extent " << (s ? p_.graph.chars(s->name) : "?") << ' '
                  << given.extents[i].code << ", an earlier binding made it " << counts_(e));
    }
  }

  plan::program_view p_;
  vec<buffer> leaves_, results_;
  vec<uint8> elsewhere_;  ///< per leaf: it lies where no pointer reaches it
  vec<uint8> kept_;       ///< per leaf: a state that nobody has lent
  extent_counts counts_;
  vec<uint32> changed_leaves_, settled_leaves_;
  bool changed_ = true, moved_ = true, results_changed_ = true;
};

}  // namespace poot::run
