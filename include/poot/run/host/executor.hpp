#pragma once
/// The host as a device: it loads programs and runs them.

#include <poot/plan/staged.hpp>
#include <poot/run/host/entry.hpp>

namespace poot::run::host {

/// Entries (prefill and decode, say) that share weights and states. Programs are complete: nothing is planned here.
class executor {
 public:
  /// 0 threads: as many as the machine has processors, or as POOT_THREADS says.
  explicit executor(int threads = 0) : threads_(std::make_unique<pool>(threads)) {}

  /// Loads `p` under a name of its own.
  entry& add_entry(std::string_view name, plan::program p, const load_options& options = {}) {
    if (entries_.count(std::string(name))) fail(text{} << "add_entry \"" << name << "\": there is an entry of this name");
    try {
      auto loaded = std::make_unique<entry>(std::move(p), *shared_, *threads_, options);
      return *(entries_[std::string(name)] = std::move(loaded));
    } catch (const std::exception& e) {
      if (options.ranks) options.ranks->abandon(e.what());  // other ranks may have loaded theirs
      throw;
    } catch (...) {
      if (options.ranks) options.ranks->abandon(not_described);
      throw;
    }
  }
  /// Loads every entry of a model.
  void load(plan::staged model, const load_options& options = {}) {
    for (plan::entry_program& e : model.entries) add_entry(e.name, std::move(e.planned), options);
  }
  entry& operator[](std::string_view name) {
    const auto at = entries_.find(std::string(name));
    if (at == entries_.end()) fail(text{} << "executor: there is no entry \"" << name << '"');
    return *at->second;
  }

  /// Gives every entry its weight `name`, interleaved where they contract over it; add the entries first. For each entry the
  /// latest call holds, this one or its `bind`. Returns whether `b.data` must stay valid; else the caller may release it.
  bool load_weight(std::string_view name, const buffer& b) { return shared_->load(name, b, *threads_); }

  bool has_weight(std::string_view name) const { return shared_->find_weight(name) != nullptr; }

  /// Bytes held for weights and states.
  int64 device_bytes() const { return shared_->device_bytes(); }
  int threads() const { return threads_->threads(); }

 private:
  std::unique_ptr<pool> threads_;
  std::unique_ptr<shared_memory> shared_ = std::make_unique<shared_memory>();
  std::map<std::string, std::unique_ptr<entry>> entries_;
};

}  // namespace poot::run::host
