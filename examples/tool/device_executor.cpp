/// A device as an executor of cases: a graph is planned, loaded and run like any program.

#include "device_executor.hpp"

#include "device.hpp"

#include <cstring>
#include <map>

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

class graph_on_device : public loaded_graph {
 public:
  graph_on_device(const ir::graph& g, const plan::options& wanted, const std::string& name) : device_(open_device(name, 1)) {
    plan::program p = plan::compile(g, device_->target(), wanted);
    if (!p.refused.empty()) throw missing_capability{std::string(plan::explain(p.refused[0].missing))};
    device_->add_entry("main", std::move(p));
  }

  ir::interpretation run(view<ir::named_tensor> given) override {
    const ir::graph_view& g = program().graph;
    for (const ir::named_tensor& n : given) {
      const uint32 leaf = g.find_leaf(n.name);
      std::vector<uint8>& held = held_[std::string(n.name)];
      std::vector<uint8> fresh = bytes_of(n.value);
      fresh.resize(fresh.size() + 1);  // never empty, so that the pointer is not null
      const bool keeps = leaf < g.size() && g[leaf].kind == ir::op::state && held.size() == fresh.size();
      if (keeps) std::memcpy(held.data(), fresh.data(), fresh.size());  // in the memory that is bound
      else held = std::move(fresh);
      device_->bind("main", n.name, {held.data(), n.value.type});
    }
    device_->run("main");
    ir::interpretation result;
    for (const ir::graph_output& o : g.outputs) {
      const std::string_view name = g.chars(o.name);
      const bool is_state = g.state_of(o) < g.size();
      (is_state ? result.states : result.outputs).push_back({name, tensor_of(device_->result("main", name))});
    }
    return result;
  }
  std::optional<int64> dispatch_count() const override { return static_cast<int64>(program().dispatch_count()); }
  std::vector<std::string> declines() const override {
    std::vector<std::string> all;
    for (const fuse::decline& d : program().declines()) all.emplace_back(fuse::explain(d.why));
    for (const pass::chain_decline& d : program().chain_declines()) all.emplace_back(pass::explain(d.failed));
    return all;
  }

 private:
  const plan::program_view& program() const { return device_->program("main"); }

  std::unique_ptr<device> device_;
  std::map<std::string, std::vector<uint8>> held_;
};

class device_executor : public executor {
 public:
  explicit device_executor(std::string device) : device_(std::move(device)) {}
  std::string name() const override { return device_; }
  std::unique_ptr<loaded_graph> load(const ir::graph& g, fusion fused) const override {
    plan::options wanted;
    wanted.fuse = fused == fusion::on;
    return std::make_unique<graph_on_device>(g, wanted, device_);
  }

 private:
  std::string device_;
};

}  // namespace

std::unique_ptr<executor> make_device_executor(const std::string& device) { return std::make_unique<device_executor>(device); }

}  // namespace poot::tool
