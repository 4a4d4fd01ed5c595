#pragma once
/// Reductions by one workgroup, in the order that the equation carries.
///
///   lanes L, chunk C: lane i adds elements i, i + L, … of a chunk; lanes fold by halves, those of one invocation in its
///   variables and the others in shared memory; chunk results are added in ascending order. A maximum, a minimum, an
///   argmax and sums of integers fold the same way: every order gives their bits.

#include <poot/core/target.hpp>
#include <poot/ir/graph.hpp>
#include <poot/kernel/arithmetic.hpp>

namespace poot::kernel {

/// Lanes that a workgroup folds at most.
inline constexpr uint32 most_lanes = 256;

/// Invocations of a workgroup that reduces: each takes most_lanes / this lanes. Devices whose invocations step together in
/// small numbers are processors, where a barrier costs more than a longer loop.
constexpr uint32 reducing_workgroup(const device_caps& caps) { return caps.subgroup != 0 && caps.subgroup < 16 ? 32 : most_lanes; }

/// Reduces for one workgroup after the other; every invocation gets the result.
class group_reducer {
 public:
  constexpr group_reducer(builder& k, bool needs_index) : k_(k), width_(k.so_far().workgroup) {
    parts_ = k.shares("partial", type::word, width_);
    if (needs_index) indices_ = k.shares("partial_index", type::word, width_);
  }

  /// Op `kind` over `element(0)` … `element(n - 1)`, of type `t`. All invocations take part, in uniform control flow.
  template <class Element>
  constexpr scalar run(op kind, dtype t, ir::order o, word lane, word n, Element element) {
    const uint32 lanes = o.lanes ? o.lanes : most_lanes, chunk = o.chunk ? o.chunk : 4096;
    if (lanes > most_lanes || (lanes & (lanes - 1)) || chunk % lanes)
      fail(text{} << "kernel: a sum in " << lanes << " lanes and chunks of " << chunk << "; a workgroup folds up to " << most_lanes
                  << " lanes, a power of two, and whole numbers of them");
    const uint32 spread = lanes < width_ ? lanes : width_, each = lanes / spread;  // invocations at work; lanes of each
    const bool pairs = kind == op::reduce_argmax;
    const state none = identity(kind, t);
    const variables total = declare(none, pairs);
    k_.for_(0u, n, chunk, [&](word first) {
      const word past = first + word(chunk), end = select(below(n, past), n, past);
      const word whole = first + (end - first) / word(lanes) * word(lanes);  // up to here every lane has an element
      vec<variables> own;
      for (uint32 j = 0; j < each; ++j) own.push_back(declare(none, pairs));
      const auto take = [&](uint32 j, word i) {
        const state entering = enter(kind, t, element(i), i);
        assign(own[j], combine(kind, t, read(own[j], pairs), entering), pairs);
      };
      const flag works = spread == width_ ? flag(true) : below(lane, spread);
      k_.if_(works, [&] {
        k_.for_(first, whole, lanes, [&](word i) {
          for (uint32 j = 0; j < each; ++j) take(j, i + lane + word(j * spread));
        });
        for (uint32 j = 0; j < each; ++j) {
          const word i = whole + lane + word(j * spread);
          k_.if_(below(i, end), [&] { take(j, i); });
        }
      });
      for (uint32 half = each / 2; half > 0; half /= 2)
        for (uint32 j = 0; j < half; ++j) {
          const state low = read(own[j], pairs);
          assign(own[j], combine(kind, t, low, read(own[j + half], pairs)), pairs);
        }
      put(lane, read(own[0], pairs), pairs);
      k_.barrier();
      for (uint32 half = spread / 2; half > 0; half /= 2) {
        k_.if_(below(lane, half), [&] {
          const state low = at(lane, pairs), high = at(lane + word(half), pairs);
          put(lane, combine(kind, t, low, high), pairs);
        });
        k_.barrier();
      }
      const state before = read(total, pairs);
      assign(total, combine(kind, t, before, at(0u, pairs)), pairs);
      k_.barrier();
    });
    return leave(kind, t, read(total, pairs));
  }

