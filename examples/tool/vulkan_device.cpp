/// Vulkan devices of the tool, where it was built with the Vulkan headers.

#include "device.hpp"

#include <poot/core/error.hpp>

#include <cstdio>

#if __has_include(<vulkan/vulkan_core.h>)
#include "vulkan_limits.hpp"

#include <poot/run/cache.hpp>
#include <poot/run/vulkan/device.hpp>

namespace poot::tool {

namespace {

class vulkan_device : public device_of<run::vulkan::executor> {
 public:
  explicit vulkan_device(std::shared_ptr<run::vulkan::opened_device> d) : device_of(run::vulkan::executor(d)), device_(std::move(d)) {}
  poot::target target() const override { return device_->is; }
  std::string description() const override { return std::string(device_->open.about().name()); }
  void load(plan::staged model, bool check) override {
    if (check) fail("--check: regions are run unfused beside fused ones on the host only");
    executor_.load(std::move(model));
  }
  void bind_kept(const std::string& entry, std::string_view name, const run::buffer& b) override {
    const run::buffer own = executor_[entry].own_input(name);
    std::memcpy(own.data, b.data, static_cast<size_t>(b.type.bytes()));
    bind(entry, name, {own.data, b.type});
  }
  device_counters counted() const override {
    const run::vulkan::counters c = executor_.counted();
    return {c.compiles, c.cache_hits, c.pipelines, c.device_bytes};
  }
  machine_limits measure_limits() override { return probe(*device_); }

 private:
  std::shared_ptr<run::vulkan::opened_device> device_;
};

void print_device(const run::vulkan::found_device& d, int index) {
  const std::string name(d.name());
  if (!d.why_not.empty()) {
    std::printf("vulkan: %s %s\n", name.c_str(), d.why_not.c_str());
    return;
  }
  std::printf("vulkan %d: %s\n  %-18s %s\n", index, name.c_str(), "driver", d.driver.c_str());
  try {
    const device_caps c = poot::vulkan(index).target().caps;
    std::printf("  %-18s %lld MiB, %d at once\n", "buffers", static_cast<long long>(c.buffer_bytes >> 20), c.max_buffers);
    std::printf("  %-18s %d invocations, %d KiB shared; subgroups of %d\n", "workgroups", c.max_workgroup, c.shared_bytes >> 10, c.subgroup);
    std::printf("  %-18s %s\n", "fma", c.fma_fused ? "rounds once" : "rounds twice");
    std::printf("  %-18s %s\n", "subnormals", c.flushes ? "flushed to zero" : "kept");
    std::printf("  %-18s division %s, square root %s, max %s NaN, packing to f16 %s\n", "own functions", c.div_exact ? "exact" : "inexact",
                c.sqrt_exact ? "exact" : "inexact", c.max_nan ? "keeps" : "drops", c.pack_rne ? "exact" : "inexact");
  } catch (const std::exception& e) {
    std::printf("  %-18s %s\n", "not measured", e.what());
  }
}

/// Says once on stderr why every run compiles its kernels anew, unless that is wanted.
void warn_of_cache() {
  static const bool said = [] {
    const run::cache kept = run::cache::from_environment();
    const bool is_wanted = kept.trouble() != run::cache::switched_off;
    if (is_wanted && !kept.trouble().empty()) std::fprintf(stderr, "no kernel is kept on disk: %s\n", kept.trouble().c_str());
    return true;
  }();
  static_cast<void>(said);
}

}  // namespace

std::unique_ptr<device> open_vulkan(int index, bool replay) {
  warn_of_cache();
  run::vulkan::device_options wanted;
  wanted.replay = replay;
  return std::make_unique<vulkan_device>(run::vulkan::opened_device::get(index, wanted));
}

void print_vulkan_devices() {
  warn_of_cache();
  try {
    int index = 0;
    for (const run::vulkan::found_device& d : run::vulkan::instance::get().devices()) {
      print_device(d, index);
      index += d.why_not.empty();
    }
    if (run::vulkan::instance::get().devices().empty()) std::printf("vulkan: the drivers that are installed find no device\n");
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
  }
}

}  // namespace poot::tool

#else

namespace poot::tool {

std::unique_ptr<device> open_vulkan(int, bool) {
  fail("--device vulkan: this tool was built without the Vulkan headers (Debian: libvulkan-dev)");
}
void print_vulkan_devices() { std::printf("vulkan: this tool was built without the Vulkan headers (Debian: libvulkan-dev)\n"); }

}  // namespace poot::tool
#endif
