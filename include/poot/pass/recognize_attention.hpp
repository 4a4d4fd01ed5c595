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
    uint32 p = first(root_);
    if (g_[p].kind == op::cast) fail_at(p, chain_check::narrow_value), p = first(p);
    uint32 sum = 0;
    if (g_[p].kind == op::div) {
      weights_ = first(p);
      sum = behind_broadcast(second(p));
    } else if (g_[p].kind == op::mul) {
      const bool swapped = g_[behind_broadcast(first(p))].kind == op::recip;
      const uint32 reciprocal = behind_broadcast(swapped ? first(p) : second(p));
      if (g_[reciprocal].kind != op::recip) return false;
      weights_ = swapped ? second(p) : first(p);
      sum = behind_broadcast(first(reciprocal));
      fail_at(p, chain_check::reciprocal_softmax);
    } else {
      return false;
    }
    if (g_[weights_].kind != op::exp || g_[sum].kind != op::reduce_sum || first(sum) != weights_) return false;
    inside(p, 1);
    inside(weights_, 2);
    inside(sum, 1);
    along_keys(sum);
    uint32 scores = first(weights_);
    if (g_[scores].kind == op::sub) {
      const uint32 greatest = behind_broadcast(second(scores));
      inside(scores, 1);
      if (g_[greatest].kind == op::reduce_max && first(greatest) == first(scores)) {
        inside(greatest, 1);
        along_keys(greatest);
      } else {
        fail_at(scores, chain_check::softmax_shift);
      }
      scores = first(scores);
    } else {
      fail_at(weights_, chain_check::softmax_shift);
    }
    return walk_scores(scores);
  }

  /// The operands of the attention, or false and the check that failed.
  constexpr bool read_operands(const target& where, bool strict) {
    const uint32 product = product_;
    const uint32 q = behind_widening(first(product));
    uint32 k = second(product), v = second(root_);
    if (!is_transposed(product) && !drop_transpose(k)) fail_at(product, chain_check::operand_order);
    if (is_transposed(root_) && !drop_transpose(v)) fail_at(root_, chain_check::operand_order);
    const bool copied = drop_copies(k, g_.type(q));
    drop_copies(v, g_.type(q));
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
  constexpr void along_keys(uint32 reduction) {
    if (g_.attrs(reduction)[0] != g_.type(first(reduction)).rank - 1) fail_at(reduction, chain_check::softmax_axis);
  }

  /// Does a bounded walk from `id` through what may stand between scores and softmax reach a contraction?
  constexpr bool leads_to_product(uint32 id) const {
    for (int steps = 0; steps < 12; ++steps) {
      const eqn& e = g_[id];
      if (e.kind == op::matmul) return true;
      const bool passes = e.kind == op::mul || e.kind == op::div || e.kind == op::tanh || e.kind == op::cast || e.kind == op::reshape ||
                          e.kind == op::transpose || e.kind == op::add || e.kind == op::neg;
      if (e.kind == op::select) id = second(id);
      else if (passes) id = first(id);
      else return false;
    }
    return false;
  }
  constexpr bool is_minus_infinity(uint32 id) const {
    return g_.is_scalar_constant(id) && g_.type(id).element == dtype::f32 && (static_cast<uint64>(g_.attrs(id)[0]) & 0xffffffffu) == 0xff800000u;
  }

  /// From the softmax's operand to the contraction: the masks, the softcap, the scale.
  constexpr bool walk_scores(uint32 id) {
    uint32 reads = 2;  // of the greatest, and of the difference
    for (int steps = 0; steps < 12; ++steps, reads = 1) {
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
        case op::cast: fail_at(id, chain_check::narrow_value); id = first(id); break;
        case op::reshape: case op::transpose: fail_at(id, chain_check::moved_inside); id = first(id); break;
        case op::tanh: fail_at(id, chain_check::softcap_form); id = first(id); break;
        default: return false;
      }
    }
    return false;
  }

  /// Behind cap · tanh(x / cap), whose tanh is `id`: the x.
  constexpr uint32 capped(uint32 id, uint32 cap) {
    inside(id, 1);
    const uint32 quotient = first(id);
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
  /// Takes a transposition of the last two axes away.
  constexpr bool drop_transpose(uint32& id) const {
    id = behind_widening(id);
    if (g_[id].kind != op::transpose) return false;
    const view<int64> perm = g_.attrs(id);
    const int rank = g_.type(id).rank;
    for (int i = 0; i < rank; ++i)
      if (perm[i] != (i < rank - 2 ? i : 2 * rank - 3 - i)) return false;
    id = first(id);
    return true;
  }
  /// Copies of heads: [KV,S,D] to [KV,1,S,D], broadcast to [KV,G,S,D], merged to [KV·G,S,D]; or a broadcast alone. Returns
  /// whether there were any.
  constexpr bool drop_copies(uint32& id, const tensor_type& q) const {
    id = behind_widening(id);
    if (g_[id].kind == op::broadcast && g_.type(id).rank == q.rank && g_.type(first(id)).rank >= 2 && only_heads_stretch(id)) {
      id = behind_widening(first(id));
      return true;
    }
    if (g_[id].kind != op::reshape || g_[first(id)].kind != op::broadcast) return false;
    const uint32 copies = first(id), merged = first(copies);
    const tensor_type &to = g_.type(id), &wide = g_.type(copies), &narrow = g_.type(merged);
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
  uint32 weights_ = 0, product_ = 0, added_ = none, chosen_ = none;
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
    const op softmax = all[*all.first_operand(id)].kind;
    if (softmax != op::div && softmax != op::mul && softmax != op::cast) continue;
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
