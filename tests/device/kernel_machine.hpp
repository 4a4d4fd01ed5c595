#pragma once
/// Runs the generated kernels of a program, each in its own way: through the kernel interpreter, or compiled.

#include "executor.hpp"

#include <poot/kernel/generate.hpp>
#include <poot/kernel/grid.hpp>
#include <poot/kernel/interpret.hpp>
#include <poot/kernel/verify.hpp>
#include <poot/run/extents.hpp>
#include <poot/run/tables.hpp>

#include <cstring>
#include <functional>

namespace poot_tests {

/// Runs a kernel over its buffers, metadata and that many workgroups.
using dispatch = std::function<void(view<kernel::words>, view<uint32>, uint32)>;
/// Makes a kernel ready.
using dispatcher = std::function<dispatch(const kernel::kernel&)>;

/// Interprets kernels, and refuses races.
inline dispatcher interpreted(const device_caps& caps) {
  const subnormals small = caps.flushes ? subnormals::flushed : subnormals::kept;
  return [small](const kernel::kernel& k) {
    return [small, k](view<kernel::words> buffers, view<uint32> metadata, uint32 groups) {
      kernel::interpret(k, buffers, metadata, groups, {.races = true, .small = small});
    };
  };
}

class kernel_machine final : public machine {
 public:
  explicit kernel_machine(const plan::program& planned) : kernel_machine(planned, interpreted(planned.planned_for.caps)) {}
  kernel_machine(plan::program planned, const dispatcher& ready) : program_(std::move(planned)), p_(program_.view_of()) {
    if (!p_.refused.empty())
      fail(text{} << "%" << p_.refused[0].equation << " is refused: " << plan::explain(p_.refused[0].missing));
    arena_.resize(word_size(p_.arena_bytes), 0x7fc5a5a5u);
    tables_.resize(word_size(p_.table_bytes), 0x7fc5a5a5u);
    leaves_.resize(p_.graph.size());
    results_.resize(p_.graph.outputs.size());
    for (const plan::launch& l : p_.prologue) prologue_.push_back(make(l, ready));
    for (const plan::launch& l : p_.launches) launches_.push_back(make(l, ready));
  }

  const plan::program_view& program() const { return p_; }

  ir::interpretation run(const std::vector<ir::named_tensor>& values) override {
    counts_.clear();
    for (uint32 id = 0; id < p_.graph.size(); ++id) {
      if (!ir::is_named_leaf(p_.graph[id].kind)) continue;
      const ir::tensor& given = *ir::find({values.data(), values.size()}, p_.graph.name_of(id));
      for (int i = 0; i < given.type.rank; ++i)
        if (const extent e = p_.graph.type(id).extents[i]; e.is_dynamic()) counts_.bind(e.key(), given.type.extents[i].code);
      if (p_.graph[id].kind != ir::op::state || !ready_) leaves_[id] = stored(given);
    }
    for (uint32 k = 0; k < results_.size(); ++k) results_[k].assign(word_size(type(p_.graph.outputs[k].value).bytes()), 0x7fc5a5a5u);
    for (uint32 id = 0; id < p_.graph.size(); ++id) {
      if (p_.placements[id].where != plan::place::table) continue;
      run::fill_table(p_.graph, id, type(id), at(id).data);
    }
    if (!ready_)
      for (const launch& l : prologue_) run(l);
    ready_ = true;
    for (const launch& l : launches_) run(l);
    return collect();
  }

 private:
  struct launch {
    kernel::kernel code;
    dispatch run;
    uint32 chunks = 1;
  };

  static size_t word_size(int64 bytes) { return static_cast<size_t>((bytes + 3) / 4); }
  tensor_type type(uint32 id) const { return counts_(p_.graph.type(id)); }

  launch make(const plan::launch& l, const dispatcher& ready) const {
    kernel::kernel k = kernel::generate(p_, l);
    kernel::verify(k, p_.planned_for.caps);
    return {k, ready(k), l.chunks};
  }

