#pragma once
/// Scores, softmax and weighted sum of values become one equation, which defines its own order of sums (numerics.md).
/// Requires: canonical spelling (canonicalise, cse). Ensures: each chain that has the form below is an `attention`; one that
/// nearly has it keeps its equations and is recorded with the first check that failed.
///   %0 = matmul %q, %k {transpose_b=1}; %1 = mul %0, f32(scale); %2 = select %c, %1, f32(-inf)
///   %3 = reduce_max %2; %4 = sub %2, %3; %5 = exp %4; %6 = reduce_sum %5; %7 = div %5, %6; %8 = matmul %7, %v
///   →   %8 = attention %q, %k, %v, %c {scale=…}
/// (With `strict` that order is the chain's own, as long as the target holds the scores of a row; then no bit changes.)
/// Between the scale and the softmax may stand a softcap, cap · tanh(s / cap), and a mask to add. Of keys and values,
/// widening casts and copies of heads for the queries of a group are left out. A sink, a score that has no value, is the last operand:
///   %3 = concat %2, %sink; …softmax…; %8 = slice %7 (without the sink)
///   %4 = max %3, %sink; …; %9 = exp (sub %sink, %4); %10 = add %6, %9; %7 = div %5, %10

#include <poot/core/target.hpp>
#include <poot/ir/analysis.hpp>
#include <poot/ir/attention_memory.hpp>
#include <poot/pass/attention_operands.hpp>
#include <poot/pass/attention_softmax.hpp>
#include <poot/pass/rewriter.hpp>

namespace poot::pass {

namespace detail {

class attention_chain : attention_softmax {
 public:
  constexpr attention_chain(const graph_view& g, const vec<uint32>& uses, uint32 root) : attention_softmax(g), read_(g), uses_(uses.data()), root_(root) {}

  /// Whether `root` is a contraction of a softmax whose scores are a contraction; else there is no chain.
  constexpr bool find() {
    softmax_parts p{};
    const uint32 read = first(root_);
    if (!softmax_behind(read, 3, p)) {
      uint32 other = second(root_);
      if (g_[other].kind == op::transpose) other = first(other);
      if (!read_softmax(other, p)) return false;
      fail_at(root_, chain_check::operand_order);
    } else if (p.at != read) {
      if (g_[read].kind == op::slice && first(read) == p.at) column_ = column_behind(p.weights);
      if (column_ != none) read_column(read);
      else fail_at(read, check_of_step(read));
    }
    if (p.by_reciprocal) fail_at(p.at, chain_check::reciprocal_softmax);
    for (uint32 operand : {p.weights, p.divisor, first(p.sum)})
      if (g_[operand].kind == op::cast) fail_at(operand, chain_check::narrow_value);
    const uint32 exponential = exponential_behind(p.weights, 2), term = sink_term(p);
    if (p.weights != exponential || p.weights != first(p.sum) || (p.sum != p.divisor && term == none) || p.is_reversed) fail_at(p.at, chain_check::softmax_form);
    inside(p.at, 1);
    inside(exponential, 2);
    inside_spread(second(p.at));
    if (term != none) inside(p.divisor, 1);
    inside(p.sum, 1);
    along_keys(p.sum);
    uint32 scores = behind_casts(first(exponential));
    uint32 greatest = g_[scores].kind == op::sub ? behind_casts(behind_broadcast(second(scores))) : none;
    if (term != none && greatest != none) greatest = greatest_of_scores(greatest, term, first(scores));
    if (greatest != none && g_[greatest].kind == op::reduce_max && behind_casts(first(greatest)) == first(scores)) {
      inside(scores, 1);
      inside_spread(second(scores));
      inside(greatest, 1);
      along_keys(greatest);
      scores = first(scores);
    } else {
      fail_at(greatest != none ? scores : exponential, chain_check::softmax_shift);
    }
    // once more less the greatest, which now is 0
    if (term == none && g_[scores].kind == op::sub) {
      const uint32 again = behind_broadcast(second(scores));
      if (g_[again].kind == op::reduce_max && first(again) == first(scores)) {
        inside(scores, 2);
        inside_spread(second(scores));
        inside(again, 1);
        along_keys(again);
        scores = first(scores);
      }
    }
    if (column_ != scores) return walk_scores(scores, 2);  // which finds the column further in
    inside(column_, 2);
    return walk_scores(scores_beside(column_), 1);
  }

