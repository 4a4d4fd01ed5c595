#pragma once
/// An attention as a chain of steps, the ways in which one may be changed, and the extents and steps of one that a change needs.

#include "chain_mutations.hpp"

#include <optional>

namespace attention_attack {

using namespace chain_mutations;

/// Steps of a chain, in order.
enum class place : uint8 { none, product, scaled, quotient, tangent, capped, added, chosen, greatest, spread_greatest, difference, exponential, sum, spread_sum, weights };
inline constexpr int places = static_cast<int>(place::weights) + 1;

enum class change : uint8 {
  // changes of spelling
  nothing, operand_order, double_transpose, computed_twice, dead_reader, reader_of_operands, result_read_twice, narrow_operand, narrow_result,
  one_tensor, mask_is_query, heads_in_turns, any_scale, scale_by_one, power_of_two_divisor, cap_of_one, constant_mask, mask_computed,
  mask_without_end, one_query, one_key, long_keys, large_scores, batch_of_heads, bounded_length, exchanged_roles, shifted_twice,
  sink_beside, sink_before, sink_in_sum, sink_of_zero, sink_of_one_head, sink_without_end,
  // changes of the chain
  read_by_output, read_by_step, cast_between, negated_between, scaled_query_and_scores, reciprocal, quotient_of_one, product_with_quotient, epsilon_in_sum,
  other_sum, narrow_sum, reversed_division, greatest_axis, sum_axis, least_for_greatest, greatest_of_narrow, greatest_of_another, no_shift, reversed_difference,
  factor_in_exponent, doubled_exponential, scale_is_input, scale_is_infinite, divisor_no_power, scale_after_mask, scale_after_cap, caps_differ, cap_is_negative,
  cap_after_mask, mask_is_large, mask_reversed, mask_multiplied, mask_twice, chosen_before_added, chosen_twice, keys_not_transposed, values_transposed,
  single_key_head, fewer_value_heads, narrow_product, narrow_weights, wide_chain, narrow_chain, keys_dropped, scores_moved,
  sink_kept, scores_dropped, two_sink_columns, scale_after_sink, sink_not_in_greatest, sink_not_in_sum, sink_scaled_in_sum, sink_not_shifted,
  sink_for_each_key, sinks_of_both_kinds, sink_of_more_rows, sink_after_shift,
  weights_masked, weights_as_second, length_without_bound,
};
inline constexpr int changes = static_cast<int>(change::length_without_bound) + 1;

/// A chain with its parts by name; steps, or -1.
struct attacked {
  chain c;
  int q = -1, k = -1, v = -1;              ///< [.., L, D], [.., S, D], [.., S, E], as attention would read them
  int added = -1, chosen = -1, sink = -1, root = -1;
  float scale = 1, cap = 0;
  int at[places];                          ///< steps
  int blamed = -1;                         ///< what a decline names; -1: not asked
  place where = place::none;               ///< the step that is changed, where any may be
  double size = 1.5;                       ///< of the values of leaves
  dtype result = f32;
};

/// A chain's extents and which steps it has, drawn so that its change can be made.
class drawn_attention {
 protected:
  drawn_attention(change what, draws& d) : is_(what), d_(d) {
    for (int& step : a_.at) step = -1;
  }

  bool is(change x) const { return is_ == x; }
  template <class... C>
  bool is_one_of(C... x) const { return (is(x) || ...); }
  int64 below(uint64 n) { return static_cast<int64>(d_.less_than(n)); }
  bool often(int part) { return below(static_cast<uint64>(part)) != 0; }
  chain& c() { return a_.c; }
  tensor_type shape(dtype t, int64 rows, int64 columns, int64 heads) const {
    tensor_type s;
    s.element = t;
    if (batch_) s.extents[s.rank++] = extent(batch_);
    if (heads_ > 0) s.extents[s.rank++] = extent(heads);
    s.extents[s.rank++] = extent(rows);
    s.extents[s.rank++] = columns == keys_ && is_dynamic_ ? length() : extent(columns);
    if (rows == keys_ && is_dynamic_) s.extents[s.rank - 2] = length();
    return s;
  }
  extent length() const { return extent::dynamic("S", is(change::length_without_bound) ? 0x7fffffff : 5000); }
  int rank() const { return (batch_ ? 1 : 0) + (heads_ > 0 ? 1 : 0) + 2; }

