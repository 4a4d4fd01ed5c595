#pragma once
/// Rotary positions: pairs of a head's elements turn by an angle that grows with the position. Pair i of D/2 turns by
/// position · base^(−2i/D).

#include <poot/dsl/movement.hpp>
#include <poot/dsl/requirement.hpp>
#include <poot/dsl/results.hpp>

namespace poot::nn {

namespace detail {
struct has_counted_last {
  static constexpr std::string_view call = "rope_frequencies";
  constexpr dsl::breach operator()(const tensor_type* in) const {
    if (in[0].last().is_dynamic()) return {"the last extent must be a number, not dynamic: frequencies are powers over it", 0};
    if (in[0].last().code < 2 || in[0].last().code % 2) return {"the last extent must be even, and two at least: a pair has a frequency", 0};
    return {};
  }
};
struct turns_pairs {  // of x[…,D], cos and sin [T,P]
  static constexpr std::string_view call = "rope";
  constexpr dsl::breach operator()(const tensor_type* in) const {
    for (int k = 0; k < 3; ++k)
      if (in[k].rank == 0 || in[k].last().is_dynamic()) return {"the operand needs a last axis, whose extent is a number, not dynamic", k};
    if (in[1].last() != in[2].last()) return {"cos and sin must be as wide as each other", 2};
    if (in[0].last().code / 2 < in[1].last().code) return {"the tables must be at most half as wide as x", 1};
    return {};
  }
};
struct half_of_last {  // i32[D/2]
  constexpr tensor_type operator()(const tensor_type& t) const { return type_of(dtype::i32, t.last().code / 2); }
};
struct minus_two_by_last {  // −2/D in f32
  constexpr uint64 operator()(const tensor_type& t) const {
    const uint64 bits = dsl::reciprocal_bits(t.element, t.last().code);
    return dsl::encode(t.element, -2.0 * f64_of(t.element, bits)).bits;  // a power of two changes no digit
  }
  static constexpr double f64_of(dtype t, uint64 bits) {
    return std::bit_cast<double>(convert_bits(format_of(t), binary64, bits));
  }
};
struct with_last_of_one {  // [T] to [T,1]
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const {
    if (in[0].rank == max_rank) return a.refuse(ir::rule::rank_limit, 0);
    a.declared = in[0];
    a.declared.extents[a.declared.rank++] = extent(1);
  }
};
template <int Which, class Pairs>
struct run_of_pairs {  // [..., D] to [..., P], or to what is left behind two of them
  [[no_unique_address]] Pairs pairs;
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const {
    const int64 width = pairs, start = Which * width;
    dsl::write_slice(a, in[0], in[0].rank - 1, start, Which < 2 ? width : in[0].last().code - start, 1);
  }
};
template <bool Second, class Pairs>
struct every_other {  // [..., D] to [..., P]
  [[no_unique_address]] Pairs pairs;
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const {
    dsl::write_slice(a, in[0], in[0].rank - 1, Second, pairs, 2);
  }
};
struct pairs_joined {  // [..., D/2, 2] to [..., D]
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const {
    a.declared = in[0];
    --a.declared.rank;
    extent& last = a.declared.extents[a.declared.rank - 1];
    last = extent(2 * last.code);
  }
};
template <dsl::handle Whole>
constexpr auto side_by_side(Whole whole) {
  return whole;
}
template <dsl::handle... Part>
  requires(sizeof...(Part) > 1)
constexpr auto side_by_side(Part... part) {
  return dsl::concat<-1>(part...);
}
/// `turned` side by side, and then the elements of x that do not turn, if there are any.
template <dsl::handle X, class Pairs, dsl::handle... Turned>
constexpr auto with_rest(X x, Pairs pairs, Turned... turned) {
  const run_of_pairs<2, Pairs> rest{pairs};
  if constexpr (dsl::run_time<X>) {
    if (x.type().last().code == 2 * pairs) return side_by_side(turned...);
    return side_by_side(turned..., dsl::apply<ir::op::slice>(rest, x));
  } else if constexpr (X::result.last().code == 2 * Pairs{}) {
    return side_by_side(turned...);
  } else {
    return side_by_side(turned..., dsl::apply<ir::op::slice>(rest, x));
  }
}
}  // namespace detail

/// How elements form pairs: element i with i + D/2 (Hugging Face's rotary order), or 2i with 2i + 1 (GGUF llama).
enum class rope_pairs : uint8 { halves, adjacent };

/// base^(−2i/D) of the D/2 pairs i, f32[D/2], of heads as wide as those of x[…,D] (f32). Scaled frequencies are products with it.
template <dsl::handle X, dsl::operand Base = dsl::number_<10000>>
constexpr auto rope_frequencies(X x, Base base = {}) {
  const auto checked = dsl::obeying(detail::has_counted_last{}, x);
  const auto exponent = dsl::cast<f32>(dsl::iota_from<detail::half_of_last>(checked)) * dsl::literal_from<detail::minus_two_by_last>(checked);  // [D/2]
  return dsl::pow(base, exponent);
}
/// cos and sin of every position and pair, f32[T,P], for positions i32[T] and frequencies f32[P].
template <dsl::handle Positions, dsl::handle Frequencies>
constexpr auto rope_tables_of(Positions positions, Frequencies frequencies) {
  const auto angle = dsl::apply<ir::op::reshape>(detail::with_last_of_one{}, dsl::cast<f32>(positions)) * frequencies;  // [T,P]
  return results{dsl::cos(angle), dsl::sin(angle)};
}
/// The same for heads as wide as those of x[…,D] (f32), whose pairs all turn: f32[T,D/2].
template <dsl::handle Positions, dsl::handle X, dsl::operand Base = dsl::number_<10000>>
constexpr auto rope_tables(Positions positions, X x, Base base = {}) {
  return rope_tables_of(positions, rope_frequencies(x, base));
}

/// x[…,T,D] turned by the tables cos and sin, [T,P] with 2P ≤ D: elements behind the first 2P stay.
template <rope_pairs Pairs = rope_pairs::halves, dsl::handle X, dsl::handle Cos, dsl::handle Sin>
constexpr auto rope(X x, Cos cos, Sin sin) {
  const auto turning = dsl::obeying(detail::turns_pairs{}, x, cos, sin);
  if constexpr (std::same_as<std::remove_const_t<decltype(turning)>, dsl::poison>) {
    return turning;
  } else {
    const auto pairs = dsl::extent_of<-1>(cos);
    using width = std::remove_const_t<decltype(pairs)>;
    if constexpr (Pairs == rope_pairs::halves) {
      const auto a = dsl::apply<ir::op::slice>(detail::run_of_pairs<0, width>{pairs}, turning);
      const auto b = dsl::apply<ir::op::slice>(detail::run_of_pairs<1, width>{pairs}, turning);
      return detail::with_rest(turning, pairs, a * cos - b * sin, b * cos + a * sin);
    } else {
      const auto a = dsl::apply<ir::op::slice>(detail::every_other<false, width>{pairs}, turning);
      const auto b = dsl::apply<ir::op::slice>(detail::every_other<true, width>{pairs}, turning);
      const auto first = dsl::apply<ir::op::reshape>(detail::with_last_of_one{}, a * cos - b * sin);
      const auto second = dsl::apply<ir::op::reshape>(detail::with_last_of_one{}, b * cos + a * sin);
      return detail::with_rest(turning, pairs, dsl::apply<ir::op::reshape>(detail::pairs_joined{}, dsl::concat<-1>(first, second)));
    }
  }
}

}  // namespace poot::nn
