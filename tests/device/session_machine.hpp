#pragma once
/// Runs a program in a session of a device, over tensors of the interpreter.

#include "executor.hpp"

#include <poot/run/buffer.hpp>

#include <cstring>

namespace poot_tests {

template <class Session>
class session_machine final : public machine {
 public:
  explicit session_machine(Session s) : session_(std::move(s)) { held_.resize(session_.program().graph.size()); }

  ir::interpretation run(const std::vector<ir::named_tensor>& values) override {
    const ir::graph_view& g = session_.program().graph;
    const auto given = [&](uint32 leaf) -> const ir::tensor& { return *ir::find({values.data(), values.size()}, g.name_of(leaf)); };
    for (uint32 id = 0; id < g.size(); ++id) {
      if (!ir::is_named_leaf(g[id].kind) || (g[id].kind == ir::op::state && !held_[id].empty())) continue;
      held_[id] = bytes_of(given(id));
      session_.bind(g.name_of(id), {held_[id].data(), given(id).type});
    }
    session_.run();
    ir::interpretation got;
    for (const ir::graph_output& o : g.outputs)
      if (g.state_of(o) == g.size()) got.outputs.push_back({g.chars(o.name), tensor_of(session_.result(g.chars(o.name)))});
    for (uint32 id = 0; id < g.size(); ++id)
      if (g[id].kind == ir::op::state) got.states.push_back({g.name_of(id), tensor_of({held_[id].data(), given(id).type})});
    return got;
  }

 private:
  static size_t width_of(dtype t) { return is_packed(t) ? 1 : row(t).block_bytes; }
  /// Never empty, so that the pointer is not null.
  static std::vector<uint8> bytes_of(const ir::tensor& t) {
    const size_t width = width_of(t.type.element);
    std::vector<uint8> bytes(t.bits.size() * width + 1);
    for (size_t i = 0; i < t.bits.size(); ++i) std::memcpy(bytes.data() + i * width, &t.bits[i], width);
    return bytes;
  }
  static ir::tensor tensor_of(const run::buffer& b) {
    ir::tensor t(b.type);
    const size_t width = width_of(b.type.element);
    for (size_t i = 0; i < t.bits.size(); ++i) std::memcpy(&t.bits[i], static_cast<const char*>(b.data) + i * width, width);
    return t;
  }

  Session session_;
  std::vector<std::vector<uint8>> held_;  ///< per leaf
};

}  // namespace poot_tests
