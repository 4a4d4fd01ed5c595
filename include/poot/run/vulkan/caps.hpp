#pragma once
/// What a device can do: its limits as it states them, its arithmetic as it was measured. (A device may call functions
/// of the specification exact, and round otherwise.)

#include <poot/core/float_environment.hpp>
#include <poot/core/fma.hpp>
#include <poot/core/hash.hpp>
#include <poot/core/rounding.hpp>
#include <poot/core/target.hpp>
#include <poot/emit/glsl.hpp>
#include <poot/run/vulkan/commands.hpp>
#include <poot/run/vulkan/memory.hpp>

namespace poot::run::vulkan {

namespace detail {

/// The device's own functions, each once for an invocation: o[k·n + i] for function k.
inline constexpr std::string_view probe_text = R"(
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 2) readonly buffer C { float c[]; };
layout(std430, binding = 3) writeonly buffer O { uint o[]; };
void main() {
  uint i = gl_GlobalInvocationID.x, n = gl_NumWorkGroups.x * 64u;
  precise float x = a[i], y = b[i], z = c[i];
  precise float r;
  r = fma(x, y, z);
  o[i] = floatBitsToUint(r);
  r = x / y;
  o[n + i] = floatBitsToUint(r);
  r = sqrt(x);
  o[2u * n + i] = floatBitsToUint(r);
  r = x * y;
  o[3u * n + i] = floatBitsToUint(r);
  r = x + y;
  o[4u * n + i] = floatBitsToUint(r);
  r = max(x, y);
  o[5u * n + i] = floatBitsToUint(r);
  o[6u * n + i] = packHalf2x16(vec2(x, 0.0)) & 0xffffu;
}
)";

/// Operands of the probe: a third any bits at all, a third subnormal or nearly so, a third of moderate size.
inline float probe_operand(uint32 which, uint32 i) {
  const auto bits = static_cast<uint32>(mix(which + 1, i) >> 32);
  const uint32 kind = i % 3;
  if (kind == 0) return std::bit_cast<float>(bits);
  if (kind == 1) return std::bit_cast<float>(bits & 0x81ffffffu);
  return std::bit_cast<float>((bits & 0x83ffffffu) | 0x3e000000u);
}

}  // namespace detail

/// What was measured of a device's arithmetic.
struct measured_arithmetic {
  bool fma_fused = false, flushes = false, div_exact = false, sqrt_exact = false, max_nan = false, pack_rne = false;
};

inline measured_arithmetic measure(context& c, pipelines& kernels) {
  constexpr uint32 n = 3 * 64 * 32, functions = 7;
  text glsl = "#version 450\n";
  emit::write_float_controls(glsl, c.about().float_controls);
  glsl << detail::probe_text;
  const pipeline* probe = kernels.make({{"probe", std::string(glsl.str()), 4}})[0];
  std::vector<float> operands[3];
  std::vector<storage> buffers;
  dispatch d;
  d.kernel = probe;
  d.x = n / 64;
  for (uint32 k = 0; k < 4; ++k) {
    const int64 bytes = 4 * int64{n} * (k < 3 ? 1 : functions);
    buffers.emplace_back(c, bytes, use::work, "measuring arithmetic");
    d.buffers.push_back({buffers[k].handle(), 0, bytes, k == 3});
    if (k == 3) break;
    for (uint32 i = 0; i < n; ++i) operands[k].push_back(detail::probe_operand(k, i));
    buffers[k].write(0, operands[k].data(), bytes);
  }
  commands once(c);
  once.record({d});
  once.run();
  std::vector<uint32> got(n * functions);
  buffers[3].read(0, got.data(), 4 * int64{n} * functions);

  const float_environment ieee_environment;
  const auto is_subnormal = [](float x) { return (std::bit_cast<uint32>(x) & 0x7f800000u) == 0 && (std::bit_cast<uint32>(x) << 1) != 0; };
  const auto equal = [](uint32 bits, float wanted) {
    return ieee::is_nan(wanted) ? ieee::is_nan(std::bit_cast<float>(bits)) : bits == ieee::to_bits(wanted);
  };
  measured_arithmetic m{true, false, true, true, true, true};
  for (uint32 i = 0; i < n; ++i) {
    const float x = operands[0][i], y = operands[1][i], z = operands[2][i];
    const float product = ieee::mul(x, y), sum = ieee::add(x, y), quotient = ieee::div(x, y), fused = ieee::fma(x, y, z);
    const bool small_operand = is_subnormal(x) || is_subnormal(y);
    const auto result = [&](uint32 function) { return got[function * n + i]; };
    if (small_operand || is_subnormal(product)) m.flushes = m.flushes || !equal(result(3), product);
    if (small_operand || is_subnormal(sum)) m.flushes = m.flushes || !equal(result(4), sum);
    // What flushing alone changes says nothing about rounding.
    if (!small_operand && !is_subnormal(z) && !is_subnormal(fused) && !is_subnormal(product)) m.fma_fused = m.fma_fused && equal(result(0), fused);
    if (!small_operand && !is_subnormal(quotient)) m.div_exact = m.div_exact && equal(result(1), quotient);
    if (!is_subnormal(x)) m.sqrt_exact = m.sqrt_exact && equal(result(2), ieee::sqrt(x));
    if (ieee::is_nan(x) || ieee::is_nan(y)) m.max_nan = m.max_nan && ieee::is_nan(std::bit_cast<float>(result(5)));
    if (!ieee::is_nan(x)) m.pack_rne = m.pack_rne && result(6) == f32_to_f16(x);
  }
  return m;
}

