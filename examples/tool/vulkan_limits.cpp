#if __has_include(<vulkan/vulkan_core.h>)
#include "vulkan_limits.hpp"

#include <chrono>

namespace poot::tool {

namespace {

using namespace run::vulkan;

/// Kernels that move vectors of four words; each invocation takes PER of them, one workgroup apart.
constexpr const char* memory_kernel = R"(#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer A { uvec4 a[]; };
layout(std430, binding = 1) writeonly buffer B { uvec4 b[]; };
void main() {
  uvec4 sum = uvec4(0u);
  for (uint k = 0u; k < PER; ++k) {
    uint i = (gl_WorkGroupID.x * PER + k) * 64u + gl_LocalInvocationID.x;
    STEP
  }
  if (sum == uvec4(1u, 2u, 3u, 4u)) b[0] = sum;
}
)";

/// Sixteen independent chains of multiply-adds; the operands and how often are in a buffer, so that nothing is known.
constexpr const char* multiply_kernel = R"(#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) writeonly buffer B { float b[]; };
void main() {
  precise float x = a[0], y = a[1], DECLARE;
  int times = int(a[2]);
  for (int i = 0; i < times; ++i) { STEP }
  precise float sum = SUM;
  if (sum == 3.0) b[0] = sum;
}
)";

std::string replaced(std::string text, std::string_view word, const std::string& by) {
  for (size_t at; (at = text.find(word)) != text.npos;) text.replace(at, word.size(), by);
  return text;
}

std::string moving(int per, const char* step) { return replaced(replaced(memory_kernel, "STEP", step), "PER", std::to_string(per) + "u"); }

std::string multiplying(int chains) {
  std::string declare, step, sum;
  for (int i = 0; i < chains; ++i) {
    const std::string r = "r" + std::to_string(i);
    declare += (i ? ", " : "") + r + " = y + " + std::to_string(i) + ".0";
    step += r + " = r" + std::to_string(i) + " * x + y; ";
    sum += (i ? " + " : "") + r;
  }
  return replaced(replaced(replaced(multiply_kernel, "DECLARE", declare), "STEP", step), "SUM", sum);
}

/// The least time of several runs of `d`, `times` in a row, in ns for each.
double least(opened_device& on, const dispatch& d, int times) {
  commands list(on.open);
  list.record(std::vector<command>(static_cast<size_t>(times), command(d)));
  double best = 1e300;
  for (int i = 0; i < 6; ++i) {
    const auto start = std::chrono::steady_clock::now();
    list.run();
    const double took = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
    best = took < best ? took : best;
  }
  return best / times;
}

}  // namespace

machine_limits probe(opened_device& on) {
  constexpr int64 largest = int64{128} << 20;
  const storage from(on.open, largest / 2, use::work, "measuring memory"), to(on.open, largest / 2, use::work, "measuring memory");
  const auto bound = [&](const pipeline* kernel, int64 bytes, int64 groups) {
    dispatch d;
    d.kernel = kernel;
    d.buffers = {{from.handle(), 0, bytes, false}, {to.handle(), 0, bytes, true}};
    d.x = static_cast<uint32>(groups);
    return d;
  };
  machine_limits limits;
  for (int i = 0; i < 3; ++i) limits.memory[i].bytes = int64{1} << (20 + 4 * i - (i == 2));  // 1, 16 and 128 MiB
  for (const int per : {4, 32}) {
    const auto kernels = on.kernels.make({{"copy", moving(per, "b[i] = a[i];"), 2}, {"read", moving(per, "sum ^= a[i];"), 2}});
    for (machine_limits::speeds& s : limits.memory) {
      const int64 half = s.bytes / 2, groups = half / (16 * 64 * per);
      const int times = static_cast<int>(1 + (int64{64} << 20) / s.bytes);
      const double copied = static_cast<double>(s.bytes) / least(on, bound(kernels[0], half, groups), times);
      const double read = static_cast<double>(half) / least(on, bound(kernels[1], half, groups), times);
      s.copy = s.streaming = copied > s.copy ? copied : s.copy;
      s.read = read > s.read ? read : s.read;
    }
  }
  constexpr int64 times = 2000, groups = 256;
  const float operands[4] = {1.0001f, 1e-9f, times, 0};
  storage numbers(on.open, sizeof operands, use::work, "measuring arithmetic");
  numbers.write(0, operands, sizeof operands);
  for (const int chains : {4, 8, 16}) {
    dispatch d = bound(on.kernels.make({{"multiply", multiplying(chains), 2}})[0], sizeof operands, groups);
    d.buffers[0].buffer = numbers.handle();
    const double rate = 2.0 * static_cast<double>(chains * times * groups * 64) / least(on, d, 1);
    limits.fma_gflops = rate > limits.fma_gflops ? rate : limits.fma_gflops;
  }
  return limits;
}

}  // namespace poot::tool
#endif