  /// The operands of the attention, or false and the check that failed.
  constexpr bool read_operands(const target& where, bool strict) {
    if (failed_) return false;
    const uint32 product = product_;
    const uint32 q = read_.behind_widening(first(product));
    uint32 k = second(product), v = second(root_);
    tensor_type key_rows = g_.type(k), value_rows = g_.type(v);
    if (!is_transposed(product) && !read_.drop_transpose(k, key_rows)) fail_at(product, chain_check::operand_order);
    if (is_transposed(root_) && !read_.drop_transpose(v, value_rows)) fail_at(root_, chain_check::operand_order);
    const bool copied = read_.drop_copies(k, key_rows, g_.type(q));
    if (!copied && !g_.type(k).same_extents(key_rows)) fail_at(product, chain_check::operand_order);
    if (!read_.drop_copies(v, value_rows, g_.type(q)) && !g_.type(v).same_extents(value_rows)) fail_at(root_, chain_check::operand_order);
    operands_ = {q, k, v};
    if (added_ != none) operands_.push_back(added_);
    if (chosen_ != none) operands_.push_back(chosen_);
    if (sink_ != none) operands_.push_back(read_.behind_widening(sink_));
    const tensor_type &query = g_.type(q), &keys = g_.type(k);
    if (!copied && keys.rank <= 3 && attention_operands::heads_of(query) > 1 && attention_operands::heads_of(keys) == 1) fail_at(product, chain_check::single_key_head);
    check_types();
    if (failed_) return false;
    const extent length = keys.extents[keys.rank - 2];
    if (length.is_dynamic() && length.bound() >= 0x7fffffff) fail_at(product, chain_check::unbounded_length);
    if (!where.caps.attention) fail_at(root_, chain_check::no_kernel);
    if (has_sink() && strict) fail_at(root_, chain_check::strict);
    const bool fits = ir::attention_fits(where.caps, length, g_.type(v).last(), strict) || (!strict && ir::attention_splits(where.caps, query, keys, g_.type(root_)));
    if (!fits) fail_at(root_, strict ? chain_check::strict : chain_check::workgroup_memory);
    const int64 queries = query.extents[query.rank - 2].bound();
    if (queries > 1 && attention_operands::heads_of(query) * queries > where.caps.max_groups_x) fail_at(root_, chain_check::grid_limit);
    return !failed_;
  }

  constexpr view<uint32> operands() const { return operands_; }
  constexpr int64 scale() const { return scale_; }
  constexpr int64 softcap() const { return softcap_; }
  constexpr bool has_sink() const { return sink_ != none; }
  constexpr chain_decline decline() const { return {g_[where_].origin, why_}; }

 private:
  static constexpr int64 one = 0x3f800000;  // in f32

  constexpr bool is_transposed(uint32 id) const { return !g_.attrs(id).empty() && g_.attrs(id)[0] != 0; }
  constexpr void fail_at(uint32 id, chain_check check) {
    if (failed_) return;
    failed_ = true;
    where_ = id;
    why_ = check;
  }

