// expect: poot::custom: an op takes one, two or three operands
#include <poot/dsl/custom.hpp>
#include <poot/dsl/leaf.hpp>

struct sum {
  static constexpr std::string_view name = "sum_of_many";
#ifdef POOT_FAIL
  static constexpr int arity = 4, flops = 3;
  static constexpr auto evaluate = [](auto a, auto b, auto c, auto d) { return a + b + c + d; };
#else
  static constexpr int arity = 3, flops = 2;
  static constexpr auto evaluate = [](auto a, auto b, auto c) { return a + b + c; };
#endif
};

constexpr auto x = poot::input<"x", poot::f32, 8>;
#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto y = poot::custom<sum>(x, x, x, x);
#else
[[maybe_unused]] constexpr auto y = poot::custom<sum>(x, x, x);
#endif
