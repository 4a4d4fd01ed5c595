#pragma once
/// Reductions by one workgroup, in the order that the equation carries.
///
///   lanes L, chunk C: lane i adds elements i, i + L, … of a chunk; lanes fold by halves; chunk results are added in
///   ascending order. An invocation takes runs of 4 lanes, so that it reads 4 elements that lie together. It folds what
///   its own lanes hold in variables; what lanes of several hold is folded in shared memory, and by everyone for itself
///   when few runs are left. A maximum, a minimum, an argmax and sums of integers fold the same way: every order gives
///   their bits.

#include <poot/core/target.hpp>
#include <poot/ir/graph.hpp>
#include <poot/kernel/arithmetic.hpp>

namespace poot::kernel {

/// Lanes that a workgroup folds at most.
inline constexpr uint32 most_lanes = 256;

/// Invocations of a workgroup that reduces over `n` in a region of such a text_weight. Devices whose invocations step
/// together in small numbers are processors, where a barrier costs more than more lanes an invocation, as long as the text
/// for them stays short; elsewhere every invocation takes one run of lanes.
constexpr uint32 reducing_workgroup(const device_caps& caps, extent n, uint32 weight) {
  if (!caps.is_processor()) return most_lanes / 4;
  return !n.is_dynamic() && n.code % most_lanes == 0 && weight <= 32 ? 8 : 32;
}

/// Reduces for one workgroup after the other; every invocation gets the result.
class group_reducer {
 public:
  constexpr group_reducer(builder& k, bool needs_index) : k_(k), width_(k.so_far().workgroup) {
    parts_ = k.shares("partial", type::quad, width_);
    if (needs_index) indices_ = k.shares("partial_index", type::quad, width_);
  }

  /// Op `kind` over elements 0 … n - 1 of type `t`; the extent says what is known of n. `elements(first, count)` gives as
  /// many; `first` is a multiple of `count`, which is 1 or 4. All invocations take part, in uniform control flow.
  template <class Elements>
  constexpr scalar run(op kind, dtype t, ir::order o, word lane, word n, extent known, Elements elements) {
    const uint32 lanes = o.lanes ? o.lanes : most_lanes, chunk = o.chunk ? o.chunk : 4096;
    if (lanes > most_lanes || (lanes & (lanes - 1)) || chunk % lanes)
      fail(text{} << "kernel: a sum in " << lanes << " lanes and chunks of " << chunk << "; a workgroup folds up to " << most_lanes
                  << " lanes, a power of two, and whole numbers of them");
    kind_ = kind;
    t_ = t;
    run_ = lanes < 4 ? lanes : 4;
    const uint32 spread = lanes / run_ < width_ ? lanes / run_ : width_, each = lanes / (run_ * spread);  // invocations; runs of each
    const flag works = spread == width_ ? flag(true) : below(lane, spread);
    const bool in_runs = run_ == 4 && !known.is_dynamic() && known.code % 4 == 0;
    const bool has_rounds = known.is_dynamic() || known.code >= lanes, has_rest = known.is_dynamic() || known.code % lanes != 0;
    const variables total = declare(identity());
    k_.for_(0u, n, chunk, [&](word first) {
      const word past = first + word(chunk), end = select(below(n, past), n, past);
      const word whole = first + (end - first) / word(lanes) * word(lanes);  // up to here every lane has an element
      vec<variables> own;
      for (uint32 j = 0; j < each * run_; ++j) own.push_back(declare(identity()));
      const auto take = [&](uint32 j, const scalar& x, word i) { assign(own[j], combine(read(own[j]), enter(x, i))); };
      const auto take_run = [&](uint32 r, word at) {
        const vec<scalar> x = elements(at, run_);
        for (uint32 c = 0; c < run_; ++c) take(r * run_ + c, x[c], at + word(c));
      };
      const auto start_of = [&](uint32 r) { return lane * word(run_) + word(r * spread * run_); };
      k_.if_(works, [&] {
        if (has_rounds)
          k_.for_(first, whole, lanes, [&](word i) {
            for (uint32 r = 0; r < each; ++r) take_run(r, i + start_of(r));
          });
        k_.if_(has_rest ? below(whole, end) : flag(false), [&] {
          const int64 most_left = known.is_dynamic() ? lanes : known.code % lanes;
          for (uint32 r = 0; r < each && r * spread * run_ < most_left; ++r) {
            const word at = whole + start_of(r);
            if (in_runs) {
              k_.if_(below(at, end), [&] { take_run(r, at); });
              continue;
            }
            for (uint32 c = 0; c < run_; ++c)
              k_.if_(below(at + word(c), end), [&] { take(r * run_ + c, elements(at + word(c), 1)[0], at + word(c)); });
          }
        });
      });
      for (uint32 half = each / 2; half > 0; half /= 2)
        for (uint32 j = 0; j < half * run_; ++j) assign(own[j], combine(read(own[j]), read(own[j + half * run_])));
      assign(total, combine(read(total), fold_across(own, lane, works, spread)));
    });
    return leave(read(total));
  }