  /// A value of f32 that the chain reads `times` times and nobody else.
  constexpr void inside(uint32 id, uint32 times) {
    if (uses_[id] != times) fail_at(id, chain_check::read_elsewhere);
    const dtype t = g_.type(id).element;
    if (t != dtype::f32) fail_at(id, t == dtype::f64 ? chain_check::element_type : chain_check::narrow_value);
  }
  constexpr uint32 behind_casts(uint32 id) {
    for (; g_[id].kind == op::cast; id = first(id)) fail_at(id, chain_check::narrow_value);
    return id;
  }
  constexpr void along_keys(uint32 reduction) {
    if (g_.attrs(reduction)[0] != g_.type(first(reduction)).rank - 1) fail_at(reduction, chain_check::softmax_axis);
  }

  /// A broadcast of a value inside the chain, if `id` is one.
  constexpr void inside_spread(uint32 id) {
    if (g_[id].kind == op::broadcast) inside(id, 1);
  }

  /// A concatenation along the keys from which the exponentials `weights` are computed, if there is one.
  constexpr uint32 column_behind(uint32 weights) const {
    uint32 id = exponential_behind(weights, 2);
    for (int steps = 0; steps < 12; ++steps) {
      if (g_[id].kind == op::concat) return g_.attrs(id)[0] == g_.type(id).rank - 1 && leads_to_product(id) ? id : none;
      if (!ir::is_pointwise(g_[id].kind)) return none;
      uint32 next = none;
      for (uint32 in : g_.operands(id))
        if (next == none && leads_to_product(in)) next = in;
      if (next == none) return none;
      id = next;
    }
    return none;
  }
  constexpr uint32 scores_beside(uint32 column) const { return leads_to_product(first(column)) ? first(column) : second(column); }
  /// Scores with the sink as a column beside them, whose weight the slice `dropped` leaves out.
  constexpr void read_column(uint32 dropped) {
    const uint32 scores = scores_beside(column_), beside = scores == first(column_) ? second(column_) : first(column_);
    const int rank = g_.type(column_).rank;
    sink_at_ = column_;
    if (g_[column_].operands.count != 2 || g_.type(beside).last() != extent(1)) return fail_at(column_, chain_check::sink_shape);
    const view<int64> at = g_.attrs(dropped);
    bool is_scores = g_.type(dropped).same_extents(g_.type(scores));
    for (int i = 0; i < rank; ++i) is_scores = is_scores && at[i] == (i == rank - 1 && beside == first(column_)) && at[2 * rank + i] == 1;
    if (!is_scores) fail_at(dropped, chain_check::sink_kept);
    inside(dropped, 1);
    sink_ = behind_broadcast(beside);
  }

  /// Behind `joined`, the greatest of the scores and of the sink whose exponential is `term`: the greatest of the scores.
  constexpr uint32 greatest_of_scores(uint32 joined, uint32 term, uint32 scores) {
    inside(term, 1);
    if (column_ != none) fail_at(column_, chain_check::sink_form);  // two sinks
    if (g_[joined].kind != op::max) {
      fail_at(term, chain_check::sink_form);
      return joined;
    }
    const bool swapped = g_[second(joined)].kind == op::reduce_max && first(second(joined)) == scores;
    const uint32 sink = swapped ? first(joined) : second(joined), difference = first(term);
    const bool is_less = g_[difference].kind == op::sub && first(difference) == sink && second(difference) == joined;
    const bool is_zero_less = g_[difference].kind == op::neg && first(difference) == joined && is_zero(sink);
    if (!is_less && !is_zero_less) fail_at(term, chain_check::sink_form);
    inside(difference, 1);
    if (g_.type(sink).rank > 0 && g_.type(sink).last() != extent(1)) fail_at(joined, chain_check::sink_shape);
    inside(joined, 2);
    sink_at_ = joined;
    sink_ = behind_broadcast(sink);
    return swapped ? second(joined) : first(joined);
  }

  constexpr chain_check check_of_step(uint32 id) const {
    if (g_[id].kind == op::cast) return chain_check::narrow_value;
    return ir::is_movement(g_[id].kind) ? chain_check::moved_inside : chain_check::step_between;
  }

