#pragma once
/// Checks a whole graph: operands before use, every typing rule, outputs. Run after each stage in tests.

#include <poot/ir/group.hpp>

namespace poot::ir {

/// Throws `error` naming the first equation that is not well formed; returns true otherwise.
constexpr bool verify(const graph_view& g) {
  vec<tensor_type> types;
  group_sizes groups;
  for (uint32 id = 0; id < g.size(); ++id) {
    const eqn& e = g[id];
    types.clear();
    const uint32* const in = g.first_operand(id);
    for (uint32 k = 0; k < e.operands.count; ++k) {
      if (in[k] >= id) fail(text{} << "%" << id << ": " << name(e.kind) << " reads %" << in[k] << " before it is defined");
      types.push_back(g.type(in[k]));
    }
    const typing t = infer(e.kind, g.attrs(e), types, e.type);
    if (!t.ok()) fail(text{} << "%" << id << ": " << describe(e.kind, t, types, g, e.type));
    if ((e.kind == op::custom) != (e.custom != nullptr) || (e.custom && e.operands.count != static_cast<uint32>(e.custom->arity)))
      fail(text{} << "%" << id << ": " << name(e.kind) << " is no op with this number of operands");
    if (is_collective(e.kind))
      if (const text wrong = groups.note(g, id); !wrong.empty()) fail(text{} << "%" << id << ": " << name(e.kind) << ": " << wrong);
    if (!(t.type == e.type)) {
      text message;
      message << "%" << id << ": " << name(e.kind) << " gives ";
      write_type(message, t.type, g);
      message << ", declared is ";
      write_type(message, e.type, g);
      fail(message);
    }
  }
  for (const graph_output& o : g.outputs)
    if (o.value >= g.size()) fail(text{} << "output \"" << g.chars(o.name) << "\" names no value");
  return true;
}

}  // namespace poot::ir
