#pragma once
/// Memory of a device, and what the entries of an executor share of it: weights and states.

#include <poot/plan/program.hpp>
#include <poot/run/declared.hpp>
#include <poot/run/vulkan/context.hpp>

#include <map>
#include <memory>

namespace poot::run::vulkan {

/// What a buffer is for, which decides where it lies.
enum class use : uint8 {
  work,     ///< kernels read and write it; the host too, where both share memory
  to_device,
  from_device,
};

/// A buffer with memory of its own, zero when new. Its size is rounded up so that kernels can bind whole words.
class storage {
 public:
  storage() = default;
  /// `what` it is for stands in the error when there is no room.
  storage(context& c, int64 bytes, use wanted, std::string_view what) : context_(&c), bytes_(plan::aligned(bytes > 0 ? bytes : 1)) {
    try {
      allocate(wanted, what);
      clear();
    } catch (...) {
      release();
      throw;
    }
  }
  storage(storage&& o) noexcept { swap(o); }
  storage& operator=(storage&& o) noexcept {
    storage taken(std::move(o));
    swap(taken);
    return *this;
  }
  ~storage() { release(); }

  explicit operator bool() const { return buffer_ != nullptr; }
  VkBuffer handle() const { return buffer_; }
  int64 bytes() const { return bytes_; }
  /// The bytes as the host sees them; null where it does not.
  char* mapped() const { return mapped_; }

  /// Copies from the host now.
  void write(int64 offset, const void* from, int64 bytes) {
    if (bytes <= 0) return;
    if (mapped_) {
      std::memcpy(mapped_ + offset, from, static_cast<size_t>(bytes));
      return;
    }
    carry(bytes, use::to_device, [&](storage& stage, int64 done, int64 part) {
      std::memcpy(stage.mapped_, static_cast<const char*>(from) + done, static_cast<size_t>(part));
      copy_now(stage, 0, *this, offset + done, part);
    });
  }
  /// Copies to the host now.
  void read(int64 offset, void* to, int64 bytes) const {
    if (bytes <= 0) return;
    if (mapped_) {
      std::memcpy(to, mapped_ + offset, static_cast<size_t>(bytes));
      return;
    }
    carry(bytes, use::from_device, [&](storage& stage, int64 done, int64 part) {
      copy_now(*this, offset + done, stage, 0, part);
      std::memcpy(static_cast<char*>(to) + done, stage.mapped_, static_cast<size_t>(part));
    });
  }

 private:
  static constexpr int64 largest_part = int64{16} << 20;  ///< bytes carried at once

  void swap(storage& o) {
    std::swap(context_, o.context_);
    std::swap(bytes_, o.bytes_);
    std::swap(buffer_, o.buffer_);
    std::swap(memory_, o.memory_);
    std::swap(mapped_, o.mapped_);
  }

  void allocate(use wanted, std::string_view what) {
    const device_functions& vk = context_->call();
    const auto no_room = [&](VkResult r) {
      if (r >= 0) return;
      const text message = text{} << "vulkan: " << bytes_ << " bytes for " << what << ": " << explain(r);
      if (r == VK_ERROR_DEVICE_LOST) throw device_lost(message);
      throw out_of_memory(message);
    };
    if (bytes_ > context_->about().most_allocation)
      throw out_of_memory(text{} << "vulkan: " << bytes_ << " bytes for " << what << ": " << context_->about().name() << " allocates "
                                 << context_->about().most_allocation << " at once");
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = static_cast<VkDeviceSize>(bytes_);
    info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    if (wanted == use::work) info.usage |= VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
    no_room(vk.CreateBuffer(context_->handle(), &info, nullptr, &buffer_));
    VkMemoryRequirements needs{};
    vk.GetBufferMemoryRequirements(context_->handle(), buffer_, &needs);
    const bool mapped = wanted != use::work || context_->shares_memory();
    VkMemoryAllocateInfo memory{};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    memory.allocationSize = needs.size;
    memory.memoryTypeIndex = memory_type(needs.memoryTypeBits, wanted, mapped);
    no_room(vk.AllocateMemory(context_->handle(), &memory, nullptr, &memory_));
    context_->device_bytes += bytes_;
    no_room(vk.BindBufferMemory(context_->handle(), buffer_, memory_, 0));
    if (!mapped) return;
    void* at = nullptr;
    no_room(vk.MapMemory(context_->handle(), memory_, 0, VK_WHOLE_SIZE, 0, &at));
    mapped_ = static_cast<char*>(at);
  }

  uint32 memory_type(uint32 allowed, use wanted, bool mapped) const {
    const VkPhysicalDeviceMemoryProperties& all = context_->about().memory;
    constexpr VkMemoryPropertyFlags seen = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const VkMemoryPropertyFlags needed = mapped ? seen : 0;
    const VkMemoryPropertyFlags better = wanted == use::work        ? VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
                                         : wanted == use::from_device ? VK_MEMORY_PROPERTY_HOST_CACHED_BIT
                                                                      : 0;
    for (const VkMemoryPropertyFlags flags : {needed | better, needed})
      for (uint32 i = 0; i < all.memoryTypeCount; ++i)
        if ((allowed >> i & 1) && (all.memoryTypes[i].propertyFlags & flags) == flags) return i;
    fail(text{} << "vulkan: " << context_->about().name() << " has no memory that the host can write");
  }