/// The limits that a device states, and the arithmetic that was measured of it.
inline target target_of(const found_device& d, const measured_arithmetic& m) {
  const VkPhysicalDeviceLimits& l = d.properties.limits;
  const auto least = [](auto... counts) {
    uint64 smallest = 0x7fffffff;
    ((smallest = smallest < counts ? smallest : counts), ...);
    return static_cast<int32>(smallest);
  };
  target t;
  t.kind = backend::vulkan;
  device_caps& c = t.caps;
  c.max_buffers = least(l.maxPerStageDescriptorStorageBuffers, l.maxDescriptorSetStorageBuffers, l.maxPerStageResources) - 1;
  const bool is_swiftshader = d.driver.rfind("SwiftShader", 0) == 0;
  c.max_members = is_swiftshader ? targets::detail::swiftshader_members : targets::detail::kernel_members;
  c.buffer_bytes = l.maxStorageBufferRange;
  c.max_groups_x = least(l.maxComputeWorkGroupCount[0]);
  c.max_groups_y = least(l.maxComputeWorkGroupCount[1]);
  c.max_workgroup = least(l.maxComputeWorkGroupInvocations, l.maxComputeWorkGroupSize[0]);
  c.shared_bytes = least(l.maxComputeSharedMemorySize);
  c.subgroup = static_cast<int32>(d.subgroup);
  c.fma_fused = m.fma_fused;
  c.flushes = m.flushes;
  c.div_exact = m.div_exact;
  c.sqrt_exact = m.sqrt_exact;
  c.max_nan = m.max_nan;
  c.pack_rne = m.pack_rne;
  c.rope = c.attention = true;
  c.matrix_f16 = false;  // VK_NV_cooperative_matrix is not asked for, nor enabled where a device is opened
  return t;
}

/// What a program planned for `planned` asks and a device with `has` lacks, in words; empty where there is nothing.
inline text missing_for(const target& planned, const target& has) {
  const auto count = [](const char* what, int64 asked, int64 there) { return text{} << what << ' ' << asked << ", and the device has " << there; };
  const device_caps &p = planned.caps, &d = has.caps;
  if (planned.kind != has.kind) return text{} << "the backend " << name(planned.kind) << ", and this device is of " << name(has.kind);
  if (p.max_buffers > d.max_buffers) return count("max_buffers", p.max_buffers, d.max_buffers);
  if (p.buffer_bytes > d.buffer_bytes) return count("buffer_bytes", p.buffer_bytes, d.buffer_bytes);
  if (p.max_groups_x > d.max_groups_x) return count("max_groups_x", p.max_groups_x, d.max_groups_x);
  if (p.max_groups_y > d.max_groups_y) return count("max_groups_y", p.max_groups_y, d.max_groups_y);
  if (p.max_workgroup > d.max_workgroup) return count("max_workgroup", p.max_workgroup, d.max_workgroup);
  if (p.shared_bytes > d.shared_bytes) return count("shared_bytes", p.shared_bytes, d.shared_bytes);
  if (p.fma_fused && !d.fma_fused) return count("fma_fused", p.fma_fused, d.fma_fused);
  if (p.flushes != d.flushes) return count("flushes", p.flushes, d.flushes);
  if (p.div_exact && !d.div_exact) return count("div_exact", p.div_exact, d.div_exact);
  if (p.sqrt_exact && !d.sqrt_exact) return count("sqrt_exact", p.sqrt_exact, d.sqrt_exact);
  if (p.max_nan && !d.max_nan) return count("max_nan", p.max_nan, d.max_nan);
  if (p.pack_rne && !d.pack_rne) return count("pack_rne", p.pack_rne, d.pack_rne);
  if (p.matrix_bf16 && !d.matrix_bf16) return count("matrix_bf16", p.matrix_bf16, d.matrix_bf16);
  if (p.matrix_f16 && !d.matrix_f16) return count("matrix_f16", p.matrix_f16, d.matrix_f16);
  return {};
}

}  // namespace poot::run::vulkan
