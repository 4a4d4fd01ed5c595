#pragma once
/// A test on every Vulkan device that is found, directly and with data carried through buffers of its own.

#include <doctest/doctest.h>

#include <support/vulkan_devices.hpp>

namespace poot_tests {

/// Calls test(device) for each; the validation layer must have nothing to say. Prints why where there is none.
template <class Test>
void on_each_device(Test test) {
  if (!why_no_vulkan().empty()) {
    std::printf("[SKIP] %s\n", why_no_vulkan().c_str());
    return;
  }
  for (int i = 0; i < vulkan_count(); ++i)
    for (const bool staging : {false, true}) {
      const run::vulkan::device d(i, {staging});
      const std::string name(d.name());
      CAPTURE(name);
      CAPTURE(staging);
      test(d);
      CHECK(validation_messages() == "");
    }
}

}  // namespace poot_tests
