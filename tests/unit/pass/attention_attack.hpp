#pragma once
/// Spellings of an attention, each changed in one known way, and what the softmax of its operands is in f64.

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

class speller {
 public:
  speller(change what, draws& d) : is_(what), d_(d) {
    for (int& step : a_.at) step = -1;
  }

  attacked spell() {
    draw_extents();
    make_operands();
    int s = keep(place::product, scores());
    s = with_column(masked(capped(scaled(s))));
    int p = softmax(s);
    finish(p);
    return std::move(a_);
  }

 private:
  bool is(change x) const { return is_ == x; }
  template <class... C>
  bool is_one_of(C... x) const { return (is(x) || ...); }
  int64 below(uint64 n) { return static_cast<int64>(d_.less_than(n)); }
  bool often(int part) { return below(static_cast<uint64>(part)) != 0; }
  chain& c() { return a_.c; }
  template <class... In>
  int apply(ir::op o, std::initializer_list<int> in, std::initializer_list<int64> attrs = {}) {
    return c().apply(o, in, attrs, type_of(element_));
  }
  int number(float v) { return c().add({ir::op::constant, {}, {static_cast<int64>(bits_of(element_, v))}, type_of(element_)}); }
  /// Of a sum or a product, in either order.
  int either(ir::op o, int x, int y) { return is(change::operand_order) && below(2) ? apply(o, {y, x}) : apply(o, {x, y}); }
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

  /// Whether the change is one of a step that is there, and if so of this one.
  int keep(place p, int step) {
    a_.at[static_cast<int>(p)] = step;
    if (is(change::read_by_output) && p == where_) c().outputs.push_back(step), a_.blamed = step;
    if (is(change::read_by_step) && p == where_) c().outputs.push_back(apply(below(2) ? ir::op::neg : ir::op::abs, {step})), a_.blamed = step;
    if (is(change::cast_between) && p == where_) {
      a_.blamed = c().apply(ir::op::cast, {step}, {}, type_of(below(2) ? bf16 : f16));
      step = a_.blamed = c().apply(ir::op::cast, {a_.blamed}, {}, type_of(f32));
    }
    if (is(change::negated_between) && p == where_) step = apply(below(2) ? ir::op::neg : ir::op::floor, {step});
    return step;
  }

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

  int held(const char* name, int64 columns, int64 heads) {
    dtype t = element_;
    if (element_ == f32 && below(3) == 0) t = below(2) ? bf16 : f16;
    int x = c().leaf(name, shape(t, keys_, columns, heads));
    if (t != element_) x = apply(ir::op::cast, {x});
    return x;
  }
  /// [KV,S,D] to [KV·G,S,D].
  int copies(int x, int64 columns, bool in_turns) {
    const int64 first = in_turns ? 1 : shared_, second = in_turns ? shared_ : 1;
    const int one = c().apply(ir::op::reshape, {x}, {}, type_of(element_, first, second, keys_, columns));
    const int all = c().apply(ir::op::broadcast, {one}, {}, in_turns ? type_of(element_, group_, shared_, keys_, columns) : type_of(element_, shared_, group_, keys_, columns));
    return c().apply(ir::op::reshape, {all}, {}, type_of(element_, heads_, keys_, columns));
  }

  void make_operands() {
    const bool narrow = is(change::narrow_operand);
    int q = c().leaf("q", shape(element_, queries_, width_, heads_));
    if (narrow) q = c().apply(ir::op::cast, {q}, {}, type_of(below(2) ? bf16 : f16)), q = apply(ir::op::cast, {q});
    if (below(4) == 0 || is(change::scaled_query_and_scores)) q = apply(ir::op::mul, {q, number(0.3f)});
    const bool in_turns = is(change::heads_in_turns);
    const bool by_contraction = is(change::single_key_head) || (batch_ && group_ > 1);
    const int64 key_heads = batch_ && group_ > 1 ? (shared_ = 1) : is(change::single_key_head) ? 1 : shared_;
    int k = held("k", width_, key_heads), v = is(change::single_key_head) ? held("v", columns_, heads_) : held("v", columns_, key_heads);
    if (is(change::one_tensor) || is(change::exchanged_roles)) {
      columns_ = width_;
      v = k;
      if (queries_ == keys_ && shared_ == heads_) k = q;
    }
    if (is(change::exchanged_roles)) std::swap(k, q);
    if (is(change::fewer_value_heads)) {
      k = c().leaf("k_each", shape(element_, keys_, width_, heads_));
      v = copies(v, columns_, false);
    } else if (heads_ > 0 && !batch_ && !by_contraction && !is(change::exchanged_roles) && (group_ > 1 || below(4) == 0) && !is_dynamic_ && k != q) {
      if (shared_ == 1 && below(2)) {
        k = c().apply(ir::op::broadcast, {k}, {}, shape(element_, keys_, width_, heads_));
        v = c().apply(ir::op::broadcast, {v}, {}, shape(element_, keys_, columns_, heads_));
      } else {
        k = copies(k, width_, in_turns);
        v = copies(v, columns_, in_turns);
      }
    }
    if (is(change::reader_of_operands)) c().outputs.push_back(apply(ir::op::neg, {k})), c().outputs.push_back(apply(ir::op::exp, {v})), c().outputs.push_back(q);
    a_.q = q, a_.k = k, a_.v = v;
  }

