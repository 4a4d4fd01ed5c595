#pragma once
/// The device that a command runs on, chosen by name: `host`, `vulkan` or `vulkan:1`.

#include "machine_limits.hpp"

#include <poot/plan/staged.hpp>
#include <poot/run/buffer.hpp>

#include <memory>
#include <string>

namespace CLI {
class App;
}

namespace poot::tool {

/// Of a device since it was opened.
struct device_counters {
  uint64 compiled = 0;   ///< kernels that went through a compiler
  uint64 found = 0;      ///< kernels whose code was on disk
  uint64 loaded = 0;     ///< distinct kernels
  int64 bytes = 0;       ///< held now
};

/// An executor of one device: entries that share weights and states.
class device {
 public:
  virtual ~device() = default;
  virtual poot::target target() const = 0;
  /// For a person: what runs, and with how many threads.
  virtual std::string description() const = 0;
  /// `check`: every region also runs unfused, where the device can do that.
  virtual void load(plan::staged model, bool check) = 0;
  virtual void add_entry(const std::string& name, plan::program p) = 0;
  virtual const plan::program_view& program(const std::string& entry) = 0;
  virtual bool has_weight(std::string_view name) const = 0;
  virtual bool load_weight(std::string_view name, const run::buffer& b) = 0;
  virtual void bind(const std::string& entry, std::string_view name, const run::buffer& b) = 0;
  /// Binds an input whose content stays: a device that can keeps it, so that it is not carried to it in each run.
  virtual void bind_kept(const std::string& entry, std::string_view name, const run::buffer& b) { bind(entry, name, b); }
  virtual void run(const std::string& entry) = 0;
  virtual run::buffer result(const std::string& entry, std::string_view name) = 0;
  virtual device_counters counted() const = 0;
  /// What the device reaches at most. Takes seconds.
  virtual machine_limits measure_limits() = 0;
};

/// Throws `error` for a name that no device can have; opens none.
void check_device(const std::string& name);
/// Throws `error` as that does, and where there is none of that number.
/// Without `replay`, which only devices other than the host have, each launch of a run is submitted and waited for.
std::unique_ptr<device> open_device(const std::string& name, int threads, bool replay = true);
/// The same, each kind in its own file.
std::unique_ptr<device> open_host(int threads);
std::unique_ptr<device> open_vulkan(int index, bool replay);
/// Lists the Vulkan devices that are found, what was measured of them, and why others cannot be used.
void print_vulkan_devices();
/// Adds `--device` to a command; its name is checked with the command line.
void add_device_option(CLI::App& command, std::string& name);

/// A device over an executor of the library; they all have one interface.
template <class Executor>
class device_of : public device {
 public:
  explicit device_of(Executor made) : executor_(std::move(made)) {}

  void add_entry(const std::string& name, plan::program p) override { executor_.add_entry(name, std::move(p)); }
  const plan::program_view& program(const std::string& entry) override { return executor_[entry].program(); }
  bool has_weight(std::string_view name) const override { return executor_.has_weight(name); }
  bool load_weight(std::string_view name, const run::buffer& b) override { return executor_.load_weight(name, b); }
  void bind(const std::string& entry, std::string_view name, const run::buffer& b) override { executor_[entry].bind(name, b); }
  void run(const std::string& entry) override { executor_[entry].run(); }
  run::buffer result(const std::string& entry, std::string_view name) override { return executor_[entry].result(name); }

 protected:
  Executor executor_;
};

}  // namespace poot::tool