  void clear() {
    if (mapped_) std::memset(mapped_, 0, static_cast<size_t>(bytes_));
    else now([&](VkCommandBuffer c) { context_->call().CmdFillBuffer(c, buffer_, 0, VK_WHOLE_SIZE, 0); });
  }

  template <class Move>
  void carry(int64 bytes, use direction, Move move) const {
    storage stage(*context_, bytes < largest_part ? bytes : largest_part, direction, "carrying data");
    for (int64 done = 0; done < bytes; done += largest_part) move(stage, done, bytes - done < largest_part ? bytes - done : largest_part);
  }
  void copy_now(const storage& from, int64 from_offset, const storage& to, int64 to_offset, int64 bytes) const {
    now([&](VkCommandBuffer c) {
      const VkBufferCopy part{static_cast<VkDeviceSize>(from_offset), static_cast<VkDeviceSize>(to_offset), static_cast<VkDeviceSize>(bytes)};
      context_->call().CmdCopyBuffer(c, from.buffer_, to.buffer_, 1, &part);
    });
  }
  /// Transfer commands, run now; what they write is seen by everything later.
  template <class Write>
  void now(Write write) const {
    const VkCommandBuffer c = context_->make_commands();
    try {
      context_->record(c, [&](VkCommandBuffer) {
        write(c);
        VkMemoryBarrier seen{};
        seen.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
        seen.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
        seen.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
        context_->call().CmdPipelineBarrier(c, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT,
                                            0, 1, &seen, 0, nullptr, 0, nullptr);
      });
      context_->run(c);
    } catch (...) {
      context_->free_commands(c);
      throw;
    }
    context_->free_commands(c);
  }

  void release() {
    if (!context_) return;
    const device_functions& vk = context_->call();
    if (buffer_) vk.DestroyBuffer(context_->handle(), buffer_, nullptr);
    if (memory_) {
      vk.FreeMemory(context_->handle(), memory_, nullptr);
      context_->device_bytes -= bytes_;
    }
    context_ = nullptr;
    buffer_ = nullptr;
    memory_ = nullptr;
    mapped_ = nullptr;
  }

  context* context_ = nullptr;
  int64 bytes_ = 0;
  VkBuffer buffer_ = nullptr;
  VkDeviceMemory memory_ = nullptr;
  char* mapped_ = nullptr;
};

/// What the entries of an executor share, by name.
class shared_memory {
 public:
  explicit shared_memory(context& c) : context_(c) {}

  /// Takes the weights and states of an entry. Throws where an earlier entry has something else under a name.
  void declare(const ir::graph_view& g) { names_.add(g); }
  bool has_weight(std::string_view name) const { return names_.weight(name) != nullptr; }
  struct loaded_weight {
    storage memory;
    tensor_type type{};
    uint64 loaded_at = 0;  ///< the number of its latest load
  };
  /// Copies a weight to the device, for every entry. Throws before anything is read where `b` does not fit what they
  /// declare.
  void load(std::string_view name, const buffer& b) {
    const tensor_type* const declared = names_.weight(name);
    if (!declared) fail(text{} << "load_weight \"" << name << "\": no entry has a weight of this name");
    check_fits("load_weight", name, *declared, b);
    loaded_weight& w = weights_[std::string(name)];
    if (!w.memory) w.memory = storage(context_, declared->bytes(), use::work, (text("weight ") << name).str());
    w.memory.write(0, b.data, b.type.bytes());
    w.type = b.type;
    w.loaded_at = ++loads_;
  }
  /// How many weights were loaded, one as often as it was.
  uint64 loads() const { return loads_; }
  /// Null where nobody has loaded it.
  const loaded_weight* find_weight(std::string_view name) const {
    const auto at = weights_.find(std::string(name));
    return at == weights_.end() || at->second.loaded_at == 0 ? nullptr : &at->second;
  }

  /// The memory of a state, zero when first asked for.
  storage& state(std::string_view name, int64 bytes) {
    const auto [at, fresh] = states_.try_emplace(std::string(name));
    if (fresh) at->second = storage(context_, bytes, use::work, (text("state ") << name).str());
    return at->second;
  }

  /// Bytes held for weights and states.
  int64 device_bytes() const {
    int64 bytes = 0;
    for (const auto& [name, w] : weights_) bytes += w.memory.bytes();
    for (const auto& [name, s] : states_) bytes += s.bytes();
    return bytes;
  }

 private:
  context& context_;
  shared_names names_;
  std::map<std::string, loaded_weight> weights_;
  uint64 loads_ = 0;
  std::map<std::string, storage> states_;
};

}  // namespace poot::run::vulkan
