#pragma once
/// Rotary positions: pairs of a head's elements turn by an angle that grows with the position. Pair i of D/2 turns by
/// position · base^(−2i/D).

#include <poot/dsl/movement.hpp>
#include <poot/dsl/results.hpp>

namespace poot::nn {

namespace detail {
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
    a.declared = in[0];
    if (in[0].rank < max_rank) a.declared.extents[a.declared.rank++] = extent(1);
  }
};
template <bool Second>
struct half {  // [..., D] to [..., D/2]
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const {
    const int64 width = in[0].last().code / 2;
    dsl::write_slice(a, in[0], in[0].rank - 1, Second ? width : 0, width, 1);
  }
};
template <bool Second>
struct every_other {  // [..., D] to [..., D/2]
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const {
    dsl::write_slice(a, in[0], in[0].rank - 1, Second, in[0].last().code / 2, 2);
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
}  // namespace detail

/// How elements form pairs: element i with i + D/2 (Hugging Face's rotary order), or 2i with 2i + 1 (GGUF llama).
enum class rope_pairs : uint8 { halves, adjacent };

/// cos and sin of every position and pair, f32[T,D/2], for positions i32[T] and heads as wide as those of x[…,D] (f32).
template <dsl::handle Positions, dsl::handle X, dsl::operand Base = dsl::number_<10000>>
constexpr auto rope_tables(Positions positions, X x, Base base = {}) {
  const auto exponent = dsl::cast<f32>(dsl::iota_from<detail::half_of_last>(x)) * dsl::literal_from<detail::minus_two_by_last>(x);  // [D/2]
  const auto turns = dsl::pow(base, exponent);
  const auto angle = dsl::apply<ir::op::reshape>(detail::with_last_of_one{}, dsl::cast<f32>(positions)) * turns;  // [T,D/2]
  return results{dsl::cos(angle), dsl::sin(angle)};
}

/// x[…,T,D] turned by the tables cos and sin, [T,D/2].
template <rope_pairs Pairs = rope_pairs::halves, dsl::handle X, dsl::handle Cos, dsl::handle Sin>
constexpr auto rope(X x, Cos cos, Sin sin) {
  if constexpr (Pairs == rope_pairs::halves) {
    const auto a = dsl::apply<ir::op::slice>(detail::half<false>{}, x);
    const auto b = dsl::apply<ir::op::slice>(detail::half<true>{}, x);
    return dsl::concat<-1>(a * cos - b * sin, b * cos + a * sin);
  } else {
    const auto a = dsl::apply<ir::op::slice>(detail::every_other<false>{}, x);
    const auto b = dsl::apply<ir::op::slice>(detail::every_other<true>{}, x);
    const auto first = dsl::apply<ir::op::reshape>(detail::with_last_of_one{}, a * cos - b * sin);
    const auto second = dsl::apply<ir::op::reshape>(detail::with_last_of_one{}, b * cos + a * sin);
    return dsl::apply<ir::op::reshape>(detail::pairs_joined{}, dsl::concat<-1>(first, second));
  }
}

}  // namespace poot::nn
