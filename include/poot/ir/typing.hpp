#pragma once
/// Typing rules: the type of an op's result, or the rule its operands break.

#include <poot/ir/detail/typing_chain.hpp>

namespace poot::ir {

namespace detail {

/// The product of fixed extents, with dynamic ones cancelled pairwise.
constexpr bool same_element_count(const tensor_type& a, const tensor_type& b) {
  bool taken[max_rank]{};
  int64 count_a = 1, count_b = 1;
  for (int i = 0; i < a.rank; ++i) {
    if (!a.extents[i].is_dynamic()) {
      count_a *= a.extents[i].code;
      continue;
    }
    bool found = false;
    for (int j = 0; j < b.rank && !found; ++j)
      if (!taken[j] && b.extents[j] == a.extents[i]) found = taken[j] = true;
    if (!found) return false;
  }
  for (int j = 0; j < b.rank; ++j) {
    if (!b.extents[j].is_dynamic()) count_b *= b.extents[j].code;
    else if (!taken[j]) return false;
  }
  return count_a == count_b;
}

/// Contractions accumulate in f64 if they are f64 throughout, else in f32.
constexpr bool mixes_f64(const tensor_type& a, const tensor_type& b, dtype declared) {
  const bool wide = declared == dtype::f64;
  return (a.element == dtype::f64) != wide || (b.element == dtype::f64) != wide;
}

constexpr typing type_matmul(view<int64> attrs, view<tensor_type> in, dtype declared) {
  const tensor_type &a = in[0], &b = in[1];
  const bool transposed = !attrs.empty() && attrs[0] != 0;
  if (!is_float(b.element) && !is_packed(b.element)) return refuse(rule::operand_dtype, 1);
  if (a.rank < 2) return refuse(rule::matmul_ranks, 0);
  if (b.rank < 2) return refuse(rule::matmul_ranks, 1);
  if (is_packed(b.element) && !transposed) return refuse(rule::packed_is_transposed, 1);
  const extent k = b.extents[transposed ? b.rank - 1 : b.rank - 2], n = b.extents[transposed ? b.rank - 2 : b.rank - 1];
  if (a.last() != k) return refuse(rule::inner_extents, 1);
  if (!is_float(declared)) return refuse(rule::float_result);
  if (mixes_f64(a, b, declared)) return refuse(rule::wide_contraction);
  tensor_type batch = a, other = b;
  batch.rank = static_cast<uint8>(a.rank - 2);
  other.rank = static_cast<uint8>(b.rank - 2);
  if (!broadcast_into(batch, other)) return refuse(rule::batch_extents, 1);
  batch.extents[batch.rank++] = a.extents[a.rank - 2];
  batch.extents[batch.rank++] = n;
  return {batch.with(declared)};
}

constexpr typing type_indexed(view<tensor_type> in, dtype declared) {
  const tensor_type &x = in[0], &w = in[1], &idx = in[2];
  if (!is_float(w.element) && !is_packed(w.element)) return refuse(rule::operand_dtype, 1);
  if (idx.element != dtype::i32) return refuse(rule::index_is_i32, 2);
  if (x.rank != 2 || w.rank != 3 || idx.rank != 1) return refuse(rule::indexed_ranks);
  if (x.extents[1] != w.extents[2]) return refuse(rule::inner_extents, 1);
  if (idx.extents[0] != x.extents[0]) return refuse(rule::index_extent, 2);
  if (!is_float(declared)) return refuse(rule::float_result);
  if (mixes_f64(x, w, declared)) return refuse(rule::wide_contraction);
  return {type_of(declared, x.extents[0], w.extents[1])};
}

/// Strides, pads and dilations beyond this are refused, so that no sum of them overflows.
inline constexpr int64 most_conv_attribute = int64{1} << 24;

/// attrs: stride[2], pad[top,bottom,left,right], dilation[2], groups
constexpr typing type_conv2d(view<int64> at, view<tensor_type> in, dtype declared) {
  const tensor_type &x = in[0], &w = in[1];
  if (!is_float(w.element)) return refuse(rule::operand_dtype, 1);
  if (x.rank != 4 || w.rank != 4) return refuse(rule::conv_ranks);
  if (at.size() != 9) return refuse(rule::attribute_count);
  for (int i = 0; i < 9; ++i)
    if (at[i] < (i >= 2 && i < 6 ? 0 : 1) || at[i] > most_conv_attribute) return refuse(rule::conv_attributes);
  for (int i = 1; i < 4; ++i)
    for (int k = 0; k < 2; ++k)
      if (in[k].extents[i].is_dynamic()) return refuse(rule::conv_ranks, k);
  const int64 groups = at[8];
  if ((groups > 1 && w.extents[0].is_dynamic()) || x.extents[1].code % groups || w.extents[0].code % groups) return refuse(rule::conv_groups);
  if (w.extents[1].code != x.extents[1].code / groups) return refuse(rule::conv_channels, 1);
  if (!is_float(declared)) return refuse(rule::float_result);
  if (mixes_f64(x, w, declared)) return refuse(rule::wide_contraction);
  tensor_type r = type_of(declared, x.extents[0], w.extents[0], 0, 0);
  for (int i = 0; i < 2; ++i) {
    const int64 window = (w.extents[2 + i].code - 1) * at[6 + i] + 1;
    const int64 padded = x.extents[2 + i].code + at[2 + 2 * i] + at[3 + 2 * i];
    if (window < 1 || padded < window) return refuse(rule::conv_window, 1);
    r.extents[2 + i] = extent((padded - window) / at[i] + 1);
  }
  return {r};
}

constexpr typing type_gather(view<int64> attrs, view<tensor_type> in) {
  const tensor_type &x = in[0], &idx = in[1];
  if (idx.element != dtype::i32) return refuse(rule::index_is_i32, 1);
  const int64 axis = attrs.empty() ? -1 : attrs[0];
  if (axis < 0 || axis >= x.rank) return refuse(rule::axis_in_range, 0);
  if (is_packed(x.element) && (axis != 0 || x.rank < 2)) return refuse(rule::packed_axis, 0);
  if (x.rank - 1 + idx.rank > max_rank) return refuse(rule::rank_limit);
  tensor_type r;
  r.element = x.element;
  for (int i = 0; i < axis; ++i) r.extents[r.rank++] = x.extents[i];
  for (int i = 0; i < idx.rank; ++i) r.extents[r.rank++] = idx.extents[i];
  for (int i = static_cast<int>(axis) + 1; i < x.rank; ++i) r.extents[r.rank++] = x.extents[i];
  return {r};
}

/// attrs: start[rank], size[rank] (codes of extents), step[rank]
constexpr typing type_slice(view<int64> at, view<tensor_type> in) {
  const tensor_type& x = in[0];
  if (at.size() != size_t{3} * x.rank) return refuse(rule::attribute_count);
  tensor_type r = x;
  for (int i = 0; i < x.rank; ++i) {
    const int64 start = at[i], step = at[2 * x.rank + i];
    const extent size = extent::from_code(at[x.rank + i]);
    if (step < 1 || start < 0) return refuse(rule::slice_step);
    if (x.extents[i].is_dynamic()) {
      if (size != x.extents[i] || start != 0 || step != 1) return refuse(rule::slice_dynamic, 0);
    } else if (size.bound() == 0 ? start > x.extents[i].code
                                 : start >= x.extents[i].code ||
                                       (size.bound() > 1 && step > (x.extents[i].code - 1 - start) / (size.bound() - 1))) {
      return refuse(rule::slice_range, 0);
    }
    r.extents[i] = size;
  }
  return {r};
}

constexpr typing type_concat(view<int64> attrs, view<tensor_type> in) {
  tensor_type r = in[0];
  const int64 axis = attrs.empty() ? -1 : attrs[0];
  if (axis < 0 || axis >= r.rank) return refuse(rule::axis_in_range, 0);
  for (size_t k = 1; k < in.size(); ++k) {
    const tensor_type& x = in[k];
    if (x.element != r.element) return refuse(rule::same_dtype, static_cast<int>(k));
    if (x.rank != r.rank) return refuse(rule::concat_extents, static_cast<int>(k));
    for (int i = 0; i < r.rank; ++i) {
      if (i != axis && x.extents[i] != r.extents[i]) return refuse(rule::concat_extents, static_cast<int>(k));
      if (i == axis && (x.extents[i].is_dynamic() || r.extents[i].is_dynamic()))
        return refuse(rule::concat_dynamic, static_cast<int>(k));
    }
    r.extents[axis].code += x.extents[axis].code;
  }
  return {r};
}

constexpr typing type_transpose(view<int64> perm, view<tensor_type> in) {
  const tensor_type& x = in[0];
  if (perm.size() != x.rank) return refuse(rule::permutation);
  tensor_type r = x;
  bool seen[max_rank]{};
  for (int i = 0; i < x.rank; ++i) {
    if (perm[i] < 0 || perm[i] >= x.rank || seen[perm[i]]) return refuse(rule::permutation);
    seen[perm[i]] = true;
    r.extents[i] = x.extents[perm[i]];
  }
  return {r};
}

constexpr typing type_update(view<tensor_type> in) {
  const tensor_type &x = in[0], &update = in[1], &start = in[2];
  if (update.element != x.element) return refuse(rule::same_dtype, 1);
  if (update.rank != x.rank) return refuse(rule::update_extents, 1);
  for (int i = 0; i < x.rank; ++i)
    if (x.extents[i] != update.extents[i] && (x.extents[i].is_dynamic() || update.extents[i].bound() > x.extents[i].code))
      return refuse(rule::update_extents, 1);
  if (start.element != dtype::i32) return refuse(rule::start_is_i32, 2);
  if (start.rank != 1 || start.extents[0] != extent(x.rank)) return refuse(rule::start_extent, 2);
  return {x};
}

constexpr typing type_pointwise(op o, view<tensor_type> in, dtype declared) {
  if (o == op::cast) {
    if (is_packed(declared) || (is_packed(in[0].element) && !is_float(declared))) return refuse(rule::packed_cast, 0);
    return {in[0].with(declared)};
  }
  tensor_type r = in[0];
  if (o == op::custom && r.element == dtype::f64) return refuse(rule::operand_dtype, 0);
  if (o == op::select) {
    if (in[0].element != dtype::i32) return refuse(rule::condition_is_i32, 0);
    if (!accepts(dtypes::unpacked, in[1].element)) return refuse(rule::operand_dtype, 1);
    r.element = in[1].element;
    if (in[2].element != in[1].element) return refuse(rule::same_dtype, 2);
  }
  for (size_t k = 1; k < in.size(); ++k) {
    if (in[k].element != r.element) return refuse(rule::same_dtype, static_cast<int>(k));
    if (!broadcast_into(r, in[k])) return refuse(rule::broadcast_extents, static_cast<int>(k));
  }
  return {is_comparison(o) ? r.with(dtype::i32) : r};
}

/// attrs: axis; of all_reduce_sum none
constexpr typing type_collective(op o, view<int64> at, const tensor_type& x, const tensor_type& declared) {
  if (at.size() != (o == op::all_reduce_sum ? 0 : 1)) return refuse(rule::attribute_count);
  if (x.is_dynamic()) return refuse(rule::collective_dynamic, 0);
  if (o == op::all_reduce_sum) return {x};
  if (at[0] < 0 || at[0] >= x.rank) return refuse(rule::axis_in_range, 0);
  const auto axis = static_cast<int>(at[0]);
  const bool gathers = o == op::all_gather;
  const extent whole = (gathers ? declared : x).extents[axis], part = (gathers ? x : declared).extents[axis];
  if (declared.rank != x.rank || declared.extents[axis].is_dynamic() || part.code < 1 || whole.code < 1 || whole.code % part.code)
    return refuse(gathers ? rule::gathered_extent : rule::scattered_extent, 0);
  return {x.with(axis, declared.extents[axis])};
}

constexpr bool has_negative(const tensor_type& t) {
  for (int i = 0; i < t.rank; ++i)
    if (t.extents[i].is_negative()) return true;
  return false;
}

constexpr typing type_leaf(op o, view<int64> attrs, view<tensor_type> in, const tensor_type& declared) {
  if (has_negative(declared)) return refuse(rule::negative_extent);
  if (is_packed(declared.element)) {
    if (declared.rank == 0 || declared.last().is_dynamic() || declared.last().code % row(declared.element).block_elements)
      return refuse(rule::packed_block);
  }
  switch (o) {
    case op::constant:
      if (attrs.size() != 1 && (declared.is_dynamic() || attrs.size() != static_cast<size_t>(declared.element_count())))
        return refuse(rule::constant_count);
      break;
    case op::iota:
      if (attrs.empty() || attrs[0] < 0 || attrs[0] >= declared.rank) return refuse(rule::axis_in_range);
      break;
    case op::random_uniform:
      for (int k = 0; k < 2; ++k)
        if (in[k].element != dtype::u32 || in[k].rank != 0) return refuse(rule::seed_is_u32_scalar, k);
      if (declared.element != dtype::f32) return refuse(rule::random_is_f32);
      break;
    default: break;
  }
  return {declared};
}

}  // namespace detail

/// The type of `o` over operands `in` with attributes `attrs`. `declared` supplies what the operands do not decide:
/// the element type of casts and contractions, the extents of broadcast and reshape, the extent along the axis of all_gather and
/// reduce_scatter, the whole type of a leaf.
constexpr typing infer(op o, view<int64> attrs, view<tensor_type> in, const tensor_type& declared) {
  using namespace detail;
  const op_row& r = row(o);
  if (r.arity >= 0 ? in.size() != static_cast<size_t>(r.arity) : in.empty()) return refuse(rule::operand_count);
  if (!in.empty() && o != op::select && !accepts(r.accepts, in[0].element)) return refuse(rule::operand_dtype, 0);
  switch (r.kind) {
    case op_class::leaf:
      if (o != op::random_uniform && !accepts(r.accepts, declared.element)) return refuse(rule::operand_dtype);
      return type_leaf(o, attrs, in, declared);
    case op_class::pointwise: return type_pointwise(o, in, declared.element);
    case op_class::reduction: {
      if (attrs.empty() || attrs[0] < 0 || attrs[0] >= in[0].rank) return refuse(rule::axis_in_range, 0);
      const int axis = static_cast<int>(attrs[0]);
      if (o == op::reduce_argmax && in[0].extents[axis] == extent(0)) return refuse(rule::argmax_of_nothing, 0);
      const tensor_type kept = in[0].with(axis, extent(1));
      return {o == op::reduce_argmax ? kept.with(dtype::i32) : kept};
    }
    case op_class::collective: return type_collective(o, attrs, in[0], declared);
    default: break;
  }
  switch (o) {
    case op::matmul: return type_matmul(attrs, in, declared.element);
    case op::indexed_matmul: return type_indexed(in, declared.element);
    case op::packed_contraction:
      if (in.size() < 2 || in.size() > 3) return refuse(rule::operand_count);
      return in.size() == 3 ? type_indexed(in, declared.element) : type_matmul(attrs, in, declared.element);
    case op::conv2d: return type_conv2d(attrs, in, declared.element);
    case op::rope: return type_rope(attrs, in);
    case op::attention: return type_attention(attrs, in, declared.element);
    case op::attention_parts: return type_attention_parts(attrs, in);
    case op::attention_join: return type_attention_join(in, declared.element);
    case op::gather: return type_gather(attrs, in);
    case op::packed_gather: {  // decodes the rows when the declared element is a float
      typing t = type_gather(attrs, in);
      if (t.ok() && is_float(declared.element)) t.type.element = declared.element;
      return t;
    }
    case op::slice: return type_slice(attrs, in);
    case op::concat: return type_concat(attrs, in);
    case op::transpose: return type_transpose(attrs, in);
    case op::dynamic_update_slice: return type_update(in);
    case op::broadcast: {
      tensor_type target = declared.with(in[0].element);
      if (has_negative(declared)) return refuse(rule::negative_extent);
      if (!broadcast_into(target, in[0]) || !target.same_extents(declared)) return refuse(rule::broadcast_target, 0);
      return {target};
    }
    default:  // reshape
      if (has_negative(declared)) return refuse(rule::negative_extent);
      if (!same_element_count(in[0], declared)) return refuse(rule::reshape_count, 0);
      return {declared.with(in[0].element)};
  }
}

}  // namespace poot::ir
