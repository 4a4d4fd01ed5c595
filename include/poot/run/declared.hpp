#pragma once
/// What programs declare under a name, and which memory fits it.

#include <poot/ir/graph.hpp>
#include <poot/run/buffer.hpp>

#include <map>
#include <string>

namespace poot::run {

[[noreturn]] inline void refuse_type(std::string_view call, std::string_view name, const tensor_type& declared, const tensor_type& given,
                                     std::string_view rule, const ir::graph_view& g = {}) {
  text message;
  message << call << " \"" << name << "\": declared is ";
  ir::write_type(message, declared, g);
  message << ", given is ";
  ir::write_type(message, given);
  fail(message << ": " << rule);
}

/// Refuses memory that does not fit `declared`; `call` is what gives it. `g` knows the names of dynamic extents.
inline void check_fits(std::string_view call, std::string_view name, const tensor_type& declared, const buffer& b, const ir::graph_view& g = {}) {
  const auto refuse = [&](std::string_view rule) { refuse_type(call, name, declared, b.type, rule, g); };
  if (declared.element != b.type.element) refuse("the element types must be equal");
  if (declared.rank != b.type.rank) refuse("the ranks must be equal");
  for (int i = 0; i < declared.rank; ++i) {
    const extent e = declared.extents[i], given = b.type.extents[i];
    if (given.code < 0) fail(text{} << call << " \"" << name << "\": extent " << i << " is no count, which is 0 or more");
    if (!e.is_dynamic() && e != given) refuse("the extents must be equal");
    if (e.is_dynamic() && given.code > e.bound()) refuse("the dynamic extent is beyond its bound");
  }
  if (!b.data && b.type.element_count() > 0) fail(text{} << call << " \"" << name << "\": the pointer is null");
}

/// Weights and states by name, which the entries of an executor share.
class shared_names {
 public:
  /// Takes those of an entry. Throws where an earlier entry has something else under a name.
  void add(const ir::graph_view& g) {
    for (uint32 id = 0; id < g.size(); ++id)
      if (const auto at = earlier(g, id); at != of_.end() && !(at->second.kind == g[id].kind && at->second.type == g.type(id)))
        refuse(at->first, at->second, g, id);
    for (uint32 id = 0; id < g.size(); ++id)
      if (is_shared(g[id].kind)) of_.try_emplace(std::string(g.name_of(id)), declared{g[id].kind, g.type(id)});
  }
  /// The declared type of a weight; null where no entry has one of this name.
  const tensor_type* weight(std::string_view name) const {
    const auto at = of_.find(std::string(name));
    return at == of_.end() || at->second.kind != ir::op::weight ? nullptr : &at->second.type;
  }

 private:
  struct declared {
    ir::op kind;
    tensor_type type;
  };
  using map = std::map<std::string, declared>;

  static bool is_shared(ir::op kind) { return kind == ir::op::weight || kind == ir::op::state; }
  map::const_iterator earlier(const ir::graph_view& g, uint32 id) const {
    return is_shared(g[id].kind) ? of_.find(std::string(g.name_of(id))) : of_.end();
  }
  [[noreturn]] static void refuse(const std::string& name, const declared& before, const ir::graph_view& g, uint32 id) {
    text message;
    message << "add_entry: \"" << name << "\" is " << ir::name(before.kind) << ' ';
    ir::write_type(message, before.type);
    message << " in an earlier entry and " << ir::name(g[id].kind) << ' ';
    ir::write_type(message, g.type(id), g);
    fail(message << " in this one; both must be the same");
  }

  map of_;
};

}  // namespace poot::run
