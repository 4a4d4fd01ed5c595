#pragma once
/// Users' ops of the tests.

#include <poot/ir/custom.hpp>

namespace poot_tests {

/// Every operation that a user's op has, of one operand.
struct every_function {
  static constexpr std::string_view name = "every_function";
  static constexpr int arity = 1, flops = 99;
  static constexpr auto evaluate = [](auto x) {
    const auto small = min(max(x, -8.0f), 8);
    const auto a = exp(small) + log(abs(x) + 1) * sqrt(abs(x)) - recip(x + 0.5f);
    const auto b = sin(x) * cos(small) + tanh(x) / erf(x) + floor(x) + pow(abs(small), 0.75f);
    return select((x < 1.0f) & (x >= -1.0f), a, select((x == 2.0f) | (x != x), -b, select(x <= -1.0f, a - b, select(x > 3, a * b, b))));
  };
};

/// x + sin²(a·x) / a
struct snake {
  static constexpr std::string_view name = "snake";
  static constexpr int arity = 2, flops = 24;
  static constexpr auto evaluate = [](auto x, auto a) {
    const auto s = sin(a * x);
    return x + s * s / a;
  };
};

/// x held between two others; a template instead of a lambda.
struct held {
  static constexpr std::string_view name = "held";
  static constexpr int arity = 3, flops = 2;
  template <class Number>
  static constexpr Number evaluate(Number low, Number x, Number high) {
    return select(x < low, low, select(high < x, high, x));
  }
};

/// The operand in the middle, and a number that depends on none.
struct second_of_three {
  static constexpr std::string_view name = "second_of_three";
  static constexpr int arity = 3, flops = 0;
  static constexpr auto evaluate = [](auto, auto b, auto) { return b; };
};
struct nine {
  static constexpr std::string_view name = "nine";
  static constexpr int arity = 1, flops = 0;
  static constexpr auto evaluate = [](auto) { return 9.0f; };
};

/// Branches on its operand: known on the host only.
struct leaky {
  static constexpr std::string_view name = "leaky";
  static constexpr int arity = 1, flops = 2;
  static constexpr auto evaluate = [](auto x) { return x < 0.0f ? x * 0.125f : x; };
};

/// A function of floats, which only the host has.
struct half_square {
  static constexpr std::string_view name = "half_square";
  static constexpr int arity = 1, flops = 2;
  static constexpr float evaluate(float x) { return poot::ieee::mul(poot::ieee::mul(x, x), 0.5f); }
};

inline constexpr const poot::ir::custom_row* custom_rows[] = {
    &poot::ir::custom_row_of<every_function>,  &poot::ir::custom_row_of<snake>, &poot::ir::custom_row_of<held>,
    &poot::ir::custom_row_of<second_of_three>, &poot::ir::custom_row_of<nine>,  &poot::ir::custom_row_of<leaky>,
    &poot::ir::custom_row_of<half_square>};
inline constexpr poot::view<const poot::ir::custom_row*> custom_ops{custom_rows, 7};

}  // namespace poot_tests
