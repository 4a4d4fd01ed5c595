#pragma once
/// Scores, softmax and weighted sum of values become one equation, which defines its own order of sums (numerics.md).
/// Requires: canonical spelling (canonicalise, cse). Ensures: each chain that has the form below is an `attention`; one that
/// nearly has it keeps its equations and is recorded with the first check that failed.
///   %0 = matmul %q, %k {transpose_b=1}; %1 = mul %0, f32(scale); %2 = select %c, %1, f32(-inf)
///   %3 = reduce_max %2; %4 = sub %2, %3; %5 = exp %4; %6 = reduce_sum %5; %7 = div %5, %6; %8 = matmul %7, %v
///   →   %8 = attention %q, %k, %v, %c {scale=…}
/// Between the scale and the softmax may stand a softcap, cap · tanh(s / cap), and a mask to add. Of keys and values,
/// widening casts and copies of heads for the queries of a group are left out.

#include <poot/core/target.hpp>
#include <poot/ir/analysis.hpp>
#include <poot/ir/attention_memory.hpp>
#include <poot/pass/rewriter.hpp>

namespace poot::pass {

namespace detail {

class attention_chain {
 public:
  constexpr attention_chain(const graph_view& g, const vec<uint32>& uses, uint32 root) : g_(g), uses_(uses.data()), root_(root) {}

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
      fail_at(read, check_of_step(read));
    }
    if (p.by_reciprocal) fail_at(p.at, chain_check::reciprocal_softmax);
    for (uint32 operand : {p.weights, p.divisor, first(p.sum)})
      if (g_[operand].kind == op::cast) fail_at(operand, chain_check::narrow_value);
    const uint32 exponential = exponential_behind(p.weights, 2);
    if (p.weights != exponential || p.weights != first(p.sum) || p.sum != p.divisor || p.is_reversed) fail_at(p.at, chain_check::softmax_form);
    inside(p.at, 1);
    inside(exponential, 2);
    inside_spread(second(p.at));
    inside(p.sum, 1);
    along_keys(p.sum);
    uint32 scores = behind_casts(first(exponential));
    const uint32 greatest = g_[scores].kind == op::sub ? behind_casts(behind_broadcast(second(scores))) : none;
    if (greatest != none && g_[greatest].kind == op::reduce_max && behind_casts(first(greatest)) == first(scores)) {
      inside(scores, 1);
      inside_spread(second(scores));
      inside(greatest, 1);
      along_keys(greatest);
      scores = first(scores);
    } else {
      fail_at(greatest != none ? scores : exponential, chain_check::softmax_shift);
    }
    return walk_scores(scores);
  }

  /// The operands of the attention, or false and the check that failed.
  constexpr bool read_operands(const target& where, bool strict) {
    if (failed_) return false;
    const uint32 product = product_;
    const uint32 q = behind_widening(first(product));
    uint32 k = second(product), v = second(root_);
    tensor_type key_rows = g_.type(k), value_rows = g_.type(v);
    if (!is_transposed(product) && !drop_transpose(k, key_rows)) fail_at(product, chain_check::operand_order);
    if (is_transposed(root_) && !drop_transpose(v, value_rows)) fail_at(root_, chain_check::operand_order);
    const bool copied = drop_copies(k, key_rows, g_.type(q));
    if (!copied && !g_.type(k).same_extents(key_rows)) fail_at(product, chain_check::operand_order);
    if (!drop_copies(v, value_rows, g_.type(q)) && !g_.type(v).same_extents(value_rows)) fail_at(root_, chain_check::operand_order);
    operands_ = {q, k, v};
    if (added_ != none) operands_.push_back(added_);
    if (chosen_ != none) operands_.push_back(chosen_);
    const tensor_type &query = g_.type(q), &keys = g_.type(k);
    if (!copied && keys.rank <= 3 && heads_of(query) > 1 && heads_of(keys) == 1) fail_at(product, chain_check::single_key_head);
    check_types();
    const extent length = keys.rank >= 2 ? keys.extents[keys.rank - 2] : extent(1);
    if (length.is_dynamic() && length.bound() >= 0x7fffffff) fail_at(product, chain_check::unbounded_length);
    if (strict) fail_at(root_, chain_check::strict);
    if (!where.caps.attention) fail_at(root_, chain_check::no_kernel);
    else if (!ir::attention_fits(where.caps, length, g_.type(v).last())) fail_at(root_, chain_check::workgroup_memory);
    const int64 queries = query.extents[query.rank - 2].bound();
    if (queries > 1 && heads_of(query) * queries > where.caps.max_groups_x) fail_at(root_, chain_check::grid_limit);
    return !failed_;
  }