 private:
  /// A partial result: the bits of an extreme value or of a sum of integers; of an argmax a key that orders values, and
  /// where it is; a sum of floats.
  struct state {
    word value{}, index{};
    number sum{};
  };
  struct variables {
    variable<word> value, index;
    variable<number> sum;
  };

  constexpr bool sums_floats() const { return kind_ == op::reduce_sum && is_float(t_); }
  constexpr bool has_index() const { return kind_ == op::reduce_argmax; }
  static constexpr bool is_unsigned(dtype t) { return t == dtype::u32 || t == dtype::u8; }

  constexpr bool finds_extreme_float() const { return (kind_ == op::reduce_max || kind_ == op::reduce_min) && is_float(t_); }

  constexpr state identity() const {
    if (kind_ == op::reduce_sum) return {0u, 0u, 0.0f};
    if (kind_ == op::reduce_argmax) return {0u, 0xffffffffu, {}};
    const bool largest = kind_ == op::reduce_max;
    if (is_float(t_)) {
      const float_format f = format_of(t_);
      const uint32 infinity = static_cast<uint32>(f.infinity() | (largest ? f.sign_bit() : 0));
      return {ordered(is_narrow(t_) ? infinity << 16 : infinity), 0u, {}};
    }
    const bool word_sized = t_ == dtype::i32 || t_ == dtype::u32;
    const uint32 lowest = is_unsigned(t_) ? 0u : word_sized ? 0x80000000u : static_cast<uint32>(-128);
    const uint32 highest = is_unsigned(t_) ? (word_sized ? 0xffffffffu : 255u) : word_sized ? 0x7fffffffu : 127u;
    return {largest ? lowest : highest, 0u, {}};
  }

  /// Unsigned words in the order of the values: a NaN is the largest, -0 and +0 are equal, and nothing is 0.
  static constexpr word key(const scalar& x) {
    if (!is_float(x.element)) return is_unsigned(x.element) ? x.bits : x.bits ^ 0x80000000u;
    const number v = value_of(x);
    const word b = to_bits(v);
    return select(is_nan(v), 0xffffffffu, select(same(b & 0x7fffffffu, 0u), 0x80000000u, ordered(b)));
  }
  /// The bits of a float as an unsigned word, in the order of the values, -0 before +0. And back.
  static constexpr word ordered(word bits) { return select(below_signed(bits, 0u), ~bits, bits | 0x80000000u); }
  static constexpr word of_ordered(word key) { return select(below_signed(key, 0u), key & 0x7fffffffu, ~key); }
  /// An extreme float: ordered bits, narrow ones in the upper half; a NaN beyond everything, where it stays.
  constexpr word extreme_key(const scalar& x) const {
    const word bits = is_narrow(t_) ? x.bits << 16u : x.bits;
    const uint32 infinity = static_cast<uint32>(format_of(t_).infinity()) << (is_narrow(t_) ? 16 : 0);
    return select(below(infinity, bits & 0x7fffffffu), kind_ == op::reduce_max ? 0xffffffffu : 0u, ordered(bits));
  }

  constexpr state enter(const scalar& x, word i) const {
    if (has_index()) return {key(x), i, {}};
    if (sums_floats()) return {{}, {}, value_of(x)};
    if (finds_extreme_float()) return {extreme_key(x), 0u, {}};
    return {x.bits, 0u, {}};
  }

