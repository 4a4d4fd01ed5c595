#pragma once
/// What the driver made of kernels, kept on disk and handed back to it the next time those kernels are loaded together.
/// Only what begins with this driver's own header is handed to it.

#include <poot/run/cache.hpp>
#include <poot/run/vulkan/context.hpp>

namespace poot::run::vulkan {

/// Whether bytes are a pipeline cache of the device with these properties (the specification's "pipeline cache header").
inline bool is_pipeline_cache(view<uint8> bytes, const VkPhysicalDeviceProperties& of) {
  uint32 words[4];  // its length, its version, the vendor, the device
  if (bytes.size() < sizeof words + VK_UUID_SIZE) return false;
  std::memcpy(words, bytes.data(), sizeof words);
  return words[0] == sizeof words + VK_UUID_SIZE && words[1] == VK_PIPELINE_CACHE_HEADER_VERSION_ONE && words[2] == of.vendorID &&
         words[3] == of.deviceID && std::memcmp(bytes.data() + sizeof words, of.pipelineCacheUUID, VK_UUID_SIZE) == 0;
}

class driver_cache {
 public:
  /// For kernels that are loaded together; `kernels` says which.
  driver_cache(context& c, const cache& on_disk, std::string_view kernels)
      : context_(c), on_disk_(on_disk), key_("pipelines\n" + c.identity() + "\n" + std::string(kernels)) {
    std::vector<uint8> found;
    if (auto kept = on_disk_.find(key_); kept && is_pipeline_cache({kept->data(), kept->size()}, c.about().properties)) found = std::move(*kept);
    if (!create(found)) create({});
    initial_ = found.size();
  }
  driver_cache(const driver_cache&) = delete;
  driver_cache& operator=(const driver_cache&) = delete;
  ~driver_cache() { context_.call().DestroyPipelineCache(context_.handle(), handle_, nullptr); }

  /// Null where the driver could not make one: kernels are loaded without.
  VkPipelineCache handle() const { return handle_; }

  /// Keeps what the driver made since. Some drivers give a header and nothing behind it, which is not worth a file.
  void keep() const {
    size_t size = 0;
    if (!handle_ || context_.call().GetPipelineCacheData(context_.handle(), handle_, &size, nullptr) != VK_SUCCESS) return;
    if (size == initial_ || size <= sizeof(uint32) * 4 + VK_UUID_SIZE || size > most_bytes) return;
    std::vector<uint8> bytes(size);
    if (context_.call().GetPipelineCacheData(context_.handle(), handle_, &size, bytes.data()) != VK_SUCCESS) return;
    on_disk_.keep(key_, {bytes.data(), size});
  }

 private:
  static constexpr size_t most_bytes = size_t{64} << 20;

  bool create(const std::vector<uint8>& from) {
    VkPipelineCacheCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
    info.initialDataSize = from.size();
    info.pInitialData = from.data();
    if (context_.call().CreatePipelineCache(context_.handle(), &info, nullptr, &handle_) >= 0) return true;
    handle_ = nullptr;
    return false;
  }

  context& context_;
  const cache& on_disk_;
  std::string key_;
  size_t initial_ = 0;  ///< bytes that were handed to the driver
  VkPipelineCache handle_ = nullptr;
};

}  // namespace poot::run::vulkan
