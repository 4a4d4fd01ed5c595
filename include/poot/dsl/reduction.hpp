#pragma once
/// Sums and extremes along an axis; the axis stays, with extent 1.

#include <poot/dsl/derived.hpp>
#include <poot/dsl/pointwise.hpp>

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
enum class mean_problem : uint8 { none, axis, dynamic, element };
template <int Axis>
constexpr mean_problem problem_of_mean(const tensor_type& t) {
  const int64 axis = axis_of(Axis, t);
  if (axis < 0 || axis >= t.rank) return mean_problem::axis;
  if (t[static_cast<int>(axis)].is_dynamic()) return mean_problem::dynamic;
  return is_float(t.element) ? mean_problem::none : mean_problem::element;
}
constexpr std::string_view explain(mean_problem p) {
  switch (p) {
    case mean_problem::axis: return "mean: the axis must lie inside the operand's rank";
    case mean_problem::dynamic: return "mean: the axis must not be dynamic, since the count must be known (write sum(x) * scalar)";
    default: return "mean: the operand must be a float (use cast)";
  }
}
template <mean_problem P>
struct mean_complaint {
  constexpr text operator()() const { return explain(P); }
};

/// The sum times the reciprocal of the count, the latter rounded to the element type.
template <int Axis = -1, handle X>
constexpr auto mean(X x) {
  if constexpr (std::same_as<X, poison>) {
    return x;
  } else if constexpr (run_time<X>) {
    if (const mean_problem p = problem_of_mean<Axis>(x.type()); p != mean_problem::none) fail(explain(p));
    return sum<Axis>(x) * literal_from<reciprocal_extent<Axis>>(x);
  } else if constexpr (constexpr mean_problem p = problem_of_mean<Axis>(X::result); p != mean_problem::none) {
    static_assert(accepted_call<typename detail::sentence<mean_complaint<p>>::type>, "poot: this call is refused");
    return poison{};
  } else {
    return sum<Axis>(x) * literal_from<reciprocal_extent<Axis>>(x);
  }
}

}  // namespace poot::dsl

namespace poot {
using dsl::argmax, dsl::max, dsl::max_along, dsl::mean, dsl::min, dsl::min_along, dsl::sum;
}  // namespace poot