 private:
  /// A partial result: the bits of a sum or an extreme value; of an argmax a key that orders values, and where it is.
  struct state {
    word value{}, index{};
  };
  struct variables {
    variable<word> value, index;
  };

  static constexpr bool is_unsigned(dtype t) { return t == dtype::u32 || t == dtype::u8; }

  static constexpr state identity(op kind, dtype t) {
    if (kind == op::reduce_sum) return {0u, 0u};
    if (kind == op::reduce_argmax) return {0u, 0xffffffffu};
    const bool largest = kind == op::reduce_max;
    if (is_float(t)) {
      const float_format f = format_of(t);
      return {static_cast<uint32>(f.infinity() | (largest ? f.sign_bit() : 0)), 0u};
    }
    const bool word_sized = t == dtype::i32 || t == dtype::u32;
    const uint32 lowest = is_unsigned(t) ? 0u : word_sized ? 0x80000000u : static_cast<uint32>(-128);
    const uint32 highest = is_unsigned(t) ? (word_sized ? 0xffffffffu : 255u) : word_sized ? 0x7fffffffu : 127u;
    return {largest ? lowest : highest, 0u};
  }

  /// Unsigned words in the order of the values: a NaN is the largest, -0 and +0 are equal, and nothing is 0.
  static constexpr word key(const scalar& x) {
    if (!is_float(x.element)) return is_unsigned(x.element) ? x.bits : x.bits ^ 0x80000000u;
    const number v = value_of(x);
    const word b = to_bits(v), ordered = select(below_signed(b, 0u), ~b, b | 0x80000000u);
    return select(is_nan(v), 0xffffffffu, select(same(b & 0x7fffffffu, 0u), 0x80000000u, ordered));
  }

  constexpr state enter(op kind, dtype t, const scalar& x, word i) const {
    if (kind == op::reduce_argmax) return {key(x), i};
    if (kind == op::reduce_sum && is_float(t)) return {to_bits(value_of(x)), 0u};
    return {x.bits, 0u};
  }

  constexpr state combine(op kind, dtype t, const state& a, const state& b) const {
    switch (kind) {
      case op::reduce_sum:
        if (is_float(t)) return {to_bits(add(from_bits(a.value), from_bits(b.value))), 0u};
        return {a.value + b.value, 0u};
      case op::reduce_argmax: {
        const flag better = below(a.value, b.value) | (same(a.value, b.value) & below(b.index, a.index));
        return {select(better, b.value, a.value), select(better, b.index, a.index)};
      }
      default: return {apply(kind == op::reduce_max ? op::max : op::min, t, {t, a.value}, {t, b.value}).bits, 0u};
    }
  }

  static constexpr scalar leave(op kind, dtype t, const state& s) {
    if (kind == op::reduce_argmax) return {dtype::i32, select(same(s.index, 0xffffffffu), 0u, s.index)};  // of nothing: 0
    if (kind != op::reduce_sum) return {t, s.value};
    return is_float(t) ? round_to(t, from_bits(s.value)) : scalar{t, wrap(t, s.value)};
  }

  constexpr variables declare(const state& s, bool pairs) {
    variables v{k_.declare(s.value), {}};
    if (pairs) v.index = k_.declare(s.index);
    return v;
  }
  constexpr state read(const variables& v, bool pairs) {
    const word value = k_.read(v.value);
    return {value, pairs ? k_.read(v.index) : word(0u)};
  }
  constexpr void assign(const variables& v, const state& s, bool pairs) {
    k_.assign(v.value, s.value);
    if (pairs) k_.assign(v.index, s.index);
  }
  constexpr void put(word i, const state& s, bool pairs) {
    k_.store(parts_, i, s.value);
    if (pairs) k_.store(indices_, i, s.index);
  }
  constexpr state at(word i, bool pairs) {
    const word value = k_.load<word>(parts_, i);
    return {value, pairs ? k_.load<word>(indices_, i) : word(0u)};
  }

  builder& k_;
  uint32 width_;
  shared_id parts_{}, indices_{};
};

}  // namespace poot::kernel