  static std::vector<uint32> stored(const ir::tensor& t) {
    std::vector<uint32> words(word_size(t.type.bytes()));
    const size_t width = is_packed(t.type.element) ? 1 : row(t.type.element).block_bytes;
    for (size_t i = 0; i < t.bits.size(); ++i) std::memcpy(reinterpret_cast<char*>(words.data()) + i * width, &t.bits[i], width);
    return words;
  }

  /// The words that hold the storage of a value.
  kernel::words at(uint32 value) {
    const uint32 id = p_.storage_of(value);
    const plan::placement& where = p_.placements[id];
    const size_t count = word_size(type(id).bytes());
    const auto within = [&](std::vector<uint32>& all) { return kernel::words{all.data() + where.offset / 4, count}; };
    const auto whole = [&](std::vector<uint32>& all) { return kernel::words{all.data(), all.size()}; };
    switch (where.where) {
      case plan::place::leaf: return whole(leaves_[id]);
      case plan::place::state: return whole(leaves_[where.index]);
      case plan::place::output: return whole(results_[where.index]);
      case plan::place::table: return within(tables_);
      case plan::place::arena: return within(arena_);
      default: fail(text{} << "equation " << id << " has no memory");
    }
  }

  void run(const launch& l) {
    const kernel::kernel& k = l.code;
    vec<uint32> metadata;
    for (const kernel::meta_word& m : k.metadata) metadata.push_back(kernel::evaluate(m, p_, [&](uint32 id) { return type(id); }));
    vec<kernel::words> buffers;
    for (uint32 id : k.bindings) buffers.push_back(at(id));
    const uint32 groups = kernel::workgroups(metadata.data(), k.work, k.by_group, k.workgroup);
    const device_caps& caps = p_.planned_for.caps;
    const kernel::grid each = kernel::chunk(groups, l.chunks, static_cast<uint32>(caps.max_groups_x), static_cast<uint32>(caps.max_groups_y));
    if (each.y == 0) fail(text("kernel ") << k.name << ": " << groups << " workgroups are more than " << l.chunks << " chunks hold");
    if (!k.chunked) return l.run(buffers, metadata, groups);
    metadata.push_back(0);
    for (uint32 i = 0; i < l.chunks; ++i, metadata[k.metadata.size()] += each.x * each.y) l.run(buffers, metadata, each.x * each.y);
  }

  ir::tensor tensor_at(uint32 value) {
    ir::tensor made(type(value));
    const size_t width = is_packed(made.type.element) ? 1 : row(made.type.element).block_bytes;
    const char* from = reinterpret_cast<const char*>(at(value).data);
    if (const plan::placement& w = p_.placements[value]; w.where == plan::place::window)
      from += kernel::evaluate({kernel::meta_word::what::offset, value, 0, 0, 1, 0}, p_, [&](uint32 id) { return type(id); }) * width;
    for (size_t i = 0; i < made.bits.size(); ++i) std::memcpy(&made.bits[i], from + i * width, width);
    return made;
  }

  ir::interpretation collect() {
    ir::interpretation got;
    vec<ir::tensor> values;
    for (const ir::graph_output& o : p_.graph.outputs) values.push_back(tensor_at(o.value));
    for (uint32 k = 0; k < p_.graph.outputs.size(); ++k) {
      const uint32 leaf = p_.graph.state_of(p_.graph.outputs[k]);
      if (leaf == p_.graph.size()) got.outputs.push_back({p_.graph.chars(p_.graph.outputs[k].name), values[k]});
      else leaves_[leaf] = stored(values[k]);
    }
    for (uint32 id = 0; id < p_.graph.size(); ++id)
      if (p_.graph[id].kind == ir::op::state) got.states.push_back({p_.graph.name_of(id), tensor_at(id)});
    return got;
  }

  plan::program program_;
  plan::program_view p_;
  std::vector<uint32> arena_, tables_;
  std::vector<std::vector<uint32>> leaves_, results_;
  std::vector<launch> prologue_, launches_;
  run::extent_counts counts_;
  bool ready_ = false;
};

}  // namespace poot_tests
