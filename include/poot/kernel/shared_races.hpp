#pragma once
/// Finds where two invocations of a workgroup may touch one element of a shared array, one of them writing, with no
/// barrier between. What cannot be excluded counts.

#include <poot/kernel/fragments.hpp>
#include <poot/kernel/shared_index.hpp>

namespace poot::kernel {

namespace detail {

class shared_race_finder {
 public:
  constexpr shared_race_finder(const kernel& k, const uniformity& uniform)
      : k_(k), uniform_(uniform), ends_(block_ends(k.code)), index_(k, uniform) {
    masks_.push_back(vec<uint8>(k.workgroup, 1));
  }
  constexpr void check() { walk(0, static_cast<uint32>(k_.code.size()), {}, 0); }

 private:
  /// An access since the last barrier. Of an earlier turn of a loop its symbol may have had another value.
  struct access {
    uint32 at = 0, mask = 0;
    bool other_symbol = false;
    constexpr bool operator==(const access&) const = default;
  };
  using accesses = vec<access>;

  static constexpr void add(const access& a, accesses& to) {
    for (const access& known : to)
      if (known == a) return;
    to.push_back(a);
  }
  constexpr uint32 narrowed(uint32 mask, const vec<uint8>& flags, uint8 wanted) {
    vec<uint8> m = masks_[mask];
    for (uint32 l = 0; l < k_.workgroup; ++l) m[l] &= static_cast<uint8>(flags[l] == wanted);
    for (uint32 known = 0; known < masks_.size(); ++known)
      if (masks_[known] == m) return known;
    masks_.push_back(std::move(m));
    return static_cast<uint32>(masks_.size() - 1);
  }

  constexpr void touch(const access& now, accesses& open) {
    const bool stores = is_store(now);
    if (stores && may_meet(now, now)) refuse(now, now);
    for (const access& before : open)
      if (k_.code[before.at].a == k_.code[now.at].a && (stores || is_store(before)) && may_meet(before, now))
        refuse(now, before);
    add(now, open);
  }
  [[noreturn]] void refuse(const access& now, const access& before) const {
    fail(describe(k_, k_.code, now.at) << ": another invocation may touch the same element of shared "
                                       << k_.shared[k_.code[now.at].a].name << " at instruction " << before.at
                                       << ", with no barrier between");
  }

  constexpr bool is_store(const access& a) const {
    return k_.code[a.at].code == opcode::shared_store || k_.code[a.at].code == opcode::mma_store;
  }

  /// Every element that `a` may touch, or the remainder of every element by `modulus` where that is not 0, and who touches it.
  template <class F>
  constexpr void each(const access& a, uint32 modulus, uint32 many, F visit) {
    const footprint all = footprint_of(k_.code[a.at]);
    const bool of_fragments = is_of_fragments(k_.code[a.at].code);
    for (uint32 e = 0; e < all.rows * all.length; ++e)
      each_from(a, e / all.length * all.stride + e % all.length, modulus, many, [&](uint32 element, uint32 l) {
        if (!of_fragments) visit(element, l);
        else if (l % k_.subgroup == 0) visit(element, toucher(k_, a.at, l / k_.subgroup));
      });
  }
  /// Of the element `offset` behind the index of each invocation.
  template <class F>
  constexpr void each_from(const access& a, uint32 offset, uint32 modulus, uint32 many, F visit) {
    const index_form& f = index_.of(k_.code[a.at].b);
    for (uint32 l = 0; l < k_.workgroup; ++l) {
      if (!masks_[a.mask][l]) continue;
      if (modulus) {
        visit((f.by_lane[l] + offset) % modulus, l);
        continue;
      }
      for (uint32 turn = 0; turn < many; ++turn) {
        uint32 element = f.by_lane[l] + offset, rest = turn;
        for (const stride& s : f.strides) {
          element += rest % s.count * s.step;
          rest /= s.count;
        }
        visit(element, l);
      }
    }
  }

