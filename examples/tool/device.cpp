#include "device.hpp"

#include "bench_loops.hpp"

#include <poot/core/error.hpp>
#include <poot/run/host/executor.hpp>

#include <CLI/CLI.hpp>

namespace poot::tool {

namespace {

class host_device : public device_of<run::host::executor> {
 public:
  explicit host_device(int threads) : device_of(run::host::executor(threads)) {}
  poot::target target() const override { return targets::host; }
  std::string description() const override { return std::to_string(executor_.threads()) + " threads"; }
  void load(plan::staged model, bool check) override {
    run::host::load_options wanted;
    wanted.check = check;
    executor_.load(std::move(model), wanted);
  }
  device_counters counted() const override { return {.bytes = executor_.device_bytes()}; }  // its kernels are compiled with the tool
  machine_limits measure_limits() override {
    run::host::pool threads(executor_.threads());
    return probe(threads);
  }
};

/// The number in `vulkan:N`.
int vulkan_index(const std::string& name) {
  if (name == "aie" || name.starts_with("aie_")) fail(text{} << "--device " << name << ": " << plan::explain(plan::capability::execution));
  const std::string kind = name.substr(0, name.find(':'));
  const std::string index = kind == name ? "0" : name.substr(kind.size() + 1);
  const bool counted = !index.empty() && index.size() < 4 && index.find_first_not_of("0123456789") == index.npos;
  if (kind != "vulkan" || !counted) fail(text{} << "--device " << name << ": devices are host, vulkan and vulkan:N; `poot devices` lists them");
  return std::stoi(index);
}

}  // namespace

std::unique_ptr<device> open_host(int threads) { return std::make_unique<host_device>(threads); }

void check_device(const std::string& name) {
  if (name != "host") vulkan_index(name);
}

std::unique_ptr<device> open_device(const std::string& name, int threads, bool replay) {
  if (name == "host") return open_host(threads);
  return open_vulkan(vulkan_index(name), replay);
}

void add_device_option(CLI::App& command, std::string& name) {
  command.add_option("--device", name, "host, vulkan, or vulkan:N as `poot devices` numbers them")->capture_default_str()->each(check_device);
}

}  // namespace poot::tool