  /// Is `id` computed from a contraction, as far as a bounded search sees?
  constexpr bool leads_to_product(uint32 id) const {
    int visits = 48;
    return leads_to_product(id, 12, visits);
  }
  constexpr bool leads_to_product(uint32 id, int steps, int& visits) const {
    const op kind = g_[id].kind;
    if (kind == op::matmul) return true;
    if (steps == 0 || --visits < 0 || (!is_step(kind) && !ir::is_reduction(kind))) return false;
    for (uint32 in : g_.operands(id))
      if (leads_to_product(in, steps - 1, visits)) return true;
    return false;
  }
  constexpr bool is_zero(uint32 id) const { return g_.is_scalar_constant(id) && (g_.attrs(id)[0] & 0x7fffffff) == 0; }
  constexpr bool is_minus_infinity(uint32 id) const {
    return g_.is_scalar_constant(id) && g_.type(id).element == dtype::f32 && (static_cast<uint64>(g_.attrs(id)[0]) & 0xffffffffu) == 0xff800000u;
  }

  /// From the softmax's operand to the contraction: the masks, the softcap, the scale.
  constexpr bool walk_scores(uint32 id, uint32 reads) {  // by the greatest and by the difference, or by a column beside
    for (int steps = 0; steps < 12; ++steps, reads = 1) {
      if (failed_) return leads_to_product(id);
      inside(id, reads);
      const eqn& e = g_[id];
      switch (e.kind) {
        case op::matmul: product_ = id; return true;
        case op::select: {
          const uint32 yes = second(id), no = g_.first_operand(id)[2];
          const bool reversed = !leads_to_product(yes);
          if (reversed && !leads_to_product(no)) return false;
          if (reversed || chosen_ != none || added_ != none || softcap_ || scale_ != one) fail_at(id, chain_check::mask_form);
          if (!is_minus_infinity(reversed ? yes : no)) fail_at(id, chain_check::mask_value);
          chosen_ = first(id);
          id = reversed ? no : yes;
          break;
        }
        case op::add: {
          const bool swapped = !leads_to_product(first(id));
          if (swapped && !leads_to_product(second(id))) return false;
          if (added_ != none || softcap_ || scale_ != one) fail_at(id, chain_check::mask_form);
          added_ = swapped ? first(id) : second(id);
          id = swapped ? second(id) : first(id);
          break;
        }
        case op::mul: {
          const bool swapped = !leads_to_product(first(id));
          if (swapped && !leads_to_product(second(id))) return false;
          const uint32 factor = swapped ? first(id) : second(id), scaled = swapped ? second(id) : first(id);
          if (g_[scaled].kind == op::tanh) {
            id = capped(scaled, factor);
            break;
          }
          if (scale_ != one || !g_.is_scalar_constant(factor)) fail_at(id, chain_check::scale_form);
          else scale_ = g_.attrs(factor)[0] & 0xffffffff;
          id = scaled;
          break;
        }
        case op::div: {  // by a power of two it is a product
          const uint32 divisor = second(id);
          const uint32 bits = g_.is_scalar_constant(divisor) ? static_cast<uint32>(g_.attrs(divisor)[0]) : 0, exponent = bits >> 23;
          if (!leads_to_product(first(id))) return false;
          if ((bits & 0x7fffffu) != 0 || exponent < 1 || exponent > 253 || scale_ != one) fail_at(id, chain_check::scale_form);
          else scale_ = static_cast<int64>(254 - exponent) << 23;
          id = first(id);
          break;
        }
        case op::tanh:  // a cap of one
          if (softcap_ || scale_ != one) fail_at(id, chain_check::softcap_form);
          softcap_ = one;
          id = first(id);
          break;
        case op::concat:
          if (id == column_) fail_at(id, chain_check::sink_form);
          else if (g_.attrs(id)[0] == e.type.rank - 1 && g_.type(second(id)).last() == extent(1)) fail_at(id, chain_check::sink_kept);
          [[fallthrough]];
        default: fail_at(id, check_of_step(id));
      }
    }
    return false;
  }

