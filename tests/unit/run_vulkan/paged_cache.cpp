// Caches in pages on a device: the bits of a cache in one piece.
#include "each_device.hpp"

#include <device/session_machine.hpp>
#include <unit/nn/paged_decoder.hpp>

using namespace poot;
using namespace poot_tests;

TEST_CASE("sequences in pages of any order have the bits of caches of their own, on each device") {
  if (!why_no_vulkan().empty()) {
    std::printf("[SKIP] %s\n", why_no_vulkan().c_str());
    return;
  }
  for (int i = 0; i < vulkan_count(); ++i) {
    const run::vulkan::device d(i);
    const std::string name(d.name());
    CAPTURE(name);
    int compared = 0;
    CHECK(paged_decoder::different_rows(d.target(), [&](plan::program p) { return std::make_unique<session_machine<run::vulkan::session>>(d.load(std::move(p))); }, compared) == 0);
    CHECK(compared == 27);
    CHECK(validation_messages() == "");
  }
}
