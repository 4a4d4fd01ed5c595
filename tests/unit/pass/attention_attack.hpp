#pragma once
/// Spellings of an attention, each changed in one known way.

#include "attention_changes.hpp"

namespace attention_attack {

class speller : drawn_attention {
 public:
  speller(change what, draws& d) : drawn_attention(what, d) {}

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
  template <class... In>
  int apply(ir::op o, std::initializer_list<int> in, std::initializer_list<int64> attrs = {}) {
    return c().apply(o, in, attrs, type_of(element_));
  }
  int number(float v) { return c().add({ir::op::constant, {}, {static_cast<int64>(bits_of(element_, v))}, type_of(element_)}); }
  /// Of a sum or a product, in either order.
  int either(ir::op o, int x, int y) { return is(change::operand_order) && below(2) ? apply(o, {y, x}) : apply(o, {x, y}); }

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

  int unmasked_ = -1;
};

}  // namespace attention_attack