  constexpr view<uint32> operands() const { return operands_; }
  constexpr int64 scale() const { return scale_; }
  constexpr int64 softcap() const { return softcap_; }
  constexpr chain_decline decline() const { return {g_[where_].origin, why_}; }

 private:
  static constexpr uint32 none = 0xffffffffu;
  static constexpr int64 one = 0x3f800000;  // in f32

  constexpr uint32 first(uint32 id) const { return *g_.first_operand(id); }
  constexpr uint32 second(uint32 id) const { return g_.first_operand(id)[1]; }
  constexpr uint32 behind_broadcast(uint32 id) const { return g_[id].kind == op::broadcast ? first(id) : id; }
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

  /// What is divided by a sum, or by something computed from one.
  struct softmax_parts {
    uint32 at, weights, divisor, sum;
    bool by_reciprocal, is_reversed;
  };
  constexpr bool read_softmax(uint32 id, softmax_parts& p) const {
    const op kind = g_[id].kind;
    if (kind != op::div && kind != op::mul) return false;
    for (int k = 1; k >= 0; --k) {
      const uint32 weights = g_.first_operand(id)[1 - k];
      uint32 divisor = behind_broadcast(g_.first_operand(id)[k]);
      if (kind == op::mul) {
        if (g_[divisor].kind == op::recip) divisor = behind_broadcast(first(divisor));
        else if (g_[divisor].kind == op::div && g_.is_scalar_constant(first(divisor))) divisor = behind_broadcast(second(divisor));
        else continue;
      }
      uint32 sum = divisor;
      for (int steps = 0; steps < 2 && ir::is_pointwise(g_[sum].kind); ++steps) sum = behind_broadcast(first(sum));
      if (g_[sum].kind != op::reduce_sum || exponential_behind(weights, 2) == none) continue;
      p = {id, weights, divisor, sum, kind == op::mul, kind == op::div && k == 0};
      return true;
    }
    return false;
  }
  /// The softmax that `id` is, or is computed from in so many steps.
  constexpr bool softmax_behind(uint32 id, int steps, softmax_parts& p) const {
    if (read_softmax(id, p)) return true;
    if (steps == 0 || !is_step(g_[id].kind)) return false;
    for (uint32 in : g_.operands(id))
      if (softmax_behind(in, steps - 1, p)) return true;
    return false;
  }
  constexpr uint32 exponential_behind(uint32 id, int steps) const {
    if (g_[id].kind == op::exp) return id;
    if (steps == 0 || !ir::is_pointwise(g_[id].kind)) return none;
    for (uint32 in : g_.operands(id))
      if (const uint32 found = exponential_behind(in, steps - 1); found != none) return found;
    return none;
  }

  static constexpr bool is_step(op o) { return ir::is_pointwise(o) || ir::is_movement(o); }
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
  constexpr bool is_minus_infinity(uint32 id) const {
    return g_.is_scalar_constant(id) && g_.type(id).element == dtype::f32 && (static_cast<uint64>(g_.attrs(id)[0]) & 0xffffffffu) == 0xff800000u;
  }

