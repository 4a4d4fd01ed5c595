#pragma once
/// Contractions. The result's element type is f32 where the first operand is f32, else the first operand's; or as stated:
/// `matmul<f32>(a, b)`. Sums accumulate in f32.

#include <poot/dsl/apply.hpp>

namespace poot::dsl {

template <bool Transposed, dtype... T>
struct matmul_rule {
  static_assert(sizeof...(T) <= 1, "poot: a contraction has one result");
  constexpr void operator()(attributes& a, const tensor_type* in) const {
    if (Transposed) a.add(1);
    a.declared.element = in[0].element;
    ((a.declared.element = T), ...);
  }
};

/// a[…,M,K] times b[…,K,N].
template <dtype... T, handle A, handle B>
constexpr auto matmul(A a, B b) {
  return apply<ir::op::matmul>(matmul_rule<false, T...>{}, a, b);
}
/// a[…,M,K] times w[…,N,K]: weights in checkpoint order, packed ones too.
template <dtype... T, handle A, handle W>
constexpr auto matmul_t(A a, W w) {
  return apply<ir::op::matmul>(matmul_rule<true, T...>{}, a, w);
}
/// Row t of x[T,K] times w[idx[t]], of w[E,N,K].
template <dtype... T, handle X, handle W, handle Idx>
constexpr auto indexed_matmul(X x, W w, Idx idx) {
  return apply<ir::op::indexed_matmul>(matmul_rule<false, T...>{}, x, w, idx);
}

struct conv_options {
  int64 stride[2]{1, 1};
  int64 pad[4]{0, 0, 0, 0};  ///< top, bottom, left, right
  int64 dilation[2]{1, 1};
  int64 groups = 1;
};
constexpr void write_conv(attributes& a, const conv_options& o, dtype t) {
  for (int64 s : o.stride) a.add(s);
  for (int64 p : o.pad) a.add(p);
  for (int64 d : o.dilation) a.add(d);
  a.add(o.groups);
  a.declared.element = t;
}
template <conv_options O>
struct conv_ {};
/// Options as a constant: `conv<{.stride = {2, 2}, .pad = {1, 1, 1, 1}}>`.
template <conv_options O = conv_options{}>
inline constexpr conv_<O> conv{};

template <conv_options O, dtype... T>
struct conv_rule {
  constexpr void operator()(attributes& a, const tensor_type* in) const {
    write_conv(a, O, in[0].element);
    ((a.declared.element = T), ...);
  }
};
struct conv_rule_run_time {
  conv_options options;
  constexpr void operator()(attributes& a, const tensor_type* in) const { write_conv(a, options, in[0].element); }
};
/// x[N,C,H,W] with w[O,C/groups,kh,kw].
template <dtype... T, handle X, handle W, conv_options O = conv_options{}>
constexpr auto conv2d(X x, W w, conv_<O> = {}) {
  return apply<ir::op::conv2d>(conv_rule<O, T...>{}, x, w);
}
template <run_time V>
constexpr V conv2d(V x, V w, const conv_options& options) {
  return apply<ir::op::conv2d>(conv_rule_run_time{options}, x, w);
}

}  // namespace poot::dsl

namespace poot {
using dsl::conv, dsl::conv2d, dsl::conv_options, dsl::indexed_matmul, dsl::matmul, dsl::matmul_t;
}  // namespace poot
