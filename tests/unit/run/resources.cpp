#include <poot/run/hiprtc.hpp>
#include <poot/run/nvrtc.hpp>
#include <poot/run/occupancy.hpp>
#include <poot/run/resources.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <optional>
#include <string>

using namespace poot;

// The figures of the occupancy calculator for one architecture of each size.
constexpr const run::multiprocessor& a100 = *run::multiprocessor_of("sm_80");
constexpr const run::multiprocessor& rtx50 = *run::multiprocessor_of("sm_120");
static_assert(run::occupancy({32, 0, 0}, 256, a100) == 100);
static_assert(run::occupancy({33, 0, 0}, 256, a100) == 75);        // 40 registers are handed out: 6 workgroups of 8 warps
static_assert(run::occupancy({64, 0, 0}, 256, a100) == 50);
static_assert(run::occupancy({255, 0, 0}, 256, a100) == 12);
static_assert(run::occupancy({16, 0, 0}, 32, a100) == 50);         // 32 workgroups of one warp
static_assert(run::occupancy({16, 48 << 10, 0}, 256, a100) == 37); // 3 workgroups
static_assert(run::occupancy({16, 0, 0}, 1024, rtx50) == 66);
static_assert(run::occupancy({40, 0, 0}, 256, rtx50) == 100 && run::occupancy({41, 0, 0}, 256, rtx50) == 83);
static_assert(run::multiprocessor_of("sm_90a")->shared_bytes == 228 << 10 && !run::multiprocessor_of("gfx906"));

namespace {

template <class Compiler>
std::optional<Compiler> open() {
  try {
    return std::optional<Compiler>(std::in_place);
  } catch (const error& e) {
    std::printf("[SKIP] %s\n", e.what());
    return {};
  }
}

template <class Read>
std::string refusal(Read read) {
  try {
    read();
    return "";
  } catch (const error& e) {
    return e.what();
  }
}

constexpr std::string_view shares = R"(
extern "C" __global__ void __launch_bounds__(64) poot_kernel(const unsigned* x, unsigned* out) {
  __shared__ unsigned all[100];
  all[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = all[99 - threadIdx.x];
}
)";
constexpr std::string_view stacks = R"(
extern "C" __global__ void __launch_bounds__(64) poot_kernel(const unsigned* x, unsigned* out) {
  unsigned own[80];
  for (unsigned i = 0; i < 80; ++i) own[i] = i;
  for (unsigned i = 0; i < 1000; ++i) own[x[i] % 80] += own[x[i + threadIdx.x] % 80];
  out[threadIdx.x] = own[x[threadIdx.x] % 80];
}
)";

view<uint8> all(const std::vector<uint8>& v) { return {v.data(), v.size()}; }

/// Every file that is cut off says so or gives what the whole one gives, whatever part is missing.
template <class Read>
void check_cut(const std::vector<uint8>& code, Read read) {
  const run::kernel_resources whole = read(all(code));
  for (size_t size = 0; size < code.size(); size += size < 128 ? 1 : 37) {
    const std::vector<uint8> cut(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(size));  // of its own, for the sanitizers
    bool same = true;
    try {
      same = read(all(cut)) == whole;
    } catch (const error&) {
    }
    CHECK(same);
  }
  std::vector<uint8> damaged = code;  // whatever it says then, within the file
  for (size_t at = 0; at < code.size(); at += 7) {
    damaged[at] ^= 0xff;
    try {
      read(all(damaged));
    } catch (const error&) {
    }
    damaged[at] = code[at];
  }
}

}  // namespace

TEST_CASE("a CUBIN says what its kernel takes") {
  const auto c = open<run::nvrtc>();
  if (!c) return;
  for (const char* arch : {"sm_80", "sm_89", "sm_90a", "sm_100", "sm_120"}) {
    const run::kernel_resources shared = run::resources_of_cubin(all(c->compile("shares", shares, arch)));
    CHECK(shared.shared_bytes == 400);
    CHECK(shared.stack_bytes == 0);
    CHECK(shared.registers >= 4);
    CHECK(shared.registers <= 64);
    const run::kernel_resources stack = run::resources_of_cubin(all(c->compile("stacks", stacks, arch)));
    CHECK(stack.shared_bytes == 0);
    CHECK(stack.stack_bytes == 320);
  }
}

TEST_CASE("a code object says what its kernel takes") {
  const auto c = open<run::hiprtc>();
  if (!c) return;
  for (const char* arch : {"gfx906", "gfx90a", "gfx1030"}) {
    const run::kernel_resources shared = run::resources_of_code_object(all(c->compile("shares", shares, arch)), arch);
    CHECK(shared.shared_bytes == 400);
    CHECK(shared.stack_bytes == 0);
    CHECK(shared.registers >= 4);
    CHECK(shared.registers <= 32);
    const run::kernel_resources stack = run::resources_of_code_object(all(c->compile("stacks", stacks, arch)), arch);
    CHECK(stack.shared_bytes == 0);
    CHECK(stack.stack_bytes >= 320);
  }
}

TEST_CASE("a file that is no code of a kernel is an error") {
  CHECK(refusal([] { run::resources_of_cubin({}); }) == "elf: this is no 64-bit little-endian ELF file");
  if (const auto c = open<run::nvrtc>()) {
    constexpr std::string_view other = "extern \"C\" __global__ void other(unsigned* out) { out[0] = 1; }\n";
    CHECK(refusal([&] { run::resources_of_cubin(all(c->compile("other", other, "sm_80"))); }) == "resources: the CUBIN says nothing of a kernel poot_kernel");
    check_cut(c->compile("stacks", stacks, "sm_80"), [](view<uint8> v) { return run::resources_of_cubin(v); });
  }
  if (const auto c = open<run::hiprtc>())
    check_cut(c->compile("stacks", stacks, "gfx906"), [](view<uint8> v) { return run::resources_of_code_object(v, "gfx906"); });
}
