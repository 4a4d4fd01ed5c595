#include "each_device.hpp"

using namespace poot;
using namespace poot::run::vulkan;

namespace {

constexpr const char* doubling = R"(#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer A { uint a[]; };
layout(std430, binding = 1) writeonly buffer B { uint b[]; };
void main() { b[gl_GlobalInvocationID.x] = a[gl_GlobalInvocationID.x] * 2u; }
)";

/// A driver that keeps what it made: which bytes it says that it has, and which were handed to it last.
struct remembering_driver {
  static inline std::vector<uint8> has, handed;
  static inline bool refuses = false;
  static inline device_functions real;

  static void stand_in(device_functions& f) {
    real = f;
    f.CreatePipelineCache = create;
    f.GetPipelineCacheData = data;
  }
  static VKAPI_ATTR VkResult VKAPI_CALL create(VkDevice d, const VkPipelineCacheCreateInfo* info, const VkAllocationCallbacks* a, VkPipelineCache* made) {
    if (refuses) return VK_ERROR_OUT_OF_HOST_MEMORY;
    const auto* bytes = static_cast<const uint8*>(info->pInitialData);
    handed.assign(bytes, bytes + info->initialDataSize);
    VkPipelineCacheCreateInfo empty = *info;
    empty.initialDataSize = 0;
    return real.CreatePipelineCache(d, &empty, a, made);
  }
  static VKAPI_ATTR VkResult VKAPI_CALL data(VkDevice, VkPipelineCache, size_t* size, void* to) {
    if (to) std::memcpy(to, has.data(), has.size());
    *size = has.size();
    return VK_SUCCESS;
  }
};

/// The header of a device's pipeline cache, and three bytes behind it.
std::vector<uint8> pipeline_cache_of(const VkPhysicalDeviceProperties& p) {
  const uint32 words[] = {32, 1, p.vendorID, p.deviceID};
  std::vector<uint8> all(35, 7);
  std::memcpy(all.data(), words, sizeof words);
  std::memcpy(all.data() + 16, p.pipelineCacheUUID, 16);
  return all;
}

/// Loads a kernel with a device that is opened anew; returns how many files are kept then.
size_t load_anew(const found_device& about, const std::string& glsl) {
  remembering_driver::handed.clear();
  context c(about, {false, true, remembering_driver::stand_in});
  pipelines kernels(c);
  CHECK(kernels.make({{"doubling", glsl, 2}})[0]->handle != nullptr);
  return run::cache::from_environment().entries().size();
}

template <class Test>
void on_each_driver(Test test) {
  poot_tests::on_each_device([&](const device& d) {
    for (const found_device& about : instance::get().devices())
      if (about.name() == d.name()) {
        remembering_driver::has.clear();
        remembering_driver::refuses = false;
        run::cache::from_environment().clear();
        test(about, pipeline_cache_of(about.properties));
      }
  });
}

}  // namespace

TEST_CASE("what a driver made is handed back to it for the same kernels, and for no others") {
  on_each_driver([](const found_device& about, const std::vector<uint8>& bytes) {
    remembering_driver::has = bytes;
    CHECK(load_anew(about, doubling) == 2);  // a kernel, and what the driver made of it
    CHECK(remembering_driver::handed.empty());
    CHECK(load_anew(about, doubling) == 2);
    CHECK(remembering_driver::handed == bytes);
    load_anew(about, std::string(doubling) + "// other\n");
    CHECK(remembering_driver::handed.empty());
  });
}

TEST_CASE("what is cut off, another driver's or of another version is not handed to a driver") {
  on_each_driver([](const found_device& about, const std::vector<uint8>& bytes) {
    for (const size_t changed : {0, 4, 8, 12, 16, 31}) {
      remembering_driver::has = bytes;
      remembering_driver::has[changed] ^= 1;
      const std::string glsl = std::string(doubling) + "// " + std::to_string(changed) + "\n";
      load_anew(about, glsl);
      load_anew(about, glsl);
      CHECK(remembering_driver::handed.empty());
    }
    CHECK(is_pipeline_cache({bytes.data(), 32}, about.properties));
    CHECK(!is_pipeline_cache({bytes.data(), 31}, about.properties));
    CHECK(!is_pipeline_cache({}, about.properties));
  });
}

TEST_CASE("a driver that remembers nothing or refuses costs no file and no kernel") {
  on_each_driver([](const found_device& about, const std::vector<uint8>& bytes) {
    remembering_driver::has.assign(bytes.begin(), bytes.begin() + 32);
    CHECK(load_anew(about, doubling) == 1);
    remembering_driver::refuses = true;
    CHECK(load_anew(about, doubling) == 1);
  });
}
