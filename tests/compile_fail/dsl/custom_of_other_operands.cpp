// expect: poot::custom: evaluate is a function of as many numbers as the op has operands, and gives one
#include <poot/dsl/custom.hpp>
#include <poot/dsl/leaf.hpp>

struct sum {
  static constexpr std::string_view name = "sum";
  static constexpr int arity = 2, flops = 1;
#ifdef POOT_FAIL
  static constexpr auto evaluate = [](auto a) { return a + a; };
#else
  static constexpr auto evaluate = [](auto a, auto b) { return a + b; };
#endif
};

constexpr auto x = poot::input<"x", poot::f32, 8>;
[[maybe_unused]] constexpr auto y = poot::custom<sum>(x, x);
