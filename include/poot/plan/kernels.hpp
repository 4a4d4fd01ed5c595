#pragma once
/// The table of distinct kernels, and the sections that repeat.

#include <poot/plan/imported.hpp>

namespace poot::plan::detail {

/// A region's structure without the extents: ops, element types, how members read each other and which inputs they share,
/// which axes broadcast. Launches of equal structure share a kernel; extents go to its metadata. Launches of one shipped
/// kernel share it.
constexpr uint64 hash_region(const program_view& p, const graph_view& g, const launch& l, uint32* local) {
  if (const shipped_kernel s = shipped_of(p, l); s.family != shipped::none)
    return mix(mix(hash_text(name(s.family)), static_cast<uint64>(s.written_for)), static_cast<uint64>(s.format));
  uint64 h = static_cast<uint64>(l.kind);
  uint32 next = 0;
  const uint32 *const inputs = p.ids.first + l.inputs.first, *const members = p.ids.first + l.members.first,
               *const outputs = p.ids.first + l.outputs.first;
  for (uint32 k = 0; k < l.inputs.count; ++k) local[inputs[k]] = next++;
  for (uint32 k = 0; k < l.members.count; ++k) local[members[k]] = next++;
  const auto hash_type = [&](uint32 id) {
    const tensor_type& t = g.type(id);
    h = mix(h, static_cast<uint64>(t.element) << 8 | t.rank);
    for (int i = 0; i < t.rank; ++i) h = mix(h, t.extents[i] == extent(1));
  };
  for (uint32 k = 0; k < l.inputs.count; ++k) hash_type(inputs[k]);
  for (uint32 m = 0; m < l.members.count; ++m) {
    const ir::eqn& e = g[members[m]];
    hash_type(members[m]);
    h = mix(h, static_cast<uint64>(e.kind) | static_cast<uint64>(e.sum.lanes) << 16 |
                   static_cast<uint64>(e.sum.chunk) << 32 | static_cast<uint64>(e.sum.fused) << 8 |
                   static_cast<uint64>(e.sum.hardware) << 9);
    const uint32* const in = g.first_operand(members[m]);
    for (uint32 k = 0; k < e.operands.count; ++k)
      h = g.is_scalar_constant(in[k]) ? mix(mix(h, 0xffffffffu), static_cast<uint64>(g.attrs(in[k])[0])) : mix(h, local[in[k]]);
    const bool may_be_left_out = e.kind == ir::op::matmul || e.kind == ir::op::packed_contraction;  // transpose_b=0
    if (e.custom) h = mix(h, e.custom->hash);
    if (ir::is_collective(e.kind)) h = mix(h, hash_text(g.name_of(members[m])));
    if (e.kind != ir::op::slice)
      for (int64 a : g.attrs(e))
        if (a != 0 || !may_be_left_out) h = mix(h, static_cast<uint64>(a));
  }
  for (uint32 k = 0; k < l.outputs.count; ++k) h = mix(h, local[outputs[k]]);
  if (l.kind == fuse::region_kind::contraction)  // rows before and runs behind products lie in shared memory, whose size is part of a kernel
    for (uint32 m = 0; m < l.members.count; ++m) {
      if (ir::is_reduction(g[members[m]].kind)) h = mix(h, static_cast<uint64>(g.type(g.first_operand(members[m])[0]).element_count()));
      if (g[members[m]].kind == ir::op::reshape) h = mix(h, static_cast<uint64>(g.type(members[m]).last().code));
    }
  return h;
}

constexpr void share_kernels(program& p, const graph_view& g) {
  vec<uint32> numbers(g.size(), 0);
  size_t capacity = 16;
  while (capacity < 2 * p.launches.size()) capacity *= 2;
  vec<uint32> table(capacity, 0xffffffffu);
  program_view v = p.view_of();
  v.graph = g;
  for (uint32 i = 0; i < p.launches.size(); ++i) {
    uint64 h = hash_region(v, g, p.launches[i], numbers.data());
    if (p.launches[i].chunks > 1) h = mix(h, hash_text("chunked"));  // its text adds the first workgroup of a chunk
    size_t at = h & (capacity - 1);
    while (table[at] != 0xffffffffu && p.kernel_table[table[at]].hash != h) at = (at + 1) & (capacity - 1);
    if (table[at] == 0xffffffffu) {
      table[at] = static_cast<uint32>(p.kernel_table.size());
      p.kernel_table.push_back({h, i, 0});
    }
    p.launches[i].kernel = table[at];
    ++p.kernel_table[table[at]].launches;
  }
}

/// Longest section of launches considered.
inline constexpr uint32 max_section = 64;

/// Finds runs of launches that repeat, longest total first from each start.
constexpr void find_sections(program& p) {
  const auto size = static_cast<uint32>(p.launches.size());
  vec<uint32> ends(max_section + 1, 0);
  uint32* const end = ends.data();  // by length: where launches stop to equal those `length` before; kept from start to start
  const launch* const launches = p.launches.data();
  uint32 at = 0;
  while (at < size) {
    section best;
    for (uint32 length = 1; length <= max_section && at + 2 * length <= size; ++length) {
      end[length] = end[length] > at + length ? end[length] : at + length;
      while (end[length] < size && launches[end[length] - length].kernel == launches[end[length]].kernel) ++end[length];
      const uint32 times = (end[length] - at) / length;
      if (times >= 2 && times * length > best.times * best.length) best = {at, length, times};
    }
    if (best.length > 1) {
      p.repeated.push_back(best);
      at += best.length * best.times;
    } else {
      ++at;
    }
  }
}

}  // namespace poot::plan::detail