  /// From the softmax's operand to the contraction: the masks, the softcap, the scale.
  constexpr bool walk_scores(uint32 id) {
    uint32 reads = 2;  // of the greatest, and of the difference
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

  /// Widening to f32 is exact, and attention reads narrow floats itself.
  constexpr uint32 behind_widening(uint32 id) const {
    return g_[id].kind == op::cast && g_.type(id).element == dtype::f32 && is_narrow(g_.type(first(id)).element) ? first(id) : id;
  }
  /// Takes a transposition of the last two axes away; `rows` becomes the type before it. One that moves an extent of 1 has become
  /// a reshape, which may be a part of the one that merges copies of heads: `drop_copies` takes that away.
  constexpr bool drop_transpose(uint32& id, tensor_type& rows) const {
    id = behind_widening(id);
    const int rank = rows.rank;
    const bool is_reshape = g_[id].kind == op::reshape, has_one = rows.last() == extent(1) || rows.extents[rank - 2] == extent(1);
    if (is_reshape ? !has_one : g_[id].kind != op::transpose) return rows.last() == rows.extents[rank - 2] && has_one;
    if (!is_reshape) {
      const view<int64> perm = g_.attrs(id);
      for (int i = 0; i < rank; ++i)
        if (perm[i] != (i < rank - 2 ? i : 2 * rank - 3 - i)) return false;
    }
    std::swap(rows.extents[rank - 1], rows.extents[rank - 2]);
    if (g_.type(first(id)).same_extents(rows)) id = first(id);
    return true;
  }
  /// Copies of heads: [KV,S,D] to [KV,1,S,D], broadcast to [KV,G,S,D], merged to [KV·G,S,D], the type `to`; or a broadcast
  /// alone. Returns whether there were any.
  constexpr bool drop_copies(uint32& id, const tensor_type& to, const tensor_type& q) const {
    if (g_.type(id).same_extents(to)) id = behind_widening(id);
    if (g_[id].kind == op::broadcast && to.rank == q.rank && g_.type(first(id)).rank >= 2 && only_heads_stretch(id)) {
      id = behind_widening(first(id));
      return true;
    }
    if (g_[id].kind != op::reshape || g_[first(id)].kind != op::broadcast) return false;
    const uint32 copies = first(id), merged = first(copies);
    const tensor_type &wide = g_.type(copies), &narrow = g_.type(merged);
    if (g_[merged].kind != op::reshape || wide.rank != to.rank + 1 || narrow.rank != wide.rank || !only_heads_stretch(copies)) return false;
    const uint32 heads = first(merged);
    if (g_.type(heads).rank != to.rank) return false;
    int at = 0;  // the axis that is merged with the one behind it
    while (at < to.rank - 2 && narrow.extents[at + 1] == wide.extents[at + 1]) ++at;
    if (at == to.rank - 2 || narrow.extents[at + 1] != extent(1)) return false;
    for (int i = 0; i < to.rank; ++i) {
      const int from = i <= at ? i : i + 1;
      if (g_.type(heads).extents[i] != narrow.extents[from]) return false;
      if (i != at && to.extents[i] != wide.extents[from]) return false;
      if (narrow.extents[from] != wide.extents[from]) return false;
    }
    id = behind_widening(heads);
    return true;
  }
  constexpr bool only_heads_stretch(uint32 id) const {
    const tensor_type &to = g_.type(id), &from = g_.type(first(id));
    return from.rank >= 2 && from.extents[from.rank - 2] == to.extents[to.rank - 2] && from.last() == to.last();
  }

  static constexpr int64 heads_of(const tensor_type& t) {
    int64 count = 1;
    for (int i = 0; i < t.rank - 2; ++i) count *= t.extents[i].bound();
    return count;
  }

  /// Whether the operands have types that attention takes, and give the chain's own.
  constexpr void check_types() {
    tensor_type types[5]{};
    for (size_t i = 0; i < operands_.size(); ++i) types[i] = g_.type(operands_[i]);
    const int64 attrs[2] = {scale_, softcap_};
    const ir::typing t = ir::infer(op::attention, {attrs, 2}, {types, operands_.size()}, g_.type(root_));
    if (t.ok()) {
      if (!(t.type == g_.type(root_))) fail_at(root_, chain_check::heads_differ);
      return;
    }
    switch (t.broken) {
      case ir::rule::operand_dtype: case ir::rule::float_result: fail_at(root_, chain_check::element_type); break;
      case ir::rule::attention_mask: fail_at(operands_[static_cast<size_t>(t.operand)], chain_check::mask_form); break;
      case ir::rule::attention_scale: fail_at(product_, chain_check::scale_form); break;
      default: fail_at(product_, chain_check::heads_differ);
    }
  }

  const graph_view& g_;
  const uint32* uses_;
  uint32 root_;
  uint32 product_ = 0, added_ = none, chosen_ = none;
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
    const int64 attrs[2] = {chain.scale(), chain.softcap()};
    eqn& made = g.eqns[id];
    made.kind = op::attention;
    made.attrs = g.keep_attrs({attrs, 2});
    made.operands = {static_cast<uint32>(g.operand_pool.size()), static_cast<uint32>(chain.operands().size())};
    g.operand_pool.append(chain.operands());
    all = g;
    changed = true;
  }
  if (changed) notes.changed.push_back(pass_id::recognize_attention);
  return g;
}

}  // namespace poot::pass
