#pragma once
/// Attention as a chain of primitives, with grouped heads and a causal mask by positions.

#include <poot/dsl/contraction.hpp>
#include <poot/dsl/movement.hpp>
#include <poot/dsl/requirement.hpp>
#include <poot/nn/activation.hpp>
#include <poot/nn/rope.hpp>
#include <poot/nn/softmax.hpp>

#include <limits>

namespace poot::nn {

namespace detail {
template <fixed_text Call, class Width>
struct splits_last {
  static constexpr std::string_view call = Call.view();
  [[no_unique_address]] Width width;
  constexpr dsl::breach operator()(const tensor_type* in) const {
    const int64 w = width;
    if (in[0].last().is_dynamic()) return {"the last extent must be a number, not dynamic", 0};
    if (w < 1 || in[0].last().code % w) return {"the width of a head must be a number that divides the last extent", 0};
    return {};
  }
};
struct joins_heads {
  static constexpr std::string_view call = "join_heads";
  constexpr dsl::breach operator()(const tensor_type* in) const {
    if (in[0].extents[0].is_dynamic() || in[0].last().is_dynamic()) return {"heads and their width must be numbers, not dynamic", 0};
    return {};
  }
};
/// H query heads over KV.
template <class Heads>
struct repeats_heads {
  static constexpr std::string_view call = "repeat_heads";
  [[no_unique_address]] Heads heads;
  constexpr dsl::breach operator()(const tensor_type* in) const {
    const int64 h = heads;
    if (in[0].rank < 1 || in[0].rank == max_rank) return {"the operand needs heads as its first axis, and at most 5 axes", 0};
    const extent kv = in[0].extents[0];
    if (kv.is_dynamic() || kv.code < 1 || h < 1 || h % kv.code)
      return {"the number of heads asked for must be a multiple of that of the operand, both numbers and at least 1", 0};
    return {};
  }
};
template <fixed_text Call>
struct scales_scores {  // of q[H,…,D], k[KV,…], v[KV,…]
  static constexpr std::string_view call = Call.view();
  constexpr dsl::breach operator()(const tensor_type* in) const {
    const extent heads = in[0].extents[0];
    if (in[0].last().is_dynamic()) return {"the width of a head must be a number, not dynamic: scores are divided by its root (attend takes a scale)", 0};
    if (in[0].last().code < 1) return {"the width of a head must be at least 1: scores are divided by its root", 0};
    if (heads.is_dynamic() || heads.code < 1) return {"the heads of q must be a number, at least 1", 0};
    for (int k = 1; k < 3; ++k)
      if (in[k].extents[0].is_dynamic() || in[k].extents[0].code < 1 || heads.code % in[k].extents[0].code)
        return {"the heads of q must be a multiple of those of k and of v", k};
    return {};
  }
};
template <class Width>
struct split_heads {  // [T, heads·W] to [T, heads, W]
  [[no_unique_address]] Width width;
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const {
    const int64 w = width;
    a.declared = type_of(in[0].element, in[0].extents[0], in[0].last().code / w, w);
  }
};
struct over_heads {  // [T, P] to [T, 1, P]
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const {
    a.declared = type_of(in[0].element, in[0].extents[0], 1, in[0].last());
  }
};
struct join_heads {  // [T, heads, W] to [T, heads·W]
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const {
    a.declared = type_of(in[0].element, in[0].extents[0], in[0].extents[1].code * in[0].extents[2].code);
  }
};
struct add_group_axis {  // [KV, …, L, D] to [KV, 1, …, L, D]
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const {
    a.declared = in[0];
    ++a.declared.rank;
    a.declared.extents[1] = extent(1);
    for (int i = 1; i < in[0].rank; ++i) a.declared.extents[i + 1] = in[0].extents[i];
  }
};
template <class Heads>
struct spread_group {  // [KV, 1, …, L, D] to [KV, H/KV, …, L, D]
  [[no_unique_address]] Heads heads;
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const {
    a.declared = in[0].with(1, extent(static_cast<int64>(heads) / in[0].extents[0].code));
  }
};
struct merge_group {  // [KV, H/KV, …, L, D] to [H, …, L, D]
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const {
    a.declared = in[0];
    --a.declared.rank;
    a.declared.extents[0] = extent(in[0].extents[0].code * in[0].extents[1].code);
    for (int i = 1; i < a.declared.rank; ++i) a.declared.extents[i] = in[0].extents[i + 1];
  }
};
struct with_last_of_ones {  // [H] to [H,1,1]
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const { a.declared = type_of(in[0].element, in[0].extents[0], 1, 1); }
};
struct keys_of {  // i32[L] for keys [..., L, D]
  constexpr tensor_type operator()(const tensor_type& t) const { return type_of(dtype::i32, t.rank < 2 ? t.last() : t.extents[t.rank - 2]); }
};
/// 1/sqrt(D), rounded once to the element type: the nearest number whose square is nearest to 1/D, found by bisection.
struct reciprocal_root_of_last {
  constexpr uint64 operator()(const tensor_type& t) const {
    const double d = static_cast<double>(t.last().code);
    double low = 0, high = 1;
    for (int i = 0; i < 80; ++i) {
      const double middle = (low + high) / 2;
      (middle * middle * d < 1 ? low : high) = middle;
    }
    return dsl::encode(t.element, high).bits;
  }
};
}  // namespace detail

/// x[T, heads·W] as [T, heads, W].
template <dsl::handle X, class Width>
  requires dsl::is_index<Width>
constexpr auto heads_of(X x, Width width) {
  const auto checked = dsl::obeying(detail::splits_last<"heads_of", Width>{width}, x);
  return dsl::apply<ir::op::reshape>(detail::split_heads<Width>{width}, checked);
}
/// x[T, heads·W] as [heads, T, W].
template <dsl::handle X, class Width>
  requires dsl::is_index<Width>
constexpr auto split_heads(X x, Width width) {
  const auto checked = dsl::obeying(detail::splits_last<"split_heads", Width>{width}, x);
  return dsl::transpose<1, 0, 2>(dsl::apply<ir::op::reshape>(detail::split_heads<Width>{width}, checked));
}
/// x[heads, T, W] as [T, heads·W].
template <dsl::handle X>
constexpr auto join_heads(X x) {
  const auto checked = dsl::obeying(detail::joins_heads{}, x);
  return dsl::apply<ir::op::reshape>(detail::join_heads{}, dsl::transpose<1, 0, 2>(checked));
}
/// k[KV,…,L,D] for H query heads, a multiple of KV: head h reads k[h / (H/KV)].
template <dsl::handle K, class Heads>
  requires dsl::is_index<Heads>
constexpr auto repeat_heads(K k, Heads heads) {
  const auto checked = dsl::obeying(detail::repeats_heads<Heads>{heads}, k);
  const auto grouped = dsl::apply<ir::op::reshape>(detail::add_group_axis{}, checked);
  return dsl::apply<ir::op::reshape>(detail::merge_group{},
                                     dsl::apply<ir::op::broadcast>(detail::spread_group<Heads>{heads}, grouped));
}

/// Which keys queries see, i32[T,L], for keys i32[L] and the positions i32[T] of the queries: key j from positions ≥ j.
template <dsl::handle Keys, dsl::handle Positions>
constexpr auto causal(Keys keys, Positions positions) {
  return keys <= dsl::apply<ir::op::reshape>(detail::with_last_of_one{}, positions);
}
/// The same within a sliding window: `window` keys, the query's own among them.
template <dsl::handle Keys, dsl::handle Positions, dsl::operand Window>
constexpr auto causal(Keys keys, Positions positions, Window window) {
  const auto column = dsl::apply<ir::op::reshape>(detail::with_last_of_one{}, positions);
  return (keys <= column) & (keys > column - window);
}

/// softmax(q·kᵀ · scale)·v over the keys that are seen: q[…,T,D], k[…,L,D], v[…,L,W], seen i32[T,L]; […,T,W].
template <dsl::handle Q, dsl::handle K, dsl::handle V, dsl::handle Seen, dsl::operand Scale>
constexpr auto attend(Q q, K k, V v, Seen seen, Scale scale) {
  const auto scores = dsl::matmul_t(q, k) * scale;  // […,T,L]
  return dsl::matmul(softmax(dsl::select(seen, scores, number<-std::numeric_limits<double>::infinity()>)), v);
}
/// The same with scores within ±cap.
template <dsl::handle Q, dsl::handle K, dsl::handle V, dsl::handle Seen, dsl::operand Scale, dsl::operand Cap>
constexpr auto attend(Q q, K k, V v, Seen seen, Scale scale, Cap cap) {
  const auto scores = softcap(dsl::matmul_t(q, k) * scale, cap);  // […,T,L]
  return dsl::matmul(softmax(dsl::select(seen, scores, number<-std::numeric_limits<double>::infinity()>)), v);
}

/// attend with a score of each head that has no value, sinks[H] for q[H,T,D], in any float type: a query may weigh all values
/// little. Learned sinks: GPT-OSS.
template <dsl::handle Q, dsl::handle K, dsl::handle V, dsl::handle Seen, dsl::operand Scale, dsl::handle Sinks>
constexpr auto attend_with_sinks(Q q, K k, V v, Seen seen, Scale scale, Sinks sinks) {
  const auto scores = dsl::select(seen, dsl::matmul_t(q, k) * scale, number<-std::numeric_limits<double>::infinity()>);
  const auto sink = dsl::cast_like(dsl::apply<ir::op::reshape>(detail::with_last_of_ones{}, sinks), q);  // [H,1,1]
  return dsl::matmul(softmax_with_sink(scores, sink), v);
}

/// q[H,T,D], k and v [KV,L,D], positions i32[T] of the queries: key j is seen from positions ≥ j. H is a multiple of KV; both
/// and D are numbers. Keys and values may be narrower than the queries; the result is [H,T,D] in the queries' element type.
template <dsl::handle Q, dsl::handle K, dsl::handle V, dsl::handle Positions>
constexpr auto attention(Q q, K k, V v, Positions positions) {
  const auto query = dsl::obeying(detail::scales_scores<"attention">{}, q, k, v);
  const auto heads = dsl::extent_of<0>(query);
  const auto keys = repeat_heads(dsl::cast_like(k, query), heads);
  const auto values = repeat_heads(dsl::cast_like(v, query), heads);
  const auto seen = causal(dsl::iota_from<detail::keys_of>(keys), positions);
  return attend(query, keys, values, seen, dsl::literal_from<detail::reciprocal_root_of_last>(query));
}
/// The same with sinks[H].
template <dsl::handle Q, dsl::handle K, dsl::handle V, dsl::handle Positions, dsl::handle Sinks>
constexpr auto attention(Q q, K k, V v, Positions positions, Sinks sinks) {
  const auto query = dsl::obeying(detail::scales_scores<"attention">{}, q, k, v);
  const auto heads = dsl::extent_of<0>(query);
  const auto keys = repeat_heads(dsl::cast_like(k, query), heads);
  const auto values = repeat_heads(dsl::cast_like(v, query), heads);
  const auto seen = causal(dsl::iota_from<detail::keys_of>(keys), positions);
  return attend_with_sinks(query, keys, values, seen, dsl::literal_from<detail::reciprocal_root_of_last>(query), sinks);
}

}  // namespace poot::nn