  int transposed(int x) {
    const int r = rank();
    step s{ir::op::transpose, {x}, {}, type_of(element_)};
    for (int i = 0; i < r; ++i) s.attrs.push_back(i < r - 2 ? i : 2 * r - 3 - i);
    return c().add(s);
  }
  int matmul(int x, int y, int64 transposed_b, dtype declared) { return c().apply(ir::op::matmul, {x, y}, {transposed_b}, type_of(declared)); }

  int scores() {
    const dtype to = is(change::narrow_product) ? below(2) ? bf16 : f16 : element_;
    int k = a_.k;
    if (is(change::keys_not_transposed)) return a_.blamed = matmul(a_.q, k, 0, to);
    if (is(change::double_transpose)) k = transposed(transposed(k));
    int s = below(3) == 0 ? matmul(a_.q, transposed(k), 0, to) : matmul(a_.q, k, 1, to);
    if (is(change::narrow_product)) s = a_.blamed = apply(ir::op::cast, {s});
    if (is(change::scores_moved)) {
      step flat{ir::op::reshape, {s}, {}, type_of(element_, (batch_ ? batch_ : 1) * (heads_ ? heads_ : 1) * queries_ * keys_)};
      s = apply(ir::op::tanh, {c().add(flat)});
      step back{ir::op::reshape, {s}, {}, shape(element_, queries_, keys_, heads_)};
      s = a_.blamed = c().add(back);
    }
    if (is(change::keys_dropped)) s = a_.blamed = sliced(s, 1, keys_ - 1);
    return s;
  }

  /// A number for each head, in a type of its own.
  int sink(int64 rows = 1) {
    if (a_.sink >= 0) return a_.sink;
    if (is(change::sink_of_zero)) return a_.sink = number(below(2) ? 0.0f : -0.0f);
    const dtype t = below(3) ? element_ : bf16;
    const tensor_type of_heads = shape(t, rows, 1, heads_), of_all = type_of(t, 1);
    const int s = c().leaf("sink", is(change::sink_of_one_head) || (rows == 1 && below(4) == 0) ? of_all : of_heads);
    return a_.sink = t == element_ ? s : apply(ir::op::cast, {s});
  }
  int as_column(int s) { return c().apply(ir::op::broadcast, {s}, {}, shape(element_, queries_, 1, heads_)); }
  /// Scores with the sink as a column beside them.
  int with_column(int s) {
    if (!has_column_) return s;
    const int64 along = rank() - 1;
    if (is(change::two_sink_columns)) {
      const int both = c().leaf("sink", shape(element_, queries_, 2, heads_));
      return a_.blamed = apply(ir::op::concat, {s, both}, {along});
    }
    const int column = as_column(sink());
    s = is(change::sink_before) ? apply(ir::op::concat, {column, s}, {along}) : apply(ir::op::concat, {s, column}, {along});
    if (is_one_of(change::sink_kept, change::scale_after_sink, change::sinks_of_both_kinds)) a_.blamed = s;
    if (is(change::scale_after_sink)) s = apply(ir::op::mul, {s, number(0.5f)});
    return s;
  }
  /// The keys of scores, from one on.
  int sliced(int s, int64 start, int64 count) {
    step cut{ir::op::slice, {s}, {}, type_of(element_)};
    const tensor_type t = shape(element_, queries_, count, heads_);
    for (int i = 0; i < t.rank; ++i) cut.attrs.push_back(i == t.rank - 1 ? start : 0);
    for (int i = 0; i < t.rank; ++i) cut.attrs.push_back(t.extents[i].code);
    for (int i = 0; i < t.rank; ++i) cut.attrs.push_back(1);
    return c().add(cut);
  }

