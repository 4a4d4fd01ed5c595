#pragma once
/// The Vulkan loader, opened at run time: a program starts, and says what is missing, on a machine that has none.

#include <poot/core/error.hpp>

#include <cstring>

#include <dlfcn.h>

#if !__has_include(<vulkan/vulkan_core.h>)
#error "poot/run/vulkan needs the Vulkan headers to compile (Debian: libvulkan-dev); nothing of Vulkan is linked"
#endif
#include <vulkan/vulkan_core.h>

namespace poot::run::vulkan {

// Functions by the object that they are asked of. Names as in the specification, without vk.
#define POOT_VULKAN_GLOBAL(F) F(CreateInstance) F(EnumerateInstanceLayerProperties) F(EnumerateInstanceExtensionProperties)
#define POOT_VULKAN_INSTANCE(F)                                                                                          \
  F(DestroyInstance) F(EnumeratePhysicalDevices) F(GetPhysicalDeviceProperties2) F(GetPhysicalDeviceFeatures2)           \
  F(GetPhysicalDeviceQueueFamilyProperties) F(GetPhysicalDeviceMemoryProperties) F(CreateDevice) F(GetDeviceProcAddr)
#define POOT_VULKAN_DEVICE(F)                                                                                            \
  F(DestroyDevice) F(GetDeviceQueue) F(DeviceWaitIdle) F(QueueSubmit) F(AllocateMemory) F(FreeMemory) F(MapMemory)       \
  F(CreateBuffer) F(DestroyBuffer) F(GetBufferMemoryRequirements) F(BindBufferMemory) F(CreateShaderModule)              \
  F(DestroyShaderModule) F(CreateDescriptorSetLayout) F(DestroyDescriptorSetLayout) F(CreatePipelineLayout)              \
  F(DestroyPipelineLayout) F(CreatePipelineCache) F(GetPipelineCacheData) F(DestroyPipelineCache)                        \
  F(CreateComputePipelines) F(DestroyPipeline) F(CreateDescriptorPool) F(DestroyDescriptorPool)                          \
  F(AllocateDescriptorSets) F(UpdateDescriptorSets) F(CreateCommandPool) F(DestroyCommandPool)                           \
  F(AllocateCommandBuffers) F(FreeCommandBuffers) F(BeginCommandBuffer) F(EndCommandBuffer) F(CmdBindPipeline)           \
  F(CmdBindDescriptorSets) F(CmdDispatch) F(CmdDispatchIndirect) F(CmdPipelineBarrier) F(CmdCopyBuffer) F(CmdFillBuffer) \
  F(CreateFence) F(DestroyFence) F(WaitForFences) F(ResetFences)

#define POOT_VULKAN_MEMBER(NAME) PFN_vk##NAME NAME = nullptr;
struct global_functions {
  POOT_VULKAN_GLOBAL(POOT_VULKAN_MEMBER)
};
struct instance_functions {
  POOT_VULKAN_INSTANCE(POOT_VULKAN_MEMBER)
};
struct device_functions {
  POOT_VULKAN_DEVICE(POOT_VULKAN_MEMBER)
};
#undef POOT_VULKAN_MEMBER

/// A result code in words.
inline text explain(VkResult r) {
  switch (r) {
    case VK_ERROR_OUT_OF_HOST_MEMORY: return "out of host memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY: return "out of device memory";
    case VK_ERROR_INITIALIZATION_FAILED: return "initialisation failed";
    case VK_ERROR_DEVICE_LOST: return "the device was lost";
    case VK_ERROR_INCOMPATIBLE_DRIVER: return "no driver (ICD) was found";
    case VK_ERROR_LAYER_NOT_PRESENT: return "a layer is not installed";
    case VK_ERROR_EXTENSION_NOT_PRESENT: return "an extension is missing";
    case VK_ERROR_TOO_MANY_OBJECTS: return "too many objects";
    case VK_ERROR_INVALID_SHADER_NV: return "the kernel is no valid SPIR-V";
    default: return text{} << "Vulkan error " << static_cast<int64>(r);
  }
}

/// Which calls went wrong for good: a session that meets one is of no more use, another can be made.
struct device_lost : error {
  using error::error;
};
/// The device or the machine has no room for a buffer or a kernel; what was loaded before stays usable.
struct out_of_memory : error {
  using error::error;
};

/// Throws where `r` is an error: `device_lost`, `out_of_memory` or plain `error`, naming the step.
inline void check(VkResult r, std::string_view step) {
  if (r >= 0) return;
  const text message = text{} << "vulkan: " << step << ": " << explain(r);
  if (r == VK_ERROR_DEVICE_LOST) throw device_lost(message);
  if (r == VK_ERROR_OUT_OF_HOST_MEMORY || r == VK_ERROR_OUT_OF_DEVICE_MEMORY || r == VK_ERROR_TOO_MANY_OBJECTS) throw out_of_memory(message);
  throw error(message);
}

/// libvulkan.so.1, opened once and never closed.
class loader {
 public:
  /// Throws `error` where it cannot be opened; a later call tries again.
  static const loader& get() {
    static const loader opened;
    return opened;
  }

  const global_functions& call() const { return call_; }
  void load(instance_functions& f, VkInstance instance) const {
#define POOT_VULKAN_LOAD(NAME) take(f.NAME, address_(instance, "vk" #NAME), #NAME);
    POOT_VULKAN_INSTANCE(POOT_VULKAN_LOAD)
#undef POOT_VULKAN_LOAD
  }
  static void load(device_functions& f, const instance_functions& of, VkDevice device) {
#define POOT_VULKAN_LOAD(NAME) take(f.NAME, of.GetDeviceProcAddr(device, "vk" #NAME), #NAME);
    POOT_VULKAN_DEVICE(POOT_VULKAN_LOAD)
#undef POOT_VULKAN_LOAD
  }
  /// A function of an extension, or null.
  template <class Function>
  Function find(VkInstance instance, const char* name) const {
    return reinterpret_cast<Function>(address_(instance, name));
  }

 private:
  loader() {
    void* const library = ::dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) fail(text{} << "vulkan: the loader cannot be opened: " << ::dlerror());
    void* const found = ::dlsym(library, "vkGetInstanceProcAddr");
    if (!found) fail("vulkan: libvulkan.so.1 is no Vulkan loader: it has no vkGetInstanceProcAddr");
    std::memcpy(&address_, &found, sizeof found);
#define POOT_VULKAN_LOAD(NAME) take(call_.NAME, address_(nullptr, "vk" #NAME), #NAME);
    POOT_VULKAN_GLOBAL(POOT_VULKAN_LOAD)
#undef POOT_VULKAN_LOAD
  }
  template <class Function>
  static void take(Function& f, PFN_vkVoidFunction found, const char* name) {
    if (!found) fail(text{} << "vulkan: the loader or the driver has no function vk" << name);
    f = reinterpret_cast<Function>(found);
  }

  PFN_vkGetInstanceProcAddr address_ = nullptr;
  global_functions call_;
};

#undef POOT_VULKAN_GLOBAL
#undef POOT_VULKAN_INSTANCE
#undef POOT_VULKAN_DEVICE

}  // namespace poot::run::vulkan