  void draw_extents() {
    if (is(change::wide_chain)) element_ = f64;
    if (is(change::narrow_chain)) element_ = below(2) ? bf16 : f16;
    shared_ = 1 + below(2), group_ = 1 + below(3), queries_ = 1 + below(4), width_ = 1 + below(5), keys_ = 1 + below(7);
    if (is_one_of(change::heads_in_turns, change::fewer_value_heads)) shared_ = 2, group_ = 2;
    if (is(change::exchanged_roles)) group_ = 1;
    if (is(change::single_key_head)) shared_ = 1, group_ = 2 + below(2);
    if (below(6) == 0 && !is(change::single_key_head) && !is_one_of(change::heads_in_turns, change::fewer_value_heads, change::batch_of_heads)) shared_ = group_ = 1, heads_ = 0;  // rank 2
    else heads_ = shared_ * group_;
    if (is(change::batch_of_heads)) batch_ = 1 + below(2);
    if (is(change::long_keys)) keys_ = 250 + below(300);
    if (is(change::one_query)) queries_ = 1;
    if (is(change::one_key)) keys_ = 1;
    if (is_one_of(change::greatest_axis, change::sum_axis)) queries_ = 2 + below(3), keys_ = 2 + below(4);
    if (is(change::keys_dropped)) keys_ = 3 + below(4);
    if (is(change::keys_not_transposed)) keys_ = width_ = 2 + below(4);
    if (is(change::values_transposed)) keys_ += 1;
    columns_ = below(2) ? width_ : 1 + below(5);
    if (is(change::heads_in_turns)) keys_ += 1, width_ += 1, columns_ = width_;  // a transposition that moves an extent of 1 is a reshape
    if (is(change::values_transposed)) columns_ = keys_;
    if (is(change::mask_is_query)) keys_ = width_;
    if (is(change::exchanged_roles)) queries_ = keys_;
    if (is_one_of(change::bounded_length, change::length_without_bound)) {
      is_dynamic_ = true;
      c().bound = length().bound();
      keys_ = 5;
      while (width_ == 5 || queries_ == 5) width_ = 1 + below(4), queries_ = 1 + below(4);
      columns_ = width_;
      shared_ = heads_ > 0 ? heads_ : 1, group_ = 1;
    }
    if (is(change::large_scores)) a_.size = 4 + 8 * d_.unit();
    // which step is changed
    has_scale_ = often(4) || is_one_of(change::scaled_query_and_scores, change::scale_is_input, change::scale_is_infinite, change::divisor_no_power);
    has_cap_ = below(4) == 0 || is_one_of(change::caps_differ, change::cap_is_negative, change::scale_after_cap);
    has_added_ = below(3) == 0 || is_one_of(change::mask_multiplied, change::mask_twice, change::chosen_before_added, change::constant_mask, change::mask_computed, change::mask_is_query, change::cap_after_mask, change::mask_without_end, change::sink_without_end);
    has_chosen_ = below(2) || is_one_of(change::mask_is_large, change::mask_reversed, change::chosen_before_added, change::chosen_twice, change::scale_after_mask);
    if (is(change::cap_of_one)) has_cap_ = true;
    if (is_one_of(change::constant_mask, change::bounded_length, change::length_without_bound)) has_chosen_ = false;
    if (is_one_of(change::bounded_length, change::length_without_bound, change::greatest_of_another)) has_added_ = false;
    if (is(change::greatest_of_another)) has_chosen_ = true;
    if (is(change::keys_dropped)) has_added_ = has_chosen_ = false;
    has_column_ = is_one_of(change::sink_beside, change::sink_before, change::sink_of_one_head, change::sink_kept, change::scores_dropped,
                            change::two_sink_columns, change::scale_after_sink, change::sinks_of_both_kinds);
    has_term_ = is_one_of(change::sink_in_sum, change::sink_of_zero, change::sink_without_end, change::sink_not_in_greatest, change::sink_not_in_sum,
                          change::sink_scaled_in_sum, change::sink_not_shifted, change::sink_for_each_key, change::sinks_of_both_kinds, change::sink_of_more_rows, change::sink_after_shift);
    if (is(change::sink_for_each_key)) keys_ += 1;
    if (is(change::scores_dropped)) keys_ += 1;
    if (is(change::sink_of_more_rows)) queries_ = 1, has_added_ = has_chosen_ = false;
    has_spread_ = below(4) == 0 && keys_ > 1 && !is_dynamic_ && !is_one_of(change::sink_for_each_key, change::sink_of_more_rows);
    do where_ = static_cast<place>(1 + below(places - 1));
    while (!is_there(where_));
    a_.where = where_;
  }
  bool is_there(place p) const {
    const bool changes_value = is_one_of(change::cast_between, change::negated_between);
    switch (p) {
      case place::scaled: return has_scale_;
      case place::quotient: case place::tangent: case place::capped: return has_cap_;
      case place::added: return has_added_;
      case place::chosen: return has_chosen_;
      case place::spread_greatest: case place::spread_sum: return has_spread_ && !changes_value;
      default: return true;
    }
  }

  change is_;
  draws& d_;
  attacked a_;
  dtype element_ = f32;
  int64 batch_ = 0, shared_ = 1, group_ = 1, heads_ = 1, queries_ = 1, width_ = 1, keys_ = 1, columns_ = 1;
  bool is_dynamic_ = false, has_scale_ = false, has_cap_ = false, has_added_ = false, has_chosen_ = false, has_spread_ = false, has_column_ = false, has_term_ = false;
  place where_ = place::none;
};

}  // namespace attention_attack
