// What a step costs the host: nothing is allocated or recorded anew, whatever its extents are.
#include "each_device.hpp"

#include <poot/dsl/contraction.hpp>
#include <poot/dsl/movement.hpp>
#include <poot/dsl/pointwise.hpp>

#include <new>

using namespace poot;
using poot_tests::on_each_device;

namespace {
thread_local size_t allocations = 0;

void* count_and_allocate(size_t size) {
  ++allocations;
  if (void* const p = std::malloc(size ? size : 1)) return p;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(size_t size) { return count_and_allocate(size); }
void* operator new[](size_t size) { return count_and_allocate(size); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }

namespace {

/// What drivers and layers allocate in their calls does not count.
struct uncounted_driver {
  static inline run::vulkan::device_functions real;

  template <class Call>
  static VkResult uncounted(Call call) {
    const size_t before = allocations;
    const VkResult r = call();
    allocations = before;
    return r;
  }
  static void stand_in(run::vulkan::device_functions& f) {
    real = f;
    f.ResetFences = [](VkDevice d, uint32 n, const VkFence* all) { return uncounted([=] { return real.ResetFences(d, n, all); }); };
    f.QueueSubmit = [](VkQueue q, uint32 n, const VkSubmitInfo* i, VkFence done) { return uncounted([=] { return real.QueueSubmit(q, n, i, done); }); };
    f.WaitForFences = [](VkDevice d, uint32 n, const VkFence* all, VkBool32 every, uint64 ns) {
      return uncounted([=] { return real.WaitForFences(d, n, all, every, ns); });
    };
  }
};

/// The device of the same name, opened with other options.
run::vulkan::device reopened(const run::vulkan::device& d, const run::vulkan::device_options& wanted) {
  int i = 0;
  while (run::vulkan::instance::get().device(i).name() != d.name()) ++i;
  return run::vulkan::device(i, wanted);
}

/// A row is written into a cache s[8,4] at `at`; y = x · live rows of the cache + 1, and a copy of x.
graph cache_step() {
  graph g("step");
  const extent live = g.dynamic("L", 8);
  const value s = g.state("s", f32, {8, 4}), x = g.input("x", f32, {1, 4}), at = g.input("at", i32, {2}), keys = g.input("keys", i32, {live});
  const value now = dsl::dynamic_update_slice(s, x, at);
  g.output("s", now);
  const value one{&g, g.literal(f32, std::bit_cast<uint32>(1.0f))};
  const value rows = dsl::gather<0>(now, keys);  // (L, 4)
  g.output("y", dsl::matmul_t(x, rows) + one);
  g.output("x again", x);
  return g;
}

}  // namespace

TEST_CASE("a step allocates nothing, records nothing and compiles nothing, also where a length grows") {
  on_each_device([](const run::vulkan::device& found) {
    const run::vulkan::device d = reopened(found, {false, true, uncounted_driver::stand_in});
    auto session = d.load(compile(cache_step(), d.target()));
    const float x[4]{1, 2, 3, 4};
    const int32 keys[8]{0, 1, 2, 3, 4, 5, 6, 7};
    int32 at[2]{};
    const auto step = [&](int32 position) {
      at[0] = position;
      session.bind("x", read_only(x, f32, 1, 4)).bind("at", read_only(at, i32, 2)).bind("keys", read_only(keys, i32, position + 1)).run();
    };
    for (int32 position = 0; position < 4; ++position) step(position);
    const auto before = d.counted();
    const size_t allocated = allocations;
    for (int32 position = 4; position < 8; ++position) step(position);
    CHECK(allocations == allocated);
    const auto after = d.counted();
    CHECK(after.recordings == before.recordings);
    CHECK(after.compiles == before.compiles);
    CHECK(after.pipelines == before.pipelines);
    CHECK(after.device_bytes == before.device_bytes);
    CHECK(after.replays == before.replays + 4);
    for (int i = 0; i < 8; ++i) CHECK(static_cast<const float*>(session.result("y").data)[i] == 31);
    CHECK(static_cast<const float*>(session.result("x again").data)[3] == 4);
  });
}

TEST_CASE("without replay the same bits come of launches that are submitted one by one") {
  on_each_device([](const run::vulkan::device& d) {
    const run::vulkan::device slow = reopened(d, {false, false});
    const plan::program p = compile(cache_step(), d.target());
    auto fast_session = d.load(p), slow_session = slow.load(p);
    const auto before = slow.counted();
    const float x[4]{1, 2, 3, 5};
    const int32 keys[8]{0, 1, 2, 3, 4, 5, 6, 7}, at[2]{};
    for (auto* s : {&fast_session, &slow_session}) {
      s->bind("x", read_only(x, f32, 1, 4)).bind("at", read_only(at, i32, 2)).bind("keys", read_only(keys, i32, 8));
      s->run();
      s->run();
    }
    for (const char* name : {"y", "s", "x again"}) {
      const buffer a = fast_session.result(name), b = slow_session.result(name);
      CHECK(std::memcmp(a.data, b.data, static_cast<size_t>(a.type.bytes())) == 0);
    }
    CHECK(slow.counted().replays == before.replays);
    CHECK(slow.counted().recordings == before.recordings + 2 * p.view_of().dispatch_count());
  });
}