  constexpr state combine(const state& a, const state& b) const {
    switch (kind_) {
      case op::reduce_sum:
        if (is_float(t_)) return {{}, {}, add(a.sum, b.sum)};
        return {a.value + b.value, 0u, {}};
      case op::reduce_argmax: {
        const flag better = below(a.value, b.value) | (same(a.value, b.value) & below(b.index, a.index));
        return {select(better, b.value, a.value), select(better, b.index, a.index), {}};
      }
      default:
        if (is_float(t_)) {
          const flag first = kind_ == op::reduce_max ? below(b.value, a.value) : below(a.value, b.value);
          return {select(first, a.value, b.value), 0u, {}};
        }
        return {apply(kind_ == op::reduce_max ? op::max : op::min, t_, {t_, a.value}, {t_, b.value}).bits, 0u, {}};
    }
  }

  constexpr scalar leave(const state& s) const {
    if (has_index()) return {dtype::i32, select(same(s.index, 0xffffffffu), 0u, s.index)};  // of nothing: 0
    if (sums_floats()) return round_to(t_, s.sum);
    if (finds_extreme_float()) return {t_, is_narrow(t_) ? of_ordered(s.value) >> 16u : of_ordered(s.value)};
    return {t_, kind_ == op::reduce_sum ? wrap(t_, s.value) : s.value};
  }

  /// Folds the first run of each of `spread` invocations; all invocations get the result, and none touches shared memory after.
  constexpr state fold_across(const vec<variables>& own, word lane, flag works, uint32 spread) {
    k_.if_(works, [&] { put(lane, own); });
    k_.barrier();
    uint32 left = spread;
    // a barrier more against registers for everything that is left
    const uint32 few = (width_ < 64 ? 8u : 4u) / (has_index() ? 2 : 1);
    for (; left > few; left /= 2) {
      k_.if_(below(lane, left / 2), [&] {
        const vec<state> high = get(lane + word(left / 2));
        for (uint32 c = 0; c < run_; ++c) assign(own[c], combine(read(own[c]), high[c]));
        put(lane, own);
      });
      k_.barrier();
    }
    vec<state> all;
    for (uint32 l = 0; l < left; ++l)
      for (const state& s : get(l)) all.push_back(s);
    for (uint32 half = left * run_ / 2; half > 0; half /= 2)
      for (uint32 j = 0; j < half; ++j) all[j] = combine(all[j], all[j + half]);
    k_.barrier();
    return all[0];
  }

  constexpr variables declare(const state& s) {
    variables v;
    if (sums_floats()) v.sum = k_.declare(s.sum);
    else v.value = k_.declare(s.value);
    if (has_index()) v.index = k_.declare(s.index);
    return v;
  }
  constexpr state read(const variables& v) {
    if (sums_floats()) return {{}, {}, k_.read(v.sum)};
    const word value = k_.read(v.value);
    return {value, has_index() ? k_.read(v.index) : word(0u), {}};
  }
  constexpr void assign(const variables& v, const state& s) {
    if (sums_floats()) return k_.assign(v.sum, s.sum);
    k_.assign(v.value, s.value);
    if (has_index()) k_.assign(v.index, s.index);
  }

  /// The first run of an invocation, to and from shared memory.
  constexpr void put(word i, const vec<variables>& own) {
    word values[4] = {0u, 0u, 0u, 0u}, places[4] = {0u, 0u, 0u, 0u};
    for (uint32 c = 0; c < run_; ++c) {
      const state s = read(own[c]);
      values[c] = sums_floats() ? to_bits(s.sum) : s.value;
      places[c] = s.index;
    }
    k_.store(parts_, i, k_.join(values));
    if (has_index()) k_.store(indices_, i, k_.join(places));
  }
  constexpr vec<state> get(word i) {
    const quad values = k_.load<quad>(parts_, i), places = has_index() ? k_.load<quad>(indices_, i) : quad();
    vec<state> out;
    for (uint32 c = 0; c < run_; ++c) {
      const word value = k_.part(values, c);
      out.push_back(sums_floats() ? state{{}, {}, from_bits(value)} : state{value, has_index() ? k_.part(places, c) : word(0u), {}});
    }
    return out;
  }

  builder& k_;
  uint32 width_, run_ = 4;
  op kind_ = op::reduce_sum;
  dtype t_ = dtype::f32;
  shared_id parts_{}, indices_{};
};

}  // namespace poot::kernel
