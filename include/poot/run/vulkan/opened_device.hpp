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
    struct held_device {
      int index;
      device_options wanted;
      std::weak_ptr<opened_device> device;
    };
    static std::mutex one_at_a_time;
    static auto& held = *new std::vector<held_device>;
    const found_device& found = instance::get().device(index);
    const std::lock_guard lock(one_at_a_time);
    for (held_device& h : held) {
      if (h.index != index || !(h.wanted == wanted)) continue;
      std::shared_ptr<opened_device> d = h.device.lock();
      if (!d || d->open.lost()) h.device = d = std::make_shared<opened_device>(found, wanted);
      return d;
    }
    held.push_back({index, wanted, {}});
    const auto d = std::make_shared<opened_device>(found, wanted);
    held.back().device = d;
    return d;
  }

 private:
  /// Arithmetic is measured once in a process, and once for a driver where that can be kept on disk.
  static measured_arithmetic measured_once(context& c, pipelines& kernels) {
    static std::mutex one_at_a_time;
    static auto& known = *new std::map<VkPhysicalDevice, measured_arithmetic>;
    const std::lock_guard lock(one_at_a_time);
    const auto at = known.find(c.about().handle);
    if (at != known.end()) return at->second;
    measured_arithmetic m;
    static_assert(std::is_trivially_copyable_v<measured_arithmetic>);
    const std::string key = "measured arithmetic\n" + c.identity() + "\n" + std::string(detail::probe_text);
    const auto is_kept = [&](const std::vector<uint8>& bytes) {
      for (uint8 b : bytes)
        if (b > 1) return false;
      return bytes.size() == sizeof m;
    };
    if (const auto kept = kernels.kept().find(key); kept && is_kept(*kept)) {
      std::memcpy(&m, kept->data(), sizeof m);
    } else {
      m = measure(c, kernels);
      kernels.kept().keep(key, {reinterpret_cast<const uint8*>(&m), sizeof m});
    }
    return known[c.about().handle] = m;
  }
};

}  // namespace poot::run::vulkan