  /// Whether two invocations may touch one element, one with each of the two accesses; the first comes first.
  constexpr bool may_meet(const access& first, const access& second) {
    const vec<uint8>&m = masks_[first.mask], &n = masks_[second.mask];
    uint32 present = 0;
    for (uint32 l = 0; l < k_.workgroup; ++l) present += m[l] | n[l];
    if (present <= 1) return false;
    const index_form &a = index_.of(k_.code[first.at].b), &b = index_.of(k_.code[second.at].b);
    if (!a.known || !b.known || a.symbol != b.symbol) return true;
    if (a.symbol && first.other_symbol) return true;
    const uint32 a_many = turns(a), b_many = turns(b);
    const uint32 modulus = a_many && b_many ? 0 : common_step(a, b);
    touched_elements touched;
    bool met = false;
    each(first, modulus, a_many, [&](uint32 element, uint32 l) { met |= touched.note(element, l) && first.at == second.at; });
    if (first.at != second.at) each(second, modulus, b_many, [&](uint32 element, uint32 l) { met |= touched.by_another(element, l); });
    return met;
  }

  /// The number of elements that one invocation may touch; 0 where it is not known or too large to list.
  static constexpr uint32 turns(const index_form& f) {
    uint64 n = 1;
    for (const stride& s : f.strides) {
      n *= s.count;
      if (n > 1024) return 0;
    }
    return static_cast<uint32>(n);
  }
  static constexpr uint32 common_step(const index_form& a, const index_form& b) {
    uint32 step = 0;
    for (const vec<stride>* strides : {&a.strides, &b.strides})
      for (const stride& s : *strides)
        for (uint32 x = s.step; x;) step = std::exchange(x, step % x);
    return step;
  }

  /// The accesses that may still be without a barrier after [from, to), given those before.
  constexpr accesses walk(uint32 from, uint32 to, accesses open, uint32 mask) {
    for (uint32 i = from; i < to; ++i) {
      switch (k_.code[i].code) {
        case opcode::barrier: open.clear(); break;
        case opcode::mma_left:
        case opcode::mma_right:
        case opcode::mma_store:
        case opcode::shared_load:
        case opcode::shared_store: touch({i, mask, false}, open); break;
        case opcode::loop: {
          const accesses once = walk(i + 1, ends_[i], open, mask);
          accesses before = open;
          for (access a : once) {
            a.other_symbol |= index_.changes_in(index_.of(k_.code[a.at].b).symbol, i);
            add(a, before);
          }
          for (const access& a : walk(i + 1, ends_[i], std::move(before), mask)) add(a, open);
          i = ends_[i];
          break;
        }
        case opcode::branch: {
          const uint32 middle = ends_[i];
          const bool has_else = k_.code[middle].code == opcode::branch_else;
          const flag_form condition = index_.flag_of(k_.code[i].a);
          accesses taken = walk(i + 1, middle, open, narrowed(mask, condition.may, 1));
          if (has_else) {
            // where all go one way, one of the two runs
            accesses before = uniform_.value[i] ? open : taken;
            for (const access& a : walk(middle + 1, ends_[middle], std::move(before), narrowed(mask, condition.must, 0))) add(a, taken);
          }
          if (!has_else)
            for (const access& a : open) add(a, taken);
          open = std::move(taken);
          i = has_else ? ends_[middle] : middle;
          break;
        }
        default: break;
      }
    }
    return open;
  }

  const kernel& k_;
  const uniformity& uniform_;
  vec<uint32> ends_;
  index_analysis index_;
  vec<vec<uint8>> masks_;
};

}  // namespace detail

/// Throws `error` naming the first access that may race with another. Accesses of one invocation, and loads, never do.
/// Elements are told apart where an index is lane by lane a number plus what all invocations share plus steps of loops.
constexpr void check_shared_races(const kernel& k, const uniformity& uniform) {
  if (!k.shared.empty()) detail::shared_race_finder(k, uniform).check();
}

}  // namespace poot::kernel
