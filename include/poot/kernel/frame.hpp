#pragma once
/// The values of a body while it is interpreted.

#include <poot/kernel/form.hpp>
#include <poot/kernel/fragments.hpp>

namespace poot::kernel::detail {

/// A body and the value of each of its instructions in each invocation of a workgroup. A function runs once at a time.
struct frame {
  const body* code = nullptr;
  uint32 width = 0, subgroup = 0;
  vec<uint32> ends{};    ///< of each instruction that opens or splits a block, the next one that ends or splits it
  vec<uint32> rows{};    ///< of each instruction, the row of its first word in `values`
  vec<uint32> values{};  ///< [words, width]

  constexpr frame() = default;
  constexpr frame(const kernel& k, const body& of, view<uint32> metadata) : code(&of), width(k.workgroup), subgroup(k.subgroup), ends(block_ends(of)) {
    uint32 count = 0;
    for (const instruction& i : of) {
      rows.push_back(count);
      count += words_of_value(i.kind, subgroup);
    }
    values.resize(size_t{count} * width);
    for (uint32 i = 0; i < of.size(); ++i) {
      const instruction& now = of[i];
      if (is_literal(now.code)) fill(i, now.a);
      if (now.code == opcode::meta) fill(i, metadata[now.a]);
      if (now.code == opcode::lane)
        for (uint32 l = 0; l < width; ++l) row(i)[l] = l;
      if (now.code == opcode::subgroup)
        for (uint32 l = 0; l < width; ++l) row(i)[l] = l / subgroup;
    }
  }

  constexpr uint32* row(uint32 i) { return values.data() + size_t{rows[i]} * width; }
  constexpr void fill(uint32 i, uint32 bits) {
    for (uint32 l = 0; l < width; ++l) row(i)[l] = bits;
  }
  /// The fragment of the subgroup whose first invocation is `first`.
  constexpr fragment_words fragment(uint32 i, uint32 first) { return {row(i) + first, width, subgroup}; }
};

}  // namespace poot::kernel::detail