  int scaled(int s) {
    if (is(change::scale_by_one)) return either(ir::op::mul, s, number(1));
    if (!has_scale_) return s;
    float factor = 0.35f;
    if (is(change::any_scale)) {
      const float some[] = {0.0f, -0.5f, 1e-3f, 3.0f, 0x1p-130f, -1.0f, 1e-38f, 0.70710678f};
      factor = some[below(8)];
    }
    if (is(change::scale_is_infinite)) factor = below(2) ? INFINITY : NAN;
    a_.scale = factor;
    int step;
    if (is(change::scale_is_input)) {
      step = a_.blamed = either(ir::op::mul, s, c().leaf("factor", below(2) ? type_of(element_) : type_of(element_, 1, 1)));
    } else if (is(change::divisor_no_power)) {
      step = a_.blamed = apply(ir::op::div, {s, number(below(2) ? 3.0f : -2.0f)});
    } else if (!is_one_of(change::any_scale, change::scale_is_infinite) && (is(change::power_of_two_divisor) || below(3) == 0)) {
      const float powers[] = {2, 0.5f, 8, 0x1p-3f, 0x1p126f, 0x1p20f};
      const float divisor = is(change::power_of_two_divisor) ? powers[below(6)] : 2;
      a_.scale = 1 / divisor;
      step = apply(ir::op::div, {s, number(divisor)});
    } else {
      step = either(ir::op::mul, s, number(factor));
    }
    if (is(change::scale_is_infinite)) a_.blamed = a_.at[static_cast<int>(place::product)];
    return keep(place::scaled, step);
  }

  int capped(int s) {
    if (!has_cap_) return s;
    float inner = 2.5f, outer = 2.5f;
    if (is(change::cap_of_one)) inner = outer = 1;
    if (is(change::cap_is_negative)) inner = outer = below(2) ? -2.5f : INFINITY;
    if (is(change::caps_differ)) outer = below(2) ? 2.0f : -2.5f;
    a_.cap = outer;
    const int quotient = keep(place::quotient, apply(ir::op::div, {s, number(inner)}));
    int tangent = keep(place::tangent, apply(ir::op::tanh, {quotient}));
    if (is_one_of(change::caps_differ, change::cap_is_negative)) a_.blamed = tangent;
    s = keep(place::capped, either(ir::op::mul, tangent, number(outer)));
    if (is(change::scale_after_cap)) s = apply(ir::op::mul, {s, number(0.7f)});
    return s;
  }

  int mask_of_floats() {
    const int64 h = heads_ ? heads_ : 1;
    int m;
    if (is(change::mask_is_query)) m = a_.q;
    else if (is(change::constant_mask)) m = number(0.75f);
    else switch (below(4)) {
        case 0: m = c().leaf("added", type_of(element_, queries_, keys_)); break;
        case 1: m = c().leaf("added", heads_ ? type_of(element_, h, 1, keys_) : type_of(element_, 1, keys_)); break;
        case 2: m = c().leaf("added", heads_ ? type_of(element_, h, queries_, keys_) : type_of(element_, queries_, 1)); break;
        default: m = c().leaf("added", type_of(element_, keys_)); break;
      }
    if (is(change::mask_computed)) m = apply(ir::op::mul, {apply(ir::op::sub, {m, number(0.25f)}), number(1.5f)});
    return m;
  }
  int condition(const char* name) { return c().leaf(name, below(2) ? type_of(i32, queries_, keys_) : type_of(i32, 1, keys_)); }

