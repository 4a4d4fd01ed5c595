#pragma once
/// A device that is open: its queue, and what was counted.

#include <poot/run/library.hpp>
#include <poot/run/vulkan/instance.hpp>

#include <atomic>

namespace poot::run::vulkan {

/// How much was done since a device was opened.
struct counters {
  uint64 compiles = 0;      ///< kernels that went through a compiler
  uint64 cache_hits = 0;    ///< kernels whose code was on disk
  uint64 pipelines = 0;     ///< distinct kernels that were loaded
  uint64 recordings = 0;    ///< command buffers written
  uint64 replays = 0;       ///< submitted again as they were
  uint64 dispatches = 0;    ///< kernels that ran
  int64 device_bytes = 0;   ///< held now
};

struct device_options {
  bool staging = false;  ///< carries data through a buffer of its own also where host and device share memory
  bool replay = true;    ///< records the commands of a run once; else each is recorded, submitted and waited for in every run
  void (*stand_in)(device_functions&) = nullptr;  ///< puts other functions in the place of the driver's, in a test say

  bool operator==(const device_options&) const = default;
};

class context {
 public:
  explicit context(const found_device& d, const device_options& wanted = {})
      : about_(d), shares_memory_(d.shares_memory() && !wanted.staging), records_once_(wanted.replay) {
    const instance& vulkan = instance::get();
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueFamilyIndex = d.queue_family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    check(vulkan.call().CreateDevice(d.handle, &info, nullptr, &handle_), "the device could not be opened");
    try {
      loader::load(call_, vulkan.call(), handle_);
      identity_ = identify();
      if (wanted.stand_in) wanted.stand_in(call_);
      call_.GetDeviceQueue(handle_, d.queue_family, 0, &queue_);
      VkCommandPoolCreateInfo pool{};
      pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
      pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
      pool.queueFamilyIndex = d.queue_family;
      check(call_.CreateCommandPool(handle_, &pool, nullptr, &pool_), "a command pool could not be made");
      VkFenceCreateInfo fence{};
      fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
      check(call_.CreateFence(handle_, &fence, nullptr, &done_), "a fence could not be made");
    } catch (...) {
      close();
      throw;
    }
  }
  context(const context&) = delete;
  context& operator=(const context&) = delete;
  ~context() { close(); }

  const found_device& about() const { return about_; }
  const device_functions& call() const { return call_; }
  VkDevice handle() const { return handle_; }
  bool shares_memory() const { return shares_memory_; }
  bool records_once() const { return records_once_; }
  /// Which device this is, and which driver in which version: what one has made is of no use to another.
  const std::string& identity() const { return identity_; }

  VkCommandBuffer make_commands() {
    const std::lock_guard lock(mutex_);
    VkCommandBufferAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = pool_;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    VkCommandBuffer commands = nullptr;
    check(call_.AllocateCommandBuffers(handle_, &info, &commands), "a command buffer could not be made");
    return commands;
  }
  void free_commands(VkCommandBuffer commands) {
    const std::lock_guard lock(mutex_);
    if (commands) call_.FreeCommandBuffers(handle_, pool_, 1, &commands);
  }
  /// Writes commands by write(commands). The commands of one context are written one after another.
  template <class Write>
  void record(VkCommandBuffer commands, Write write) {
    const std::lock_guard lock(mutex_);
    VkCommandBufferBeginInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    check(call_.BeginCommandBuffer(commands, &info), "commands could not be recorded");
    write(commands);
    check(call_.EndCommandBuffer(commands), "commands could not be recorded");
  }
  /// Runs commands and waits for their end. What the host wrote before is seen by them.
  void run(VkCommandBuffer commands) {
    const std::lock_guard lock(mutex_);
    VkSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    VkResult r = call_.ResetFences(handle_, 1, &done_);
    if (r >= 0) r = call_.QueueSubmit(queue_, 1, &info, done_);
    if (r >= 0) r = call_.WaitForFences(handle_, 1, &done_, VK_TRUE, ~uint64{0});
    lost_ = lost_ || r == VK_ERROR_DEVICE_LOST;
    check(r, "run");
  }
  /// Whether a run found the device lost: a new context is needed.
  bool lost() const { return lost_; }

  counters counted() const {
    return {compiles, cache_hits, pipelines, recordings, replays, dispatches, device_bytes};
  }
  std::atomic<uint64> compiles{0}, cache_hits{0}, pipelines{0}, recordings{0}, replays{0}, dispatches{0};
  std::atomic<int64> device_bytes{0};

 private:
  std::string identify() const {
    const VkPhysicalDeviceProperties& p = about_.properties;
    text id;
    id << about_.name() << ", " << about_.driver.c_str() << ", driver " << p.vendorID << ' ' << p.deviceID << ' ' << p.driverVersion << ',';
    for (const uint8 byte : p.pipelineCacheUUID) id << ' ' << static_cast<uint32>(byte);
    // Some drivers say the same of every build.
    ::Dl_info from{};
    if (::dladdr(reinterpret_cast<void*>(call_.CreateComputePipelines), &from) && from.dli_fname) id << ", " << file_identity(from.dli_fname).c_str();
    return std::string(id.str());
  }
  void close() {
    if (call_.DestroyFence) call_.DestroyFence(handle_, done_, nullptr);
    if (call_.DestroyCommandPool) call_.DestroyCommandPool(handle_, pool_, nullptr);
    if (call_.DestroyDevice) call_.DestroyDevice(handle_, nullptr);
  }

  found_device about_;
  bool shares_memory_, records_once_;
  VkDevice handle_ = nullptr;
  device_functions call_;
  std::string identity_;
  VkQueue queue_ = nullptr;
  VkCommandPool pool_ = nullptr;
  VkFence done_ = nullptr;
  std::atomic<bool> lost_{false};
  std::mutex mutex_;
};

}  // namespace poot::run::vulkan
