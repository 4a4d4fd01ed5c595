#pragma once
/// The interpreter's recognised chains, as numerics.md defines them.

#include <poot/ir/attention_memory.hpp>
#include <poot/ir/detail/interpret_contraction.hpp>

namespace poot::ir::detail {

/// x[…, D] with pairs of its first at[0] elements turned; every step rounds to the element type.
constexpr void rope(view<int64> at, const tensor& x, const tensor& cos, const tensor& sin, tensor& result) {
  result.bits = x.bits;
  const dtype t = x.type.element;
  const int64 last = x.type.last().code, width = at[0], half = width / 2, entries = cos.type.last().code;
  const bool adjacent = at[1] != 0, has_signs = at[2] != 0;
  const tensor_type stretched = x.type.with(x.type.rank - 1, cos.type.last());
  vec<uint64> c(static_cast<size_t>(stretched.element_count())), s(c.size());
  copy_broadcast(cos, stretched, c.data());
  copy_broadcast(sin, stretched, s.data());
  for (int64 row = 0, rows = last ? x.type.element_count() / last : 0; row < rows; ++row)
    for (int64 i = 0; i < width; ++i) {
      const bool second = adjacent ? i % 2 != 0 : i >= half;
      const int64 partner = adjacent ? i ^ 1 : second ? i - half : i + half, pair = adjacent ? i / 2 : i % half;
      const auto table = static_cast<size_t>(row * entries + (entries == width ? i : pair));
      const uint64 kept = evaluate(op::mul, t, t, x.bits[static_cast<size_t>(row * last + i)], c[table]);
      const uint64 other = evaluate(op::mul, t, t, x.bits[static_cast<size_t>(row * last + partner)], s[table]);
      result.bits[static_cast<size_t>(row * last + i)] = evaluate(second || has_signs ? op::add : op::sub, t, t, kept, other);
    }
}

/// Joins the parts of a row's chunks (o[E], m, l, how many keys; attention_memory.hpp) upwards. `sink`: none, or a score without a value.
template <class Float>
constexpr void join_parts(order o, const Float* parts, int64 chunks, int64 columns, const Float* sink, dtype t, uint64* to) {
  const int64 stride = columns + attention_part_numbers;
  if (ieee::equal(parts[columns + 2], Float(0))) {  // no key: as a contraction over nothing
    for (int64 c = 0; c < columns; ++c) to[c] = store_float(t, Float(0));
    return;
  }
  const auto multiply_add = [&](Float a, Float b, Float sum) { return o.fused ? ieee::fma(a, b, sum) : ieee::add(sum, ieee::mul(a, b)); };
  Float most = ieee::infinity_like(Float(-1));
  for (int64 i = 0; i < chunks; ++i) most = float_value<op::max>(most, parts[i * stride + columns]);
  if (sink) most = float_value<op::max>(most, *sink);
  Float sum = 0;
  vec<Float> all(static_cast<size_t>(columns), 0);
  for (int64 i = 0; i < chunks; ++i) {
    const Float* const part = parts + i * stride;
    const Float weight = float_value<op::exp>(ieee::sub(part[columns], most), Float(0));
    sum = multiply_add(weight, part[columns + 1], sum);
    for (int64 c = 0; c < columns; ++c) all[static_cast<size_t>(c)] = multiply_add(weight, part[c], all[static_cast<size_t>(c)]);
  }
  if (sink) sum = ieee::add(sum, float_value<op::exp>(ieee::sub(*sink, most), Float(0)));
  for (int64 c = 0; c < columns; ++c) to[c] = store_float(t, ieee::div(ieee::add(Float(0), all[static_cast<size_t>(c)]), sum));
}

/// The sinks of the rows of a result of type `rows`.
template <class Float>
constexpr vec<Float> sinks_of(const tensor_type& rows, const tensor& sink) {
  tensor all(rows.with(rows.rank - 1, extent(1)).with(sink.type.element));
  copy_broadcast(sink, all.type, all.bits.data());
  return values_of<Float>(all);
}

/// q[…,L,D], k[…,S,D], v[…,S,E], masks that broadcast into […,L,S] → rows of […,L,E], or the parts of their chunks.
template <class Float>
class attention_rows {
 public:
  constexpr attention_rows(order o, int64 scale, int64 softcap, view<const tensor*> in)
      : o_(o), q_(values_of<Float>(*in[0])), k_(values_of<Float>(*in[1])), v_(values_of<Float>(*in[2])),
        keys_(in[1]->type.extents[in[1]->type.rank - 2].code), width_(in[0]->type.last().code), columns_(in[2]->type.last().code),
        scale_(widened(scale)), softcap_(widened(softcap)), capped_(softcap != 0), product_(o, width_), lanes_(row_order.lanes) {
    const tensor_type& q = in[0]->type;
    const tensor_type scores = q.with(q.rank - 1, extent(keys_));
    for (size_t i = 3; i < in.size(); ++i) {
      const bool chooses = in[i]->type.element == dtype::i32;
      vec<uint64>& to = chooses ? chosen_ : added_;
      to.resize(static_cast<size_t>(scores.element_count()));
      copy_broadcast(*in[i], scores, to.data());
      if (!chooses) added_type_ = in[i]->type.element;
    }
  }