  int masked(int s) {
    const auto choose = [&](int from) {
      a_.chosen = condition("chosen");
      const int no = number(is(change::mask_is_large) ? below(2) ? -1e9f : 0 : -INFINITY);
      int step = is(change::mask_reversed) ? apply(ir::op::select, {a_.chosen, no, from}) : apply(ir::op::select, {a_.chosen, from, no});
      if (is_one_of(change::mask_is_large, change::mask_reversed)) a_.blamed = step;
      return step;
    };
    if (is(change::chosen_before_added)) s = a_.blamed = choose(s);
    if (has_added_) {
      a_.added = mask_of_floats();
      if (is(change::mask_multiplied)) {
        s = a_.blamed = apply(ir::op::mul, {s, a_.added});
      } else {
        s = either(ir::op::add, s, a_.added);
        if (is(change::mask_twice)) {
          a_.blamed = s;
          s = apply(ir::op::add, {s, c().leaf("again", type_of(element_, queries_, keys_))});
        }
        s = keep(place::added, s);
      }
    }
    if (is(change::cap_after_mask)) {
      s = apply(ir::op::tanh, {apply(ir::op::div, {s, number(2)})});
      s = apply(ir::op::mul, {s, number(2)});
    }
    unmasked_ = s;
    if (has_chosen_ && !is(change::chosen_before_added)) s = keep(place::chosen, choose(s));
    if (is_one_of(change::chosen_twice, change::scale_after_mask)) a_.blamed = s;
    if (is(change::chosen_twice)) s = apply(ir::op::select, {condition("other"), s, number(-INFINITY)});
    if (is(change::scale_after_mask)) s = apply(ir::op::mul, {s, number(0.5f)});
    return s;
  }

  int spread(int x, int64 columns) { return has_spread_ ? c().apply(ir::op::broadcast, {x}, {}, shape(element_, queries_, columns, heads_)) : x; }

  int softmax(int s) {
    const int64 last = rank() - 1, count = is(change::keys_dropped) ? keys_ - 1 : keys_ + (is(change::two_sink_columns) ? 2 : has_column_);
    if (is_one_of(change::shifted_twice, change::sink_after_shift) ||
        (has_column_ && below(4) == 0 && !is_one_of(change::scale_after_sink, change::sinks_of_both_kinds)))
      s = apply(ir::op::sub, {s, apply(ir::op::reduce_max, {s}, {last})});
    if (is(change::sink_after_shift)) a_.blamed = s;
    int from = s;
    if (is(change::computed_twice)) from = c().add(c().steps[static_cast<size_t>(s)]);
    if (is(change::greatest_of_narrow)) from = a_.blamed = apply(ir::op::cast, {c().apply(ir::op::cast, {s}, {}, type_of(bf16))});
    if (is(change::greatest_of_another)) from = unmasked_;
    const ir::op greatest = is(change::least_for_greatest) ? ir::op::reduce_min : ir::op::reduce_max;
    int m = keep(place::greatest, apply(greatest, {from}, {is(change::greatest_axis) ? last - 1 : last}));
    int one = -1;
    if (has_term_) {
      if (is(change::sink_for_each_key)) one = c().leaf("sink", shape(element_, 1, keys_, heads_));
      else one = sink(is(change::sink_of_more_rows) ? 3 : 1);
      if (!is(change::sink_not_in_greatest)) m = below(2) ? apply(ir::op::max, {m, one}) : apply(ir::op::max, {one, m});
      if (is_one_of(change::sink_for_each_key, change::sink_of_more_rows)) a_.blamed = m;
    }
    if (is(change::greatest_axis)) has_spread_ = false, a_.blamed = m;
    const int wide = keep(place::spread_greatest, spread(m, count));
    int shifted = is(change::no_shift) ? s : is(change::reversed_difference) ? apply(ir::op::sub, {wide, s}) : apply(ir::op::sub, {s, wide});
    if (is_one_of(change::greatest_of_another, change::least_for_greatest, change::reversed_difference, change::sink_not_in_sum)) a_.blamed = shifted;
    shifted = keep(place::difference, shifted);
    if (is(change::factor_in_exponent)) shifted = apply(ir::op::mul, {shifted, number(1.5f)});
    int e = apply(ir::op::exp, {shifted});
    if (is_one_of(change::no_shift, change::factor_in_exponent)) a_.blamed = e;
    if (is(change::doubled_exponential)) e = apply(ir::op::add, {e, e});
    e = keep(place::exponential, e);
    int to_sum = e;
    if (is(change::other_sum)) to_sum = apply(ir::op::exp, {s});
    if (is(change::narrow_sum)) to_sum = a_.blamed = apply(ir::op::cast, {c().apply(ir::op::cast, {e}, {}, type_of(f16))});
    int l = keep(place::sum, apply(ir::op::reduce_sum, {to_sum}, {is(change::sum_axis) ? last - 1 : last}));
    if (is(change::sum_axis)) has_spread_ = false, a_.blamed = l;
    if (has_term_ && !is(change::sink_not_in_sum)) {
      const int factor = is(change::sink_scaled_in_sum) ? apply(ir::op::mul, {one, number(2)}) : one;
      const int away = is(change::sink_of_zero) && below(2) ? apply(ir::op::neg, {m}) : is(change::sink_not_shifted) ? factor : apply(ir::op::sub, {factor, m});
      const int term = apply(ir::op::exp, {away});
      if (is_one_of(change::sink_not_in_greatest, change::sink_scaled_in_sum, change::sink_not_shifted)) a_.blamed = term;
      l = below(2) ? apply(ir::op::add, {l, term}) : apply(ir::op::add, {term, l});
    }
    if (is(change::epsilon_in_sum)) l = either(ir::op::add, l, number(1e-6f));
    if (is(change::reciprocal)) l = apply(ir::op::recip, {l});
    if (is(change::quotient_of_one)) l = apply(ir::op::div, {number(1), l});
    l = keep(place::spread_sum, spread(l, count));
    int p;
    if (is_one_of(change::reciprocal, change::quotient_of_one)) p = below(2) ? apply(ir::op::mul, {e, l}) : apply(ir::op::mul, {l, e});
    else p = is(change::reversed_division) ? apply(ir::op::div, {l, e}) : apply(ir::op::div, {e, l});
    if (is_one_of(change::reciprocal, change::quotient_of_one, change::other_sum, change::epsilon_in_sum, change::reversed_division, change::doubled_exponential)) a_.blamed = p;
    return keep(place::weights, p);
  }

