// Drivers that fail: every call that can is an error with a type and a sentence, and a session can be made anew.
#include "each_device.hpp"

#include <poot/dsl/pointwise.hpp>
#include <poot/run/host/device.hpp>

using namespace poot;
using namespace poot::run::vulkan;

namespace {

/// A driver of which one call fails, once it is told to.
struct failing_driver {
  static inline device_functions real;
  static inline VkResult submitting = VK_SUCCESS, waiting = VK_SUCCESS, allocating = VK_SUCCESS, binding = VK_SUCCESS, mapping = VK_SUCCESS,
                         loading = VK_SUCCESS, recording = VK_SUCCESS;

  static void works() { submitting = waiting = allocating = binding = mapping = loading = recording = VK_SUCCESS; }
  static void stand_in(device_functions& f) {
    real = f;
    f.QueueSubmit = [](VkQueue q, uint32 n, const VkSubmitInfo* i, VkFence fence) { return submitting < 0 ? submitting : real.QueueSubmit(q, n, i, fence); };
    f.WaitForFences = [](VkDevice d, uint32 n, const VkFence* all, VkBool32 every, uint64 ns) {
      const VkResult r = real.WaitForFences(d, n, all, every, ns);
      return waiting < 0 ? waiting : r;
    };
    f.AllocateMemory = [](VkDevice d, const VkMemoryAllocateInfo* i, const VkAllocationCallbacks* a, VkDeviceMemory* m) {
      return allocating < 0 ? allocating : real.AllocateMemory(d, i, a, m);
    };
    f.BindBufferMemory = [](VkDevice d, VkBuffer b, VkDeviceMemory m, VkDeviceSize at) { return binding < 0 ? binding : real.BindBufferMemory(d, b, m, at); };
    f.MapMemory = [](VkDevice d, VkDeviceMemory m, VkDeviceSize at, VkDeviceSize size, VkMemoryMapFlags flags, void** to) {
      return mapping < 0 ? mapping : real.MapMemory(d, m, at, size, flags, to);
    };
    f.CreateComputePipelines = [](VkDevice d, VkPipelineCache c, uint32 n, const VkComputePipelineCreateInfo* i, const VkAllocationCallbacks* a, VkPipeline* p) {
      return loading < 0 ? loading : real.CreateComputePipelines(d, c, n, i, a, p);
    };
    f.BeginCommandBuffer = [](VkCommandBuffer c, const VkCommandBufferBeginInfo* i) { return recording < 0 ? recording : real.BeginCommandBuffer(c, i); };
  }
};

graph increment() {
  graph g("increment");
  const value one{&g, g.literal(f32, std::bit_cast<uint32>(1.0f))};
  g.output("y", g.input("x", f32, {4}) + one);
  return g;
}

float run_once(session& s) {
  static const float x[4]{1, 2, 3, 4};
  s.bind("x", read_only(x, f32, 4)).run();
  return static_cast<const float*>(s.result("y").data)[3];
}

template <class Error, class Call>
std::string message_of(Call call) {
  std::string said;
  try {
    call();
    CHECK_MESSAGE(false, "nothing was thrown");
  } catch (const Error& e) {
    said = e.what();
  }
  return said;
}

/// Calls test(device), a failing driver that works so far; each time the device is opened anew.
template <class Test>
void on_each_failing_driver(Test test) {
  poot_tests::on_each_device([&](const device& d) {
    for (int i = 0; i < poot_tests::vulkan_count(); ++i) {
      if (instance::get().device(i).name() != d.name()) continue;
      failing_driver::works();
      test([i] { return device(i, {false, true, failing_driver::stand_in}); });
      failing_driver::works();
    }
  });
}

}  // namespace

TEST_CASE("a device that is lost is told as such, by submitting or by waiting, and one that is opened anew works") {
  on_each_failing_driver([](auto open) {
    for (VkResult* call : {&failing_driver::submitting, &failing_driver::waiting}) {
      device d = open();
      session s = d.load(compile(increment(), d.target()));
      CHECK(run_once(s) == 5);
      *call = VK_ERROR_DEVICE_LOST;
      CHECK(message_of<device_lost>([&] { run_once(s); }) == "vulkan: run: the device was lost");
      failing_driver::works();
      device again = open();
      session other = again.load(compile(increment(), again.target()));
      CHECK(run_once(other) == 5);
    }
    session on_device = [&] {
      device d = open();
      return d.load(compile(increment(), d.target()));
    }();
    auto host = poot::host(1).load(compile(increment(), targets::host));
    const float x[4]{1, 2, 3, 4};
    host.bind("x", read_only(x, f32, 4)).run();
    CHECK(static_cast<const float*>(host.result("y").data)[3] == run_once(on_device));
  });
}

TEST_CASE("memory that runs out names what it was for, and what was loaded before still runs") {
  on_each_failing_driver([](auto open) {
    device d = open();
    session s = d.load(compile(increment(), d.target()));
    for (VkResult* call : {&failing_driver::allocating, &failing_driver::binding, &failing_driver::mapping}) {
      *call = VK_ERROR_OUT_OF_DEVICE_MEMORY;
      const std::string said = message_of<out_of_memory>([&] { d.load(compile(increment(), d.target())); });
      CHECK(said.find(" bytes for ") != std::string::npos);
      CHECK(said.find("out of device memory") != std::string::npos);
      failing_driver::works();
      CHECK(run_once(s) == 5);
    }
    const auto held = d.counted().device_bytes;
    failing_driver::allocating = VK_ERROR_OUT_OF_HOST_MEMORY;
    CHECK_THROWS_AS(d.load(compile(increment(), d.target())), out_of_memory);
    CHECK(d.counted().device_bytes == held);
  });
}

TEST_CASE("a kernel that the driver does not load and commands that it does not record are errors that name the step") {
  on_each_failing_driver([](auto open) {
    device d = open();
    failing_driver::loading = VK_ERROR_INVALID_SHADER_NV;
    const std::string said = message_of<error>([&] { d.load(compile(increment(), d.target())); });
    CHECK(said.find("could not be loaded: the kernel is no valid SPIR-V") != std::string::npos);
    failing_driver::works();
    session s = d.load(compile(increment(), d.target()));
    failing_driver::recording = VK_ERROR_OUT_OF_HOST_MEMORY;
    CHECK(message_of<out_of_memory>([&] { run_once(s); }) == "vulkan: commands could not be recorded: out of host memory");
    failing_driver::works();
    CHECK(run_once(s) == 5);
  });
}
