#pragma once
/// Checks a kernel for a device: form, barriers, races, and what the device has.

#include <poot/core/target.hpp>
#include <poot/kernel/shared_races.hpp>

namespace poot::kernel {

namespace detail {

constexpr void check_limits(const kernel& k, const device_caps& caps) {
  const auto at_most = [&](int64 has, int64 most, const char* what) {
    if (has > most) fail(text("kernel ") << k.name << ": " << has << ' ' << what << ", the device allows " << most);
  };
  at_most(k.workgroup, caps.max_workgroup, "invocations in a workgroup");
  at_most(k.shared_bytes(), caps.shared_bytes, "bytes of shared memory");
  at_most(static_cast<int64>(k.buffers.size()), caps.max_buffers, "buffers");
  if (k.subgroup != 0 && static_cast<int32>(k.subgroup) != caps.subgroup)
    fail(text("kernel ") << k.name << ": subgroups of " << k.subgroup << " invocations, the device's are of " << caps.subgroup);
}

/// Operations whose bits no text for the device gives. (Division and square root that it rounds otherwise are written in integers:
/// emit/glsl.hpp.)
constexpr void check_exactness(const kernel& k, const body& code, const device_caps& caps) {
  for (uint32 i = 0; i < code.size(); ++i) {
    const opcode c = code[i].code;
    if (c == opcode::ffma && !caps.fma_fused)
      fail(describe(k, code, i) << ": the device rounds it otherwise");
    if ((c == opcode::mma_bf16 && !caps.matrix_bf16) || (c == opcode::mma_f16 && !caps.matrix_f16))
      fail(describe(k, code, i) << ": the device has no matrix unit for it");
  }
}

constexpr void check_together(const kernel& k, const uniformity& uniform) {
  for (uint32 i = 0; i < k.code.size(); ++i) {
    const instruction& now = k.code[i];
    const uint32 parted = uniform.parted_by[i];
    if ((now.code == opcode::barrier || is_of_fragments(now.code)) && parted != uniformity::nothing)
      fail(describe(k, k.code, i) << ": not every invocation gets here, because of the " << name(k.code[parted].code)
                                  << " at instruction " << parted);
    if ((now.code == opcode::store || now.code == opcode::store_quad) && k.workgroup > 1 && parted == uniformity::nothing && uniform.value[now.b])
      fail(describe(k, k.code, i) << ": every invocation stores at one index of buffer " << k.buffers[now.a].name);
  }
}

/// The invocations of a subgroup must agree on where a fragment lies.
constexpr void check_fragments(const kernel& k, const uniformity& uniform) {
  if (k.subgroup == 0) return;
  index_analysis index(k, uniform);
  for (uint32 i = 0; i < k.code.size(); ++i) {
    const instruction& now = k.code[i];
    if (!is_of_fragments(now.code) || !operands_of(now.code).b || now.kind == type::sums) continue;
    const index_form& at = index.of(now.b);
    bool agrees = at.known;
    for (uint32 l = 0; agrees && l < k.workgroup; ++l) agrees = at.by_lane[l] == at.by_lane[l - l % k.subgroup];
    if (!agrees) fail(describe(k, k.code, i) << ": the invocations of a subgroup may not agree on the index");
  }
}

constexpr bool check_all(const kernel& k, const device_caps& caps) {
  check_form(k);
  check_limits(k, caps);
  for (const function& f : k.functions) check_exactness(k, f.code, caps);
  check_exactness(k, k.code, caps);
  const uniformity uniform = find_uniform(k);
  check_together(k, uniform);
  check_fragments(k, uniform);
  check_shared_races(k, uniform);
  return true;
}

}  // namespace detail

inline constexpr uint64 verifier_layout = mix(kernel_layout, layout_of<device_caps>);
namespace precompiled {
template <uint64 Layout>
bool verify(const kernel& k, const device_caps& caps);
}

/// Throws `error`, one sentence that names the first rule that the kernel breaks; returns true otherwise:
/// form (`check_form`); barriers are reached by all invocations, and so is what subgroups do together; no two of them may touch one shared element without a
/// barrier between unless both read, nor store at one index of a buffer where that shows; the workgroup, shared memory,
/// the number of buffers and the rounding of every operation are what the device has.
constexpr bool verify(const kernel& k, const device_caps& caps) {
  if constexpr (!is_precompiled) return detail::check_all(k, caps);
  else if (__builtin_is_constant_evaluated()) return detail::check_all(k, caps);
  else return precompiled::verify<verifier_layout>(k, caps);
}

}  // namespace poot::kernel