  void finish(int p) {
    int v = a_.v;
    if (is(change::weights_masked)) p = a_.blamed = either(ir::op::mul, p, c().leaf("kept", type_of(element_, queries_, keys_)));
    if (is(change::product_with_quotient)) p = a_.blamed = apply(ir::op::mul, {p, number(0.5f)});
    if (is(change::narrow_weights)) p = a_.blamed = c().apply(ir::op::cast, {p}, {}, type_of(below(2) ? bf16 : f16));
    if (is(change::keys_dropped)) p = a_.blamed = apply(ir::op::concat, {p, c().leaf("nothing", shape(element_, queries_, 1, heads_))}, {rank() - 1});
    if (is(change::sink_kept)) v = c().leaf("v_and_more", shape(element_, keys_ + 1, columns_, heads_));
    else if (has_column_) p = sliced(p, is_one_of(change::sink_before, change::scores_dropped) ? 1 : 0, keys_);
    if (is(change::scores_dropped)) a_.blamed = p;
    a_.result = is(change::narrow_result) ? below(2) ? bf16 : f16 : element_;
    if (is(change::weights_as_second)) a_.root = a_.blamed = matmul(transposed(v), p, 1, a_.result);
    else if (is(change::values_transposed)) a_.root = a_.blamed = matmul(p, v, 1, a_.result);
    else a_.root = below(3) == 0 ? matmul(p, transposed(v), 1, a_.result) : matmul(p, v, 0, a_.result);
    if (is_one_of(change::single_key_head, change::fewer_value_heads)) a_.blamed = a_.at[static_cast<int>(place::product)];
    if (is(change::length_without_bound)) a_.blamed = a_.at[static_cast<int>(place::product)];
    if (is(change::dead_reader)) c().unread.push_back(apply(ir::op::neg, {a_.at[static_cast<int>(place::product)]}));
    c().outputs.insert(c().outputs.begin(), a_.root);
    if (is(change::result_read_twice)) c().outputs.push_back(c().apply(ir::op::neg, {a_.root}, {}, type_of(a_.result)));
  }

  change is_;
  draws& d_;
  attacked a_;
  dtype element_ = f32;
  int64 batch_ = 0, shared_ = 1, group_ = 1, heads_ = 1, queries_ = 1, width_ = 1, keys_ = 1, columns_ = 1;
  bool is_dynamic_ = false, has_scale_ = false, has_cap_ = false, has_added_ = false, has_chosen_ = false, has_spread_ = false, has_column_ = false, has_term_ = false;
  place where_ = place::none;
  int unmasked_ = -1;
};

}  // namespace attention_attack