  /// The parts of row `row` of the queries, over entry `shared` of the keys and values: chunk upon chunk.
  constexpr const vec<Float>& parts(int64 row, int64 shared, int64 chunks) {
    parts_.resize(static_cast<size_t>(chunks * (columns_ + attention_part_numbers)));
    for (int64 i = 0; i < chunks; ++i) {
      const int64 first = i * attention_chunk, left = keys_ - first;
      chunk(row, shared, first, left < 0 ? 0 : left < attention_chunk ? left : attention_chunk, parts_.data() + i * (columns_ + attention_part_numbers));
    }
    return parts_;
  }

  /// The softmax of a whole row, and then the values, as the chain has it.
  constexpr void run_whole(int64 row, int64 shared, dtype t, uint64* to) {
    if (keys_ == 0) {
      for (int64 c = 0; c < columns_; ++c) to[c] = store_float(t, Float(0));
      return;
    }
    vec<Float> p(static_cast<size_t>(keys_)), column(p.size());
    Float m = less_than_all();
    for (int64 j = 0; j < keys_; ++j) {
      p[static_cast<size_t>(j)] = score(row, shared, j);
      m = float_value<op::max>(m, p[static_cast<size_t>(j)]);
    }
    for (Float& x : p) x = float_value<op::exp>(ieee::sub(x, m), Float(0));
    const Float sum = sum_in_order<Float>(row_order, keys_, lanes_, [&](Float partial, int64 j) { return ieee::add(partial, p[static_cast<size_t>(j)]); });
    for (Float& x : p) x = ieee::div(x, sum);
    dot<Float> weighted(o_, keys_);
    for (int64 c = 0; c < columns_; ++c) {
      for (int64 j = 0; j < keys_; ++j) column[static_cast<size_t>(j)] = v_[static_cast<size_t>((shared * keys_ + j) * columns_ + c)];
      to[c] = store_float(t, weighted(p.data(), column.data()));
    }
  }

 private:
  static constexpr Float widened(int64 f32_bits) { return load_float<float>(dtype::f32, static_cast<uint64>(f32_bits)); }
  static constexpr Float less_than_all() { return ieee::infinity_like(Float(-1)); }
  constexpr Float multiply_add(Float a, Float b, Float sum) const {
    return o_.fused ? ieee::fma(a, b, sum) : ieee::add(sum, ieee::mul(a, b));
  }

  constexpr Float score(int64 row, int64 shared, int64 key) {
    Float s = ieee::mul(product_(q_.data() + row * width_, k_.data() + (shared * keys_ + key) * width_), scale_);
    if (capped_) s = ieee::mul(softcap_, float_value<op::tanh>(ieee::div(s, softcap_), Float(0)));
    const auto at = static_cast<size_t>(row * keys_ + key);
    if (!added_.empty()) s = ieee::add(s, load_float<Float>(added_type_, added_[at]));
    if (!chosen_.empty() && (chosen_[at] & 0xffffffffu) == 0) s = less_than_all();
    return s;
  }

