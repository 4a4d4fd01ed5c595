// What a step costs the host beside its work: nothing is allocated, whatever its lengths are.
#include <poot/nn/decoder.hpp>
#include <poot/run/host/device.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

using namespace poot;

namespace {
std::atomic<size_t> allocations = 0;  // of all threads

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

/// A decoder layer of T rows and a head behind it, over the live rows of its caches.
graph decoder_step() {
  graph g("step");
  const extent rows = g.dynamic("T", 8);
  const value x = g.input("x", f32, {rows, 32}), position = g.input("position", i32, {1});
  const auto w = [&](const char* name, extent n, extent k) { return g.weight(name, bf16, {n, k}); };
  const value norm = g.weight("norm", f32, {32});
  const value y = nn::decoder_layer(x, position, nn::decoder_weights{norm, w("q", 32, 32), w("k", 16, 32), w("v", 16, 32), w("o", 32, 32), norm, w("gate", 48, 32), w("up", 48, 32), w("down", 32, 48)},
                                    g.state("keys", bf16, {2, 600, 8}), g.state("values", bf16, {2, 600, 8}));
  g.output("token", dsl::argmax(dsl::matmul_t(nn::rms_norm(y, norm), w("head", 300, 32))));
  return g;
}

}  // namespace

TEST_CASE("a step of the host allocates nothing, also where lengths change") {
  for (const int threads : {1, 2})
    for (const bool fuse : {true, false}) {
      plan::options wanted;
      wanted.fuse = fuse;
      auto session = host(threads).load(plan::compile(decoder_step(), targets::host, wanted));
      std::vector<std::vector<uint8>> held;
      const ir::graph_view g = session.program().graph;
      for (uint32 id = 0; id < g.size(); ++id)
        if (g[id].kind == ir::op::weight || g[id].kind == ir::op::state) {
          held.emplace_back(static_cast<size_t>(g.type(id).bytes()), uint8{0});
          session.bind(g.name_of(id), {held.back().data(), g.type(id)});
        }
      const std::vector<float> x(8 * 32, 0.5f);
      const auto step = [&](int32 position, int64 rows) {
        session.bind("x", run::read_only(x.data(), f32, rows, 32)).bind("position", run::read_only(&position, i32, 1)).run();
        (void)session.result("token");
      };
      for (const int64 rows : {8, 1, 3}) step(0, rows);
      const size_t before = allocations;
      for (int32 position = 0; position < 40; ++position) step(position, 1 + position % 8);
      CHECK(allocations - before == 0);
    }
}
