#pragma once
/// A Vulkan device that loads programs and runs them.

#include <poot/plan/staged.hpp>
#include <poot/run/vulkan/entry.hpp>

namespace poot::run::vulkan {

/// Entries (prefill and decode, say) that share weights and states. Programs are complete: nothing is planned here.
class executor {
 public:
  explicit executor(std::shared_ptr<opened_device> d) : device_(std::move(d)), shared_(std::make_unique<shared_memory>(device_->open)) {}

  /// Loads `p` under a name of its own.
  entry& add_entry(std::string_view name, plan::program p) {
    if (entries_.count(std::string(name))) fail(text{} << "add_entry \"" << name << "\": there is an entry of this name");
    auto loaded = std::make_unique<entry>(std::move(p), *shared_, *device_);
    return *(entries_[std::string(name)] = std::move(loaded));
  }
  /// Loads every entry of a model.
  void load(plan::staged model) {
    for (plan::entry_program& e : model.entries) add_entry(e.name, std::move(e.planned));
  }
  entry& operator[](std::string_view name) {
    const auto at = entries_.find(std::string(name));
    if (at == entries_.end()) fail(text{} << "executor: there is no entry \"" << name << '"');
    return *at->second;
  }

  /// Copies weight `name` to the device, for every entry; add the entries first. For each entry the latest call holds, this
  /// one or its `bind`. Returns whether `b.data` must stay valid: it need not.
  bool load_weight(std::string_view name, const buffer& b) {
    shared_->load(name, b);
    return false;
  }
  bool has_weight(std::string_view name) const { return shared_->has_weight(name); }

  /// Bytes held for weights and states.
  int64 device_bytes() const { return shared_->device_bytes(); }
  /// What was done on this device, by everybody who uses it.
  counters counted() const { return device_->open.counted(); }

 private:
  std::shared_ptr<opened_device> device_;
  std::unique_ptr<shared_memory> shared_;
  std::map<std::string, std::unique_ptr<entry>> entries_;
};

}  // namespace poot::run::vulkan
