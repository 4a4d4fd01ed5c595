#pragma once
/// A device with what belongs to it for as long as somebody uses it: its queue, its kernels, what it can do.

#include <poot/run/vulkan/caps.hpp>

namespace poot::run::vulkan {

struct opened_device {
  explicit opened_device(const found_device& d, const device_options& wanted = {})
      : open(d, wanted), kernels(open), is(target_of(d, measured_once(open, kernels))) {}

  context open;
  pipelines kernels;
  const target is;

  /// Device `index` of those that are usable; the one that is open already, where somebody holds it.
  static std::shared_ptr<opened_device> get(int index, const device_options& wanted = {}) {
    static std::mutex one_at_a_time;
    static auto& held = *new std::map<std::pair<int, bool>, std::weak_ptr<opened_device>>;
    const found_device& found = instance::get().device(index);
    const std::lock_guard lock(one_at_a_time);
    std::weak_ptr<opened_device>& known = held[{index, wanted.staging}];
    std::shared_ptr<opened_device> d = known.lock();
    if (!d || d->open.lost()) known = d = std::make_shared<opened_device>(found, wanted);
    return d;
  }

 private:
  /// Arithmetic is measured once in a process.
  static measured_arithmetic measured_once(context& c, pipelines& kernels) {
    static std::mutex one_at_a_time;
    static auto& known = *new std::map<VkPhysicalDevice, measured_arithmetic>;
    const std::lock_guard lock(one_at_a_time);
    const auto at = known.find(c.about().handle);
    if (at != known.end()) return at->second;
    return known[c.about().handle] = measure(c, kernels);
  }
};

}  // namespace poot::run::vulkan
