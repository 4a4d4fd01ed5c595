#include "each_device.hpp"

using namespace poot;
using poot_tests::on_each_device;
using run::vulkan::missing_for;

TEST_CASE("what software devices measure is what their named targets say") {
  int known = 0;
  on_each_device([&](const run::vulkan::device& d) {
    const bool lavapipe = d.name().substr(0, 8) == "llvmpipe", swiftshader = d.name().substr(0, 11) == "SwiftShader";
    if (!lavapipe && !swiftshader) return;
    ++known;
    const target& named = lavapipe ? targets::vulkan_lavapipe : targets::vulkan_swiftshader;
    CHECK(missing_for(named, d.target()).str() == "");
    CHECK(missing_for(d.target(), named).str() == "");
    CHECK(d.target() == named);
  });
  if (known == 0) std::printf("[SKIP] named targets: neither lavapipe nor SwiftShader was found\n");
}

TEST_CASE("both software devices take part") {
  for (const char* file : {poot_tests::lavapipe_file, poot_tests::swiftshader_file})
    if (::access(file, R_OK) != 0) {
      std::printf("[SKIP] %s is not installed\n", file);
      return;
    }
  if (std::getenv("VK_ICD_FILENAMES") && !poot_tests::why_no_vulkan().empty()) return;
  CHECK(poot_tests::vulkan_count() >= 2);
}

TEST_CASE("the validation layer is heard") {
  if (!poot_tests::why_no_vulkan().empty() || !run::vulkan::instance::get().validates()) {
    std::printf("[SKIP] the validation layer is not installed, or there is no device\n");
    return;
  }
  run::vulkan::context c(run::vulkan::instance::get().device(0));
  VkBufferCreateInfo empty{};
  empty.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  empty.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  VkBuffer made = nullptr;
  c.call().CreateBuffer(c.handle(), &empty, nullptr, &made);
  CHECK(poot_tests::validation_messages().find("size") != std::string::npos);
  if (made) c.call().DestroyBuffer(c.handle(), made, nullptr);
  poot_tests::validation_messages();
}

TEST_CASE("a program asks for what its target has, and is told what a device lacks") {
  const target has = targets::vulkan_lavapipe;
  const auto lacking = [&](auto change) {
    target asked = has;
    change(asked.caps);
    return std::string(missing_for(asked, has).str());
  };
  CHECK(lacking([](device_caps&) {}) == "");
  CHECK(lacking([](device_caps& c) { c.max_buffers = 64; }) == "max_buffers 64, and the device has 31");
  CHECK(lacking([](device_caps& c) { c.buffer_bytes *= 2; }) == "buffer_bytes 268435456, and the device has 134217728");
  CHECK(lacking([](device_caps& c) { c.max_workgroup = 2048; }) == "max_workgroup 2048, and the device has 1024");
  CHECK(lacking([](device_caps& c) { c.flushes = true; }) == "flushes 1, and the device has 0");
  CHECK(lacking([](device_caps& c) { c.pack_rne = false; }) == "");  // less than the device can
  CHECK(lacking([](device_caps& c) { c.matrix_f16 = true; }) == "matrix_f16 1, and the device has 0");
  CHECK(lacking([](device_caps& c) { c.matrix_bf16 = true; }) == "matrix_bf16 1, and the device has 0");
  CHECK(missing_for(targets::cuda_sm80, has).str() == "the backend cuda, and this device is of vulkan");
}
