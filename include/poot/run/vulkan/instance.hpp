#pragma once
/// What the loader finds: physical devices, and why others cannot be used.
///
/// With POOT_VULKAN_VALIDATION=1 the validation layer watches every call; what it says is kept in `messages()`.

#include <poot/emit/c_family.hpp>
#include <poot/run/vulkan/loader.hpp>

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include <unistd.h>

namespace poot::run::vulkan {

/// A physical device.
struct found_device {
  VkPhysicalDevice handle = nullptr;
  VkPhysicalDeviceProperties properties{};
  VkPhysicalDeviceMemoryProperties memory{};
  std::string driver;            ///< name and version
  uint32 queue_family = 0;       ///< the one that computes
  uint32 subgroup = 0;           ///< invocations
  int64 most_allocation = 0;     ///< bytes
  emit::options float_controls{};  ///< execution modes of f32 that it offers
  std::string why_not;           ///< empty where the device can be used

  std::string_view name() const { return properties.deviceName; }
  /// Whether host and device work in the same memory, so that nothing needs to be carried.
  bool shares_memory() const {
    return properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU || properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
  }
};

/// The one instance of a process, made when it is first asked for and kept to the end: drivers do not like to be unloaded.
class instance {
 public:
  /// Throws `error` where there is no loader or no driver; a later call tries again.
  static instance& get() {
    static instance& made = *new instance;
    return made;
  }
  instance(const instance&) = delete;
  instance& operator=(const instance&) = delete;

  const instance_functions& call() const { return call_; }
  const std::vector<found_device>& devices() const { return devices_; }
  /// The usable device number `index`. Throws `error` that says what there is.
  const found_device& device(int index) const {
    int at = 0;
    for (const found_device& d : devices_)
      if (d.why_not.empty() && at++ == index) return d;
    text message;
    message << "vulkan: there is no device " << index << ": ";
    if (at > 0) fail(message << at << (at == 1 ? " was found" : " were found"));
    for (const found_device& d : devices_) message << d.name() << ' ' << d.why_not.c_str() << "; ";
    fail(message << "no usable device was found");
  }

  bool validates() const { return validates_; }
  /// What the validation layer said since the call before.
  std::vector<std::string> messages() {
    const std::lock_guard lock(mutex_);
    return std::exchange(messages_, {});
  }

 private:
  instance() {
    const loader& vulkan = loader::get();
    const char* const wanted = std::getenv("POOT_VULKAN_VALIDATION");
    validates_ = wanted && *wanted && std::strcmp(wanted, "0") != 0;
    VkDebugUtilsMessengerCreateInfoEXT listener{};
    listener.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    listener.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    listener.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
    listener.pfnUserCallback = &instance::listen;
    listener.pUserData = this;
    VkApplicationInfo about{};
    about.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    about.pApplicationName = "poot";
    about.apiVersion = VK_API_VERSION_1_2;
    const char* const layer = "VK_LAYER_KHRONOS_validation";
    const char* const extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &about;
    if (validates_) {
      info.pNext = &listener;
      info.enabledLayerCount = info.enabledExtensionCount = 1;
      info.ppEnabledLayerNames = &layer;
      info.ppEnabledExtensionNames = &extension;
    }
    const VkResult made = vulkan.call().CreateInstance(&info, nullptr, &handle_);
    if (made == VK_ERROR_INCOMPATIBLE_DRIVER) fail(text{} << "vulkan: no instance could be made: " << explain(made) << missing_drivers().c_str());
    check(made, validates_ ? "no instance could be made with the validation layer that POOT_VULKAN_VALIDATION asks for"
                           : "no instance could be made");
    vulkan.load(call_, handle_);
    if (validates_)
      if (const auto create = vulkan.find<PFN_vkCreateDebugUtilsMessengerEXT>(handle_, "vkCreateDebugUtilsMessengerEXT")) {
        VkDebugUtilsMessengerEXT messenger;
        check(create(handle_, &listener, nullptr, &messenger), "the validation layer cannot be heard");
      }
    find_devices();
  }

