/// Vulkan devices of the tool, where it was built with the Vulkan headers.

#include "device.hpp"

#include <poot/core/error.hpp>

#if __has_include(<vulkan/vulkan_core.h>)
#include <poot/run/vulkan/device.hpp>

namespace poot::tool {

namespace {

class vulkan_device : public device_of<run::vulkan::executor> {
 public:
  explicit vulkan_device(const run::vulkan::device& d) : device_of(d.make_executor()), device_(d) {}
  poot::target target() const override { return device_.target(); }
  std::string description() const override { return std::string(device_.name()); }
  void load(plan::staged model, bool check) override {
    if (check) fail("--check: regions are run unfused beside fused ones on the host only");
    executor_.load(std::move(model));
  }

 private:
  run::vulkan::device device_;
};

}  // namespace

std::unique_ptr<device> open_vulkan(int index) { return std::make_unique<vulkan_device>(poot::vulkan(index)); }

}  // namespace poot::tool

#else

namespace poot::tool {

std::unique_ptr<device> open_vulkan(int) {
  fail("--device vulkan: this tool was built without the Vulkan headers (Debian: libvulkan-dev)");
}

}  // namespace poot::tool
#endif
