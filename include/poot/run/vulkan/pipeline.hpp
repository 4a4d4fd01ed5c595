#pragma once
/// From the text of kernels to pipelines: cached code or a compiler, then the driver. Distinct texts become one pipeline
/// each, whoever asks for them, and are compiled side by side.

#include <poot/run/shaderc.hpp>
#include <poot/run/vulkan/driver_cache.hpp>

#include <exception>
#include <memory>
#include <thread>

namespace poot::run::vulkan {

/// A kernel as text. Buffers are bound as 0, 1, … of set 0.
struct kernel_text {
  std::string name, glsl;
  uint32 buffers = 0;
};

struct pipeline {
  VkPipeline handle = nullptr;
  VkPipelineLayout layout = nullptr;
  VkDescriptorSetLayout set = nullptr;
  uint32 buffers = 0;
};

/// Whether words can be SPIR-V: a header, and instructions that fill the rest.
inline bool is_spirv(const std::vector<uint32>& words) {
  if (words.size() < 6 || words[0] != 0x07230203u) return false;
  size_t at = 5;
  while (at < words.size() && words[at] >> 16) at += words[at] >> 16;
  return at == words.size();
}

class pipelines {
 public:
  explicit pipelines(context& c) : context_(c) {}
  pipelines(const pipelines&) = delete;
  pipelines& operator=(const pipelines&) = delete;
  ~pipelines() {
    const device_functions& vk = context_.call();
    for (const auto& [text, p] : made_) vk.DestroyPipeline(context_.handle(), p.handle, nullptr);
    for (const auto& [buffers, l] : layouts_) {
      if (l.layout) vk.DestroyPipelineLayout(context_.handle(), l.layout, nullptr);
      if (l.set) vk.DestroyDescriptorSetLayout(context_.handle(), l.set, nullptr);
    }
  }

  /// What is kept on disk from process to process.
  const cache& kept() const { return cache_; }

  /// The pipeline of each kernel. They stay as long as this object.
  std::vector<const pipeline*> make(const std::vector<kernel_text>& kernels) {
    const std::lock_guard lock(mutex_);
    std::vector<const kernel_text*> missing;
    std::map<std::string_view, size_t> wanted;
    for (const kernel_text& k : kernels)
      if (!made_.count(k.glsl) && wanted.emplace(k.glsl, missing.size()).second) missing.push_back(&k);
    for (const kernel_text* k : missing) layout_for(k->buffers);
    if (!missing.empty() && !compiler_) compiler_ = std::make_unique<shaderc>(shaderc::find());
    std::vector<pipeline> fresh(missing.size());
    const auto keep = [&] {
      for (size_t i = 0; i < missing.size(); ++i)
        if (fresh[i].handle) made_.emplace(missing[i]->glsl, fresh[i]), ++context_.pipelines;
    };
    if (!missing.empty()) {
      const driver_cache known(context_, cache_, name_of(missing));
      try {
        side_by_side(missing.size(), [&](size_t i) { fresh[i] = load(*missing[i], known.handle()); });
      } catch (...) {
        keep();
        throw;
      }
      known.keep();
    }
    keep();
    std::vector<const pipeline*> all;
    for (const kernel_text& k : kernels) all.push_back(&made_.at(k.glsl));
    return all;
  }

 private:
  /// Calls work(0), …, work(count - 1) on several threads. The first error is thrown on, when all have ended.
  template <class Work>
  static void side_by_side(size_t count, Work work) {
    const size_t processors = std::thread::hardware_concurrency(), threads = count < processors ? count : processors;
    std::atomic<size_t> next{0};
    std::mutex mutex;
    std::exception_ptr wrong;
    const auto labour = [&] {
      for (size_t i = next++; i < count; i = next++) try {
          work(i);
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!wrong) wrong = std::current_exception();
          next = count;
        }
    };
    std::vector<std::thread> others;
    for (size_t t = 1; t < threads; ++t) others.emplace_back(labour);
    labour();
    for (std::thread& t : others) t.join();
    if (wrong) std::rethrow_exception(wrong);
  }

  std::vector<uint32> code(const kernel_text& k) {
    const std::string key = compiler_->identity() + "\n" + k.glsl;
    if (const auto kept = cache_.find(key); kept && kept->size() % 4 == 0) {
      std::vector<uint32> words(kept->size() / 4);
      std::memcpy(words.data(), kept->data(), kept->size());
      if (is_spirv(words)) {
        ++context_.cache_hits;
        return words;
      }
    }
    ++context_.compiles;
    std::vector<uint32> words = compiler_->compile(k.name, k.glsl);
    if (!is_spirv(words)) fail(text{} << "vulkan: kernel \"" << k.name << "\": what the compiler made is no SPIR-V");
    cache_.keep(key, {reinterpret_cast<const uint8*>(words.data()), words.size() * 4});
    return words;
  }

  /// Says which kernels these are, in an order that does not matter.
  static std::string name_of(const std::vector<const kernel_text*>& kernels) {
    uint64 sum = 0, mixed = 0;
    for (const kernel_text* k : kernels) {
      const uint64 h = hash_text(k->glsl);
      sum += h;
      mixed ^= mix(h, k->glsl.size());
    }
    return std::to_string(kernels.size()) + " kernels " + std::to_string(sum) + " " + std::to_string(mixed);
  }

  pipeline load(const kernel_text& k, VkPipelineCache known) {
    const device_functions& vk = context_.call();
    const std::vector<uint32> words = code(k);
    const layouts& l = layouts_.at(k.buffers);
    VkShaderModuleCreateInfo module_info{};
    module_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    module_info.codeSize = words.size() * 4;
    module_info.pCode = words.data();
    VkShaderModule module = nullptr;
    const std::string step = "kernel \"" + k.name + "\" could not be loaded";
    check(vk.CreateShaderModule(context_.handle(), &module_info, nullptr, &module), step);
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.layout = l.layout;
    pipeline p{nullptr, l.layout, l.set, k.buffers};
    const VkResult r = vk.CreateComputePipelines(context_.handle(), known, 1, &info, nullptr, &p.handle);
    vk.DestroyShaderModule(context_.handle(), module, nullptr);
    check(r, step);
    return p;
  }

  struct layouts {
    VkDescriptorSetLayout set = nullptr;
    VkPipelineLayout layout = nullptr;
  };
  void layout_for(uint32 buffers) {
    layouts& l = layouts_[buffers];
    if (l.layout) return;
    const device_functions& vk = context_.call();
    std::vector<VkDescriptorSetLayoutBinding> bindings(buffers);
    for (uint32 i = 0; i < buffers; ++i)
      bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    VkDescriptorSetLayoutCreateInfo set{};
    set.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    set.bindingCount = buffers;
    set.pBindings = bindings.data();
    check(vk.CreateDescriptorSetLayout(context_.handle(), &set, nullptr, &l.set), "a layout of buffers could not be made");
    VkPipelineLayoutCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    info.setLayoutCount = 1;
    info.pSetLayouts = &l.set;
    check(vk.CreatePipelineLayout(context_.handle(), &info, nullptr, &l.layout), "a layout of buffers could not be made");
  }

  context& context_;
  const cache cache_ = cache::from_environment();
  std::unique_ptr<shaderc> compiler_;
  std::mutex mutex_;
  std::map<std::string, pipeline, std::less<>> made_;
  std::map<uint32, layouts> layouts_;
};

}  // namespace poot::run::vulkan
