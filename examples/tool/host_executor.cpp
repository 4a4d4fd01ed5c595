/// The host as an executor of cases: planned, loaded and run like any program.

#include "host_executor.hpp"

#include <cstring>

namespace poot::tool {

namespace {

/// Bytes of the words of a tensor.
std::vector<uint8> bytes_of(const ir::tensor& t) {
  const size_t width = is_packed(t.type.element) ? 1 : row(t.type.element).block_bytes;
  std::vector<uint8> bytes(t.bits.size() * width);
  for (size_t i = 0; i < t.bits.size(); ++i) std::memcpy(bytes.data() + i * width, &t.bits[i], width);
  return bytes;
}

ir::tensor tensor_of(const run::buffer& b) {
  ir::tensor t(b.type);
  const size_t width = is_packed(b.type.element) ? 1 : row(b.type.element).block_bytes;
  for (size_t i = 0; i < t.bits.size(); ++i)
    std::memcpy(&t.bits[i], static_cast<const char*>(b.data) + i * width, width);
  return t;
}

class loaded_host_graph : public loaded_graph {
 public:
  loaded_host_graph(const ir::graph& g, const plan::options& wanted, int threads)
      : host_(threads), entry_(host_.add_entry("main", plan::compile(g, targets::host, wanted))) {}

  ir::interpretation run(view<ir::named_tensor> given) override {
    const ir::graph_view& g = entry_.program().graph;
    for (const ir::named_tensor& n : given) {
      const uint32 leaf = g.find_leaf(n.name);
      std::vector<uint8>& held = held_[std::string(n.name)];
      if (leaf < g.size() && g[leaf].kind == ir::op::state && !held.empty()) {  // keep the memory that is bound
        const std::vector<uint8> fresh = bytes_of(n.value);
        if (fresh.size() == held.size()) std::memcpy(held.data(), fresh.data(), fresh.size());
        continue;
      }
      held = bytes_of(n.value);
      held.resize(held.size() + 1);  // never empty, so that the pointer is not null
      entry_.bind(n.name, {held.data(), n.value.type});
    }
    entry_.run();
    ir::interpretation result;
    for (const ir::graph_output& o : g.outputs) {
      const std::string_view name = g.chars(o.name);
      const bool is_state = g.state_of(o) < g.size();
      (is_state ? result.states : result.outputs).push_back({name, tensor_of(entry_.result(name))});
    }
    return result;
  }
  std::optional<int64> dispatch_count() const override { return static_cast<int64>(entry_.program().dispatch_count()); }
  std::vector<std::string> declines() const override {
    std::vector<std::string> all;
    for (const fuse::decline& d : entry_.program().declines()) all.emplace_back(fuse::explain(d.why));
    return all;
  }

 private:
  run::host::executor host_;
  run::host::entry& entry_;
  std::map<std::string, std::vector<uint8>> held_;
};

class host_executor : public executor {
 public:
  std::string name() const override { return "host"; }
  std::unique_ptr<loaded_graph> load(const ir::graph& g, fusion fused) const override {
    plan::options wanted;
    wanted.fuse = fused == fusion::on;
    return std::make_unique<loaded_host_graph>(g, wanted, 1);
  }
};

}  // namespace

std::unique_ptr<executor> make_host_executor() { return std::make_unique<host_executor>(); }

}  // namespace poot::tool
