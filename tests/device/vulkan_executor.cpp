#include "../support/vulkan_devices.hpp"
#include "session_machine.hpp"

namespace poot_tests {

namespace {

class vulkan_executor final : public executor {
 public:
  explicit vulkan_executor(int index) : device_(index, {.staging = index % 2 == 1}) {}
  std::string name() const override { return std::string(device_.name()); }
  target where() const override { return device_.target(); }
  size_t one_long_kernel_in() const override { return name().find("SwiftShader") != std::string::npos ? 24 : 8; }
  std::unique_ptr<machine> load(plan::program p) override {
    return std::make_unique<session_machine<run::vulkan::session>>(device_.load(std::move(p)));
  }
  std::string complaints() override { return validation_messages(); }

 private:
  run::vulkan::device device_;
};

}  // namespace

executors vulkan_devices(std::string& why_not) {
  why_not = why_no_vulkan();
  executors all;
  for (int i = 0; why_not.empty() && i < vulkan_count(); ++i) all.push_back(std::make_unique<vulkan_executor>(i));
  return all;
}

}  // namespace poot_tests
