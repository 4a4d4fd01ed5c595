#pragma once
/// Turns: equations that repeat, each time over what the time before made, as the trials of a search do. A kernel of rows writes
/// them once, in a loop.
///
///   %s1 = mul %s0, f32(0.5)   %h1 = reduce_sum …of %s1   %t1 = add %t0, %h1      one turn
///   %s2 = mul %s1, f32(0.5)   %h2 = reduce_sum …of %s2   %t2 = add %t1, %h2      the next
///
/// A turn holds one reduction along the last axis, and pointwise equations. It reads what all turns read, its own values, and of
/// the turn before values of one element a row; outside, only such values of the last turn are read.

#include <poot/core/ascending.hpp>
#include <poot/fuse/region.hpp>

namespace poot::fuse {

/// Turns among equations of a list: `count` of them, of `period` each, from place `first` on.
struct turns {
  uint32 first = 0, period = 0, count = 0;
  constexpr uint32 end() const { return first + period * count; }
  constexpr uint32 covered() const { return period * count; }
};

/// One value for each row, where rows are longer than that.
constexpr bool is_single(const tensor_type& t) { return t.rank == 0 || t.last() == extent(1); }

/// Equations of one turn at most. A region counts those of later turns nowhere, and may hold two turns whose first is another's:
/// this bounds what it then holds more than it is allowed.
inline constexpr uint32 longest_turn = 24;

class turn_finder {
 public:
  /// `list` ascends and holds no constants.
  constexpr turn_finder(const graph_view& g, view<uint32> list) : g_(g), list_(list), size_(static_cast<uint32>(list.size())) {}

  /// All turns of the list, ascending, of three or more. `read_beyond(id, last)`: do outputs or equations outside the turns read
  /// `id`? The last equation of the turns is `last`.
  template <class ReadBeyond>
  constexpr vec<turns> find(ReadBeyond read_beyond) const {
    vec<turns> all;
    uint32 start = 0;  // behind what was found
    for (uint32 at = next_reduction(0); at < size_;) {
      const uint32 next = next_reduction(at + 1);
      turns best;
      if (next < size_ && next - at <= longest_turn && are_alike(list_[at], list_[next]) && is_turn(at + 1, next))
        for (uint32 first = at + 1; first-- > start && at - first < next - at;) {
          if (!repeats({first, next - at, 1})) continue;
          turns t{first, next - at, 2};
          while (repeats(t)) ++t.count;
          while (t.covered() > best.covered() && t.count > 2 && !ends_in_single_values(t, read_beyond)) --t.count;
          if (t.covered() > best.covered() && t.count > 2) best = t;
        }
      if (best.count) {
        all.push_back(best);
        start = best.end();
        at = next_reduction(start);
      } else {
        at = next;
      }
    }
    return all;
  }

  /// What the first turn reads where later ones read what place `offset` of the turn before has made; none where they do not.
  constexpr uint32 begins_with(const turns& t, uint32 offset) const {
    const uint32 made = list_[t.first + offset];
    for (uint32 j = 0; j < t.period; ++j)
      for (uint32 k = 0; k < g_.operand_count(list_[t.first + t.period + j]); ++k)
        if (g_.first_operand(list_[t.first + t.period + j])[k] == made) return g_.first_operand(list_[t.first + j])[k];
    return none;
  }
  static constexpr uint32 none = 0xffffffffu;

 private:
  constexpr bool is_row_reduction(uint32 id) const {
    if (!ir::is_reduction(g_[id].kind)) return false;
    const tensor_type& x = g_.type(*g_.first_operand(id));
    return g_.attrs(id)[0] == x.rank - 1 && !is_single(x);
  }
  constexpr uint32 next_reduction(uint32 at) const {
    while (at < size_ && !is_row_reduction(list_[at])) ++at;
    return at;
  }
  /// Is what ends in the reduction at `last` pointwise but for that?
  constexpr bool is_turn(uint32 first, uint32 last) const {
    for (uint32 at = first; at < last; ++at)
      if (!ir::is_pointwise(g_[list_[at]].kind)) return false;
    return true;
  }
  constexpr bool are_alike(uint32 a, uint32 b) const {
    const eqn &x = g_[a], &y = g_[b];
    return x.kind == y.kind && x.type == y.type && x.operands.count == y.operands.count && x.sum == y.sum && x.custom == y.custom &&
           g_.attrs(a) == g_.attrs(b);
  }

  /// Does one turn more behind those of `t` do what the last of them does?
  constexpr bool repeats(const turns& t) const {
    const uint32 begin = t.end(), before = begin - t.period;
    if (begin + t.period > size_) return false;
    for (uint32 at = begin; at < begin + t.period; ++at) {
      const uint32 id = list_[at], twin = list_[at - t.period];
      if (!are_alike(id, twin)) return false;
      for (uint32 k = 0; k < g_.operand_count(id); ++k) {
        const uint32 in = g_.first_operand(id)[k], was = g_.first_operand(twin)[k], place = position_in(list_, in);
        if (place == size_ || place < t.first) {
          if (in != was && !(g_.is_scalar_constant(in) && are_alike(in, was))) return false;
        } else if (place < before) {
          return false;
        } else if (place < begin) {
          if (!is_single(g_.type(in))) return false;
          if (t.count > 1 ? was != list_[place - t.period] : !begins(t, place - before, was)) return false;
        } else if (was != list_[place - t.period]) {
          return false;
        }
      }
    }
    return true;
  }
  /// May `value` stand in the first turn for what place `offset` makes in the turns before the others?
  constexpr bool begins(const turns& t, uint32 offset, uint32 value) const {
    const uint32 place = position_in(list_, value);
    return (place == size_ || place < t.first) && is_single(g_.type(value)) && g_.type(value).element == g_.type(list_[t.first + offset]).element &&
           begins_with(t, offset) == value;
  }

  template <class ReadBeyond>
  constexpr bool ends_in_single_values(const turns& t, ReadBeyond read_beyond) const {
    const uint32 last = list_[t.end() - 1];
    for (uint32 at = t.first; at < t.end(); ++at)
      if ((at + t.period < t.end() || !is_single(g_.type(list_[at]))) && read_beyond(list_[at], last)) return false;
    return true;
  }

  const graph_view& g_;
  view<uint32> list_;
  uint32 size_;
};

}  // namespace poot::fuse
