#pragma once
/// Which values all invocations of a workgroup share, and which instructions they reach together.

#include <poot/kernel/form.hpp>

namespace poot::kernel {

struct uniformity {
  static constexpr uint32 nothing = 0xffffffffu;
  vec<uint8> value{};        ///< of each instruction of the kernel: the invocations that get there have one value
  vec<uint32> parted_by{};   ///< of each instruction: the outermost loop or branch that parts the invocations, or nothing
};

namespace detail {

class uniformity_finder {
 public:
  constexpr explicit uniformity_finder(const kernel& k) : k_(k), shared_by_all_(k.code.size(), 1) {
    found_.value = vec<uint8>(k.code.size());
    found_.parted_by = vec<uint32>(k.code.size());
    do changed_ = false, sweep();
    while (changed_);
  }
  constexpr uniformity take() { return std::move(found_); }

 private:
  constexpr bool all(const instruction& now) const {
    const operand_use uses = operands_of(now.code);
    return (!uses.a || found_.value[now.a]) && (!uses.b || found_.value[now.b]) && (!uses.c || found_.value[now.c]);
  }
  constexpr bool is_uniform(uint32 i) const {
    const instruction& now = k_.code[i];
    switch (now.code) {
      case opcode::lane:
      case opcode::subgroup: return false;
      case opcode::load:
      case opcode::load_quad: return k_.buffers[now.a].how == access::read && found_.value[now.b];
      case opcode::variable: return shared_by_all_[i] && found_.value[now.a];
      case opcode::read: return found_.value[now.a];
      case opcode::call:
      case opcode::join:
        for (uint32 p = 0; p < now.c; ++p)
          if (!found_.value[now.b + p]) return false;
        return true;
      default: return !is_fragment(now.kind) && all(now);
    }
  }
  /// Variables count as uniform until an assignment parts their values, and then everything is looked at anew.
  constexpr void sweep() {
    vec<uint32> open;
    uint32 parted = uniformity::nothing;
    for (uint32 i = 0; i < k_.code.size(); ++i) {
      const instruction& now = k_.code[i];
      if (now.code == opcode::loop_end || now.code == opcode::branch_end) {
        if (parted == open.back()) parted = uniformity::nothing;
        open.pop_back();
      }
      found_.parted_by[i] = parted;
      found_.value[i] = is_uniform(i);
      if (now.code == opcode::assign && shared_by_all_[now.a] && (parted != uniformity::nothing || !found_.value[now.b])) {
        shared_by_all_[now.a] = 0;
        changed_ = true;
      }
      if (now.code == opcode::loop || now.code == opcode::branch) {
        open.push_back(i);
        if (parted == uniformity::nothing && !found_.value[i]) parted = i;
      }
    }
  }

  const kernel& k_;
  uniformity found_;
  vec<uint8> shared_by_all_;  ///< of variables
  bool changed_ = false;
};

}  // namespace detail

/// Of a kernel that has its form. The lane and the subgroup are not uniform; the group, metadata and literals are, what is loaded at a
/// uniform index from shared memory or a buffer that is only read, and a variable if all values assigned to it are and
/// all invocations assign them.
constexpr uniformity find_uniform(const kernel& k) { return detail::uniformity_finder(k).take(); }

}  // namespace poot::kernel
