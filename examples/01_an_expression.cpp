/// Lesson 1: an expression. It names its leaves and has its shapes in its type; it prints as a graph and runs on the host.

#include <poot/ir/print.hpp>
#include <poot/poot.hpp>
#include <poot/run/host/device.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

using namespace poot::literals;

// Inputs come with every call, weights are given once. Shapes broadcast as in NumPy: the bias stretches over the rows.
constexpr auto x = poot::input<"x", poot::f32, 2, 3>;
constexpr auto bias = poot::weight<"bias", poot::f32, 3>;
constexpr auto y = poot::output<"y">(poot::exp(x) * 0.5_f + bias);

// Nothing has run yet: `y` is an empty object whose type says everything.
static_assert(std::is_empty_v<decltype(y)>);

int main() {
  // The graph that the expression stands for, in poot's text form.
  const poot::text graph = poot::ir::print(poot::frozen<y>.view());
  std::printf("%.*s\n", static_cast<int>(graph.str().size()), graph.str().data());

  const std::vector<float> xs{0, -INFINITY, INFINITY, 0, -INFINITY, 0}, biases{1, 2, 3};
  std::vector<float> out(6);
  auto run = poot::host().load<y>();
  run(poot::bind<"x">(xs), poot::bind<"bias">(biases), poot::into<"y">(out));

  const float wanted[]{1.5f, 2.0f, INFINITY, 1.5f, 2.0f, 3.5f};  // exp(0) = 1, exp(-inf) = 0, exp(inf) = inf
  bool right = true;
  std::printf("y =");
  for (int i = 0; i < 6; ++i) {
    std::printf(" %g", static_cast<double>(out[i]));
    right = right && out[i] == wanted[i];
  }
  std::printf("\n%s\n", right ? "as it must be" : "WRONG");
  return right ? 0 : 1;
}
