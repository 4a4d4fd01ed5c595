#pragma once
/// Sums and extremes along an axis; the axis stays, with extent 1.

#include <poot/dsl/derived.hpp>
#include <poot/dsl/pointwise.hpp>
#include <poot/dsl/requirement.hpp>

namespace poot::dsl {

template <int Axis>
struct along {
  constexpr void operator()(attributes& a, const tensor_type* in) const { a.add(axis_of(Axis, in[0])); }
};
struct along_run_time {
  int axis;
  constexpr void operator()(attributes& a, const tensor_type* in) const { a.add(axis_of(axis, in[0])); }
};

template <int Axis = -1, handle X>
constexpr auto sum(X x) {
  return apply<ir::op::reduce_sum>(along<Axis>{}, x);
}
template <int Axis = -1, handle X>
constexpr auto max(X x) {
  return apply<ir::op::reduce_max>(along<Axis>{}, x);
}
template <int Axis = -1, handle X>
constexpr auto min(X x) {
  return apply<ir::op::reduce_min>(along<Axis>{}, x);
}
/// i32; the first of equals.
template <int Axis = -1, handle X>
constexpr auto argmax(X x) {
  return apply<ir::op::reduce_argmax>(along<Axis>{}, x);
}
template <run_time V>
constexpr V sum(V x, int axis) { return apply<ir::op::reduce_sum>(along_run_time{axis}, x); }
template <run_time V>
constexpr V argmax(V x, int axis) { return apply<ir::op::reduce_argmax>(along_run_time{axis}, x); }
/// Run-time axes of max and min have names of their own: max(x, 2) is the greater of x and 2.
template <run_time V>
constexpr V max_along(V x, int axis) { return apply<ir::op::reduce_max>(along_run_time{axis}, x); }
template <run_time V>
constexpr V min_along(V x, int axis) { return apply<ir::op::reduce_min>(along_run_time{axis}, x); }

template <int Axis>
struct reciprocal_extent {
  constexpr uint64 operator()(const tensor_type& t) const {
    const extent e = t[static_cast<int>(axis_of(Axis, t))];
    return reciprocal_bits(t.element, e.bound());
  }
};
template <int Axis>
struct mean_rule {
  static constexpr std::string_view call = "mean";
  constexpr breach operator()(const tensor_type* in) const {
    const int64 axis = axis_of(Axis, in[0]);
    if (axis < 0 || axis >= in[0].rank) return {ir::explain(ir::rule::axis_in_range)};
    if (in[0][static_cast<int>(axis)].is_dynamic())
      return {"the axis must not be dynamic, since the count must be known (write sum(x) * scalar)"};
    if (!is_float(in[0].element)) return {"the operand must be a float (use cast)"};
    return {};
  }
};

/// The sum times the reciprocal of the count, the latter rounded to the element type.
template <int Axis = -1, handle X>
constexpr auto mean(X x) {
  const auto checked = obeying(mean_rule<Axis>{}, x);
  return sum<Axis>(checked) * literal_from<reciprocal_extent<Axis>>(checked);
}

}  // namespace poot::dsl

namespace poot {
using dsl::argmax, dsl::max, dsl::max_along, dsl::mean, dsl::min, dsl::min_along, dsl::sum;
}  // namespace poot
