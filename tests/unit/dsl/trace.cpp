#include <poot/dsl/trace.hpp>

#include <unit/dsl/three_callers.hpp>

#include <poot/dsl/reduction.hpp>

using namespace poot::literals;
using poot::f32, poot::type_of;

namespace {
constexpr auto x = poot::input<"x", f32, 8, 4>;
constexpr auto y = poot::output<"y">(poot::exp(x - poot::max(x)) * 2_f);

// At compile time as at run time: a frozen graph has exact size.
static_assert(poot::frozen<y>.view().size() == 6);
static_assert(poot::frozen<y>.eqns.size() == 6);
static_assert(poot::frozen<y>.view().find_leaf("x") == 0);
static_assert(poot::ir::structurally_equal(poot::frozen<y>.view(), poot::trace(y)));
}  // namespace

TEST_CASE("a model as a constant, and traced at run time") {
  CHECK(three_callers::printed(poot::frozen<y>.view()) == three_callers::printed(poot::trace(y)));
  CHECK(poot::ir::verify(poot::frozen<y>.view()));
  const poot::graph named = poot::trace(y, "softmax");
  CHECK(named.view_of().chars(named.name) == "softmax");
}

TEST_CASE("a shared node is one equation, however often its type is spelt") {
  constexpr auto a = x * x + x;
  constexpr auto b = a * a + a;
  constexpr auto c = b * b + b;
  constexpr auto d = c * c + c;
  CHECK(decltype(d)::spelt == 161);  // 3 s + 2, from 1 on
  CHECK(poot::trace(poot::output<"y">(d)).size() == 9);
}

TEST_CASE("long chains do not exhaust the stack of the compiler") {
  constexpr auto grow = []<int N>(auto self, auto v, std::integral_constant<int, N>) {
    if constexpr (N == 0) return v;
    else return self(self, v + 1_f, std::integral_constant<int, N - 1>{});
  };
  constexpr auto chain = poot::output<"y">(grow(grow, x, std::integral_constant<int, 100>{}));
  static_assert(poot::frozen<chain>.view().size() == 102);
}

TEST_CASE("equations stand in the order in which outputs reach them, unread ones are dropped") {
  poot::graph g("model");
  const auto b = g.input("b", f32, {4}), a = g.input("a", f32, {4});
  const auto unread = b * b;
  const auto late = b + b, early = a - late;
  (void)unread;
  g.output("y", early);
  g.output("z", late);
  CHECK(three_callers::printed(poot::dsl::in_order_of_outputs(g)) ==
        "graph model {\n  %a : f32[4] = input \"a\"\n  %b : f32[4] = input \"b\"\n  %0 : f32[4] = add %b, %b\n"
        "  %1 : f32[4] = sub %a, %0\n  output \"y\" = %1\n  output \"z\" = %0\n}\n");
}

TEST_CASE("an output that is a leaf") {
  three_callers::check_text(poot::trace(poot::output<"y">(x)), R"(
    %x : f32[8,4] = input "x"
    output "y" = %x)");
}