  /// Which of the files that the environment names in place of the installed drivers' cannot be opened.
  static std::string missing_drivers() {
    std::string all;
    for (const char* variable : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"}) {
      const char* const value = std::getenv(variable);
      for (std::string rest = value ? value : ""; !rest.empty();) {
        const std::string path = rest.substr(0, rest.find(':'));
        rest.erase(0, path.size() + 1);
        if (!path.empty() && ::access(path.c_str(), R_OK) != 0) all += std::string("; ") + variable + " names " + path + ": " + std::strerror(errno);
      }
      if (value && *value) break;  // as the loader reads them
    }
    return all;
  }

  static VKAPI_ATTR VkBool32 VKAPI_CALL listen(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                               const VkDebugUtilsMessengerCallbackDataEXT* said, void* self) {
    instance& i = *static_cast<instance*>(self);
    const std::lock_guard lock(i.mutex_);
    i.messages_.emplace_back(said->pMessage ? said->pMessage : "");
    return VK_FALSE;
  }

  void find_devices() {
    uint32 count = 0;
    check(call_.EnumeratePhysicalDevices(handle_, &count, nullptr), "devices could not be listed");
    std::vector<VkPhysicalDevice> handles(count);
    check(call_.EnumeratePhysicalDevices(handle_, &count, handles.data()), "devices could not be listed");
    handles.resize(count);
    for (const VkPhysicalDevice h : handles) devices_.push_back(examine(h));
  }

  found_device examine(VkPhysicalDevice handle) const {
    found_device d;
    d.handle = handle;
    VkPhysicalDeviceMaintenance3Properties limits{};
    limits.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES;
    VkPhysicalDeviceSubgroupProperties subgroup{};
    subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
    subgroup.pNext = &limits;
    VkPhysicalDeviceDriverProperties driver{};
    driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
    VkPhysicalDeviceFloatControlsProperties floats{};
    floats.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES;
    driver.pNext = &floats;
    VkPhysicalDeviceProperties2 all{};
    all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    call_.GetPhysicalDeviceProperties2(handle, &all);
    d.properties = all.properties;
    if (d.properties.apiVersion < VK_API_VERSION_1_1) {
      d.why_not = "knows Vulkan 1.0 only, and 1.1 is needed";
      return d;
    }
    all.pNext = &subgroup;
    if (d.properties.apiVersion >= VK_API_VERSION_1_2) limits.pNext = &driver;
    call_.GetPhysicalDeviceProperties2(handle, &all);
    d.subgroup = subgroup.subgroupSize;
    d.most_allocation = static_cast<int64>(limits.maxMemoryAllocationSize);
    d.driver = std::string(driver.driverName) + (driver.driverInfo[0] ? std::string(", ") + driver.driverInfo : "");
    d.float_controls.preserve_specials = floats.shaderSignedZeroInfNanPreserveFloat32;
    d.float_controls.preserve_subnormals = floats.shaderDenormPreserveFloat32;
    call_.GetPhysicalDeviceMemoryProperties(handle, &d.memory);
    uint32 count = 0;
    call_.GetPhysicalDeviceQueueFamilyProperties(handle, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    call_.GetPhysicalDeviceQueueFamilyProperties(handle, &count, families.data());
    while (d.queue_family < count && !(families[d.queue_family].queueFlags & VK_QUEUE_COMPUTE_BIT)) ++d.queue_family;
    if (d.queue_family == count) d.why_not = "has no queue that computes";
    return d;
  }

  VkInstance handle_ = nullptr;
  instance_functions call_;
  std::vector<found_device> devices_;
  bool validates_ = false;
  std::mutex mutex_;
  std::vector<std::string> messages_;
};

}  // namespace poot::run::vulkan