  /// Behind cap · tanh(x / cap), whose tanh is `id`: the x.
  constexpr uint32 capped(uint32 id, uint32 cap) {
    inside(id, 1);
    const uint32 quotient = behind_casts(first(id));
    const bool fits = g_[quotient].kind == op::div && g_.is_scalar_constant(cap) && g_.is_scalar_constant(second(quotient)) &&
                      g_.attrs(cap)[0] == g_.attrs(second(quotient))[0] && !softcap_ && scale_ == one;
    const int64 bits = g_.is_scalar_constant(cap) ? g_.attrs(cap)[0] & 0xffffffff : 0;
    if (!fits || bits == 0 || bits >= 0x7f800000) {
      fail_at(id, chain_check::softcap_form);
      return quotient;
    }
    inside(quotient, 1);
    softcap_ = bits;
    return first(quotient);
  }

  /// Whether the operands have types that attention takes, and give the chain's own.
  constexpr void check_types() {
    tensor_type types[6]{};
    for (size_t i = 0; i < operands_.size(); ++i) types[i] = g_.type(operands_[i]);
    const int64 attrs[4] = {scale_, softcap_, has_sink(), 0};
    const ir::typing t = ir::infer(op::attention, {attrs, 4}, {types, operands_.size()}, g_.type(root_));
    if (t.ok()) {
      if (!(t.type == g_.type(root_))) fail_at(root_, chain_check::heads_differ);
      return;
    }
    switch (t.broken) {
      case ir::rule::operand_dtype: case ir::rule::float_result: fail_at(root_, chain_check::element_type); break;
      case ir::rule::attention_mask: fail_at(operands_[static_cast<size_t>(t.operand)], chain_check::mask_form); break;
      case ir::rule::attention_scale: fail_at(product_, chain_check::scale_form); break;
      case ir::rule::attention_sink: fail_at(sink_at_, chain_check::sink_shape); break;
      default: fail_at(product_, chain_check::heads_differ);
    }
  }

  const attention_operands read_;
  const uint32* uses_;
  uint32 root_;
  uint32 product_ = 0, added_ = none, chosen_ = none, sink_ = none;
  uint32 column_ = none, sink_at_ = 0;  // scores and sink side by side; where the sink joins
  int64 scale_ = one, softcap_ = 0;
  vec<uint32> operands_;
  bool failed_ = false;
  uint32 where_ = 0;
  chain_check why_{};
};

}  // namespace detail

constexpr graph recognize_attention(graph g, const target& where, bool strict, record& notes) {
  vec<uint32> uses;  // counted for the first chain
  graph_view all = g;
  bool changed = false;
  for (uint32 id = 0, size = static_cast<uint32>(g.size()); id < size; ++id) {
    if (all[id].kind != op::matmul) continue;
    const uint32* const in = all.first_operand(id);
    if (ir::is_leaf(all[in[0]].kind) && ir::is_leaf(all[in[1]].kind)) continue;
    if (uses.empty()) uses = use_counts(all);
    detail::attention_chain chain(all, uses, id);
    if (!chain.find()) continue;
    if (!chain.read_operands(where, strict)) {
      notes.chain_declines.push_back(chain.decline());
      continue;
    }
    const int64 attrs[4] = {chain.scale(), chain.softcap(), chain.has_sink(), strict};
    eqn& made = g.eqns[id];
    made.kind = op::attention;
    made.attrs = g.keep_attrs({attrs, 4});
    made.operands = {static_cast<uint32>(g.operand_pool.size()), static_cast<uint32>(chain.operands().size())};
    g.operand_pool.append(chain.operands());
    all = g;
    changed = true;
  }
  if (changed) notes.changed.push_back(pass_id::recognize_attention);
  return g;
}

}  // namespace poot::pass
