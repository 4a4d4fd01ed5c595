#pragma once
/// Commands that are recorded once and run as often as wanted. Between two of them stands a barrier where one depends on
/// what stands before it, and only there.

#include <poot/run/vulkan/pipeline.hpp>

#include <vector>

namespace poot::run::vulkan {

/// Bytes of a buffer that a command touches.
struct range {
  VkBuffer buffer = nullptr;
  int64 offset = 0, bytes = 0;
  bool written = false;

  bool conflicts_with(const range& o) const {
    return buffer == o.buffer && (written || o.written) && offset < o.offset + o.bytes && o.offset < offset + bytes;
  }
};

/// A dispatch: its kernel, what is bound in order, and how many workgroups.
struct dispatch {
  const pipeline* kernel = nullptr;
  std::vector<range> buffers;
  uint32 x = 1, y = 1;
  range counts{};  ///< where three words hold the workgroups instead; no buffer: they are x, y and 1
  bool continues = false;  ///< a chunk of the dispatch before it: they wait for what that waits for, and not for each other
};

struct transfer {
  range from, to;
};

/// A dispatch where it has a kernel, else a transfer.
struct command {
  dispatch work{};
  transfer copy{};
  command(dispatch d) : work(std::move(d)) {}
  command(transfer t) : copy(t) { copy.to.written = true; }
};

class commands {
 public:
  explicit commands(context& c) : context_(c) {}
  commands(const commands&) = delete;
  commands& operator=(const commands&) = delete;
  ~commands() {
    free_sets();
    context_.free_commands(handle_);
  }

  /// Prepares `list` to be run; recorded now, unless the device is told to replay nothing. Buffers and kernels must stay as
  /// long as it is run.
  void record(const std::vector<command>& list) {
    if (!handle_) handle_ = context_.make_commands();
    make_sets(list);
    size_ = list.size();
    dispatches_ = 0;
    for (const command& c : list) dispatches_ += c.work.kernel != nullptr;
    if (!context_.records_once()) list_ = list;
    else write(list.data(), list.size(), sets_.data());
  }

  /// Runs what was recorded, and waits for its end.
  void run() {
    if (size_ == 0) return;
    if (context_.records_once()) {
      context_.run(handle_);
      if (!fresh_) ++context_.replays;
      fresh_ = false;
    }
    for (size_t i = 0; i < list_.size(); ++i) {
      write(&list_[i], 1, &sets_[i]);
      context_.run(handle_);
    }
    context_.dispatches += dispatches_;
  }

  size_t barriers() const { return barriers_; }

 private:
  void write(const command* list, size_t count, const VkDescriptorSet* sets) {
    barriers_ = 0;
    context_.record(handle_, [&](VkCommandBuffer c) {
      // What earlier commands wrote is seen here, what these write is seen by the host.
      barrier(c, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
              VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
      std::vector<range> touched;  // since the last barrier
      for (size_t i = 0; i < count; ++i) write(c, list[i], sets[i], touched);
      barrier(c, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    });
    ++context_.recordings;
    fresh_ = true;
  }
  void write(VkCommandBuffer c, const command& one, VkDescriptorSet set, std::vector<range>& touched) {
    const device_functions& vk = context_.call();
    const range ends[] = {one.copy.from, one.copy.to};
    const view<range> mine = one.work.kernel ? view<range>(one.work.buffers.data(), one.work.buffers.size()) : view<range>(ends, 2);
    bool waits = false;
    for (const range& r : mine)
      for (const range& before : touched) waits = waits || (!one.work.continues && r.conflicts_with(before));
    if (waits) {
      constexpr VkPipelineStageFlags stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
      barrier(c, stages, VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT, stages,
              VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
      ++barriers_;
      touched.clear();
    }
    touched.insert(touched.end(), mine.begin(), mine.end());
    if (!one.work.kernel) {
      const VkBufferCopy part{static_cast<VkDeviceSize>(one.copy.from.offset), static_cast<VkDeviceSize>(one.copy.to.offset),
                              static_cast<VkDeviceSize>(one.copy.to.bytes)};
      vk.CmdCopyBuffer(c, one.copy.from.buffer, one.copy.to.buffer, 1, &part);
      return;
    }
    vk.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, one.work.kernel->handle);
    vk.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, one.work.kernel->layout, 0, 1, &set, 0, nullptr);
    if (one.work.counts.buffer) vk.CmdDispatchIndirect(c, one.work.counts.buffer, static_cast<VkDeviceSize>(one.work.counts.offset));
    else vk.CmdDispatch(c, one.work.x, one.work.y, 1);
  }

  void barrier(VkCommandBuffer c, VkPipelineStageFlags from, VkAccessFlags made, VkPipelineStageFlags to, VkAccessFlags seen) const {
    VkMemoryBarrier b{};
    b.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    b.srcAccessMask = made;
    b.dstAccessMask = seen;
    context_.call().CmdPipelineBarrier(c, from, to, 0, 1, &b, 0, nullptr, 0, nullptr);
  }

  /// One set of buffers for each dispatch.
  void make_sets(const std::vector<command>& list) {
    free_sets();
    sets_.assign(list.size(), nullptr);
    uint32 sets = 0, buffers = 0;
    for (const command& c : list)
      if (c.work.kernel) ++sets, buffers += c.work.kernel->buffers;
    if (sets == 0) return;
    const device_functions& vk = context_.call();
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, buffers};
    VkDescriptorPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    info.maxSets = sets;
    info.poolSizeCount = 1;
    info.pPoolSizes = &size;
    check(vk.CreateDescriptorPool(context_.handle(), &info, nullptr, &pool_), "sets of buffers could not be made");
    for (size_t i = 0; i < list.size(); ++i) {
      const dispatch& d = list[i].work;
      if (!d.kernel) continue;
      VkDescriptorSetAllocateInfo one{};
      one.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
      one.descriptorPool = pool_;
      one.descriptorSetCount = 1;
      one.pSetLayouts = &d.kernel->set;
      check(vk.AllocateDescriptorSets(context_.handle(), &one, &sets_[i]), "a set of buffers could not be made");
      std::vector<VkDescriptorBufferInfo> bound;
      for (const range& r : d.buffers) bound.push_back({r.buffer, static_cast<VkDeviceSize>(r.offset), static_cast<VkDeviceSize>(r.bytes)});
      VkWriteDescriptorSet all{};
      all.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
      all.dstSet = sets_[i];
      all.descriptorCount = static_cast<uint32>(bound.size());
      all.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
      all.pBufferInfo = bound.data();
      vk.UpdateDescriptorSets(context_.handle(), 1, &all, 0, nullptr);
    }
  }
  void free_sets() {
    if (pool_) context_.call().DestroyDescriptorPool(context_.handle(), pool_, nullptr);
    pool_ = nullptr;
  }

  context& context_;
  VkCommandBuffer handle_ = nullptr;
  VkDescriptorPool pool_ = nullptr;
  std::vector<VkDescriptorSet> sets_;
  std::vector<command> list_;  ///< of a device that replays nothing
  size_t size_ = 0, dispatches_ = 0, barriers_ = 0;
  bool fresh_ = false;
};

}  // namespace poot::run::vulkan