  /// o[E], m, l and how many keys there are, of `count` keys from `first` on.
  constexpr void chunk(int64 row, int64 shared, int64 first, int64 count, Float* part) {
    vec<Float> p(static_cast<size_t>(count));
    Float m = less_than_all();
    for (int64 j = 0; j < count; ++j) {
      p[static_cast<size_t>(j)] = score(row, shared, first + j);
      m = float_value<op::max>(m, p[static_cast<size_t>(j)]);
    }
    for (Float& x : p) x = ieee::equal(m, less_than_all()) ? Float(0) : float_value<op::exp>(ieee::sub(x, m), Float(0));
    part[columns_] = m;
    part[columns_ + 1] = sum_in_order<Float>(row_order, count, lanes_, [&](Float sum, int64 j) {
      return ieee::add(sum, p[static_cast<size_t>(j)]);
    });
    for (int64 c = 0; c < columns_; ++c) {
      Float sum = 0;
      for (int64 j = 0; j < count; ++j)
        sum = multiply_add(p[static_cast<size_t>(j)], v_[static_cast<size_t>((shared * keys_ + first + j) * columns_ + c)], sum);
      part[c] = ieee::add(Float(0), sum);
    }
    part[columns_ + 2] = static_cast<Float>(count);
  }

  order o_;
  vec<Float> q_, k_, v_;
  int64 keys_, width_, columns_;
  Float scale_, softcap_;
  bool capped_;
  dot<Float> product_;
  vec<Float> lanes_, parts_;    // [chunks, E + 3]
  vec<uint64> added_, chosen_;  // [rows, S]
  dtype added_type_ = dtype::f32;
};

/// Calls row(r, shared) for each row of the queries, with the entry of the keys and values that it reads.
template <class Row>
constexpr void each_query(const tensor_type& q, const tensor_type& k, Row run) {
  const int64 queries = q.extents[q.rank - 2].code, count = q.with(q.rank - 1, extent(1)).element_count();
  for (int64 row = 0; row < count; ++row) {
    int64 rest = row / queries, shared = 0, stride = 1;
    for (int i = k.rank - 2; i-- > 0;) {  // entry i of q's extent reads entry i / (q's / k's) of k's
      const int64 heads = q.extents[i + q.rank - k.rank].code;
      shared += rest % heads / (heads / k.extents[i].code) * stride;
      stride *= k.extents[i].code;
      rest /= heads;
    }
    run(row, shared);
  }
}

template <class Float>
constexpr void attention(order o, view<int64> at, view<const tensor*> in, tensor& result) {
  if (result.bits.empty()) return;
  const size_t masks_end = in.size() - static_cast<size_t>(at[2]);
  const tensor_type &q = in[0]->type, &k = in[1]->type;
  attention_rows<Float> rows(o, at[0], at[1], in.subview(0, masks_end));
  vec<Float> sinks;
  if (at[2]) sinks = sinks_of<Float>(result.type, *in[masks_end]);
  const int64 columns = result.type.last().code, chunks = attention_chunks(k.extents[k.rank - 2]);
  each_query(q, k, [&](int64 row, int64 shared) {
    uint64* const to = result.bits.data() + row * columns;
    if (at[3]) return rows.run_whole(row, shared, result.type.element, to);
    const Float* const sink = sinks.empty() ? nullptr : sinks.data() + row;
    join_parts(o, rows.parts(row, shared, chunks).data(), chunks, columns, sink, result.type.element, to);
  });
}

template <class Float>
constexpr void attention_parts(order o, view<int64> at, view<const tensor*> in, tensor& result) {
  if (result.bits.empty()) return;
  attention_rows<Float> rows(o, at[0], at[1], in);
  uint64* to = result.bits.data();
  each_query(in[0]->type, in[1]->type, [&](int64 row, int64 shared) {
    for (Float x : rows.parts(row, shared, result.type.extents[result.type.rank - 2].code)) *to++ = store_float(result.type.element, x);
  });
}

template <class Float>
constexpr void attention_join(order o, view<const tensor*> in, tensor& result) {
  if (result.bits.empty()) return;
  const tensor_type& parts = in[0]->type;
  const vec<Float> values = values_of<Float>(*in[0]);
  vec<Float> sinks;
  if (in.size() > 1) sinks = sinks_of<Float>(result.type, *in[1]);
  const int64 columns = result.type.last().code, chunks = parts.extents[parts.rank - 2].code;
  for (int64 row = 0, count = result.type.element_count() / columns; row < count; ++row)
    join_parts(o, values.data() + row * chunks * parts.last().code, chunks, columns, sinks.empty() ? nullptr : sinks.data() + row, result.type.element,
               result.bits.data() + row * columns);
}

template <class Float>
constexpr void attend(op kind, order o, view<int64> at, view<const tensor*> in, tensor& result) {
  if (kind == op::attention) attention<Float>(o, at, in, result);
  else if (kind == op::attention_parts) attention_parts<Float>(o, at, in, result);
  else attention_join<Float>(o, in, result);
}

}  // namespace poot::ir::detail
