#include <poot/dsl/output.hpp>

#include <unit/dsl/three_callers.hpp>

using namespace poot::literals;
using poot::f32, poot::i32, poot::type_of;

namespace {
constexpr auto x = poot::input<"x", f32, 4>;
constexpr auto cache = poot::state<"cache", f32, 4>;
const char* const counted = R"(
    %cache : f32[4] = state "cache"
    %x : f32[4] = input "x"
    %0 : f32[4] = add %cache, %x
    %1 : f32[4] = mul %0, %cache
    output "cache" = %0
    output "y" = %1)";
}  // namespace

TEST_CASE("several outputs keep their order") {
  constexpr auto model = poot::outputs(poot::output<"b">(x + x), poot::output<"a">(x * x));
  three_callers::check_text(poot::trace(model), R"(
    %x : f32[4] = input "x"
    %0 : f32[4] = add %x, %x
    %1 : f32[4] = mul %x, %x
    output "b" = %0
    output "a" = %1)");
}

TEST_CASE("the results of a block are named one by one") {
  constexpr auto both = [](auto v) { return poot::results{v + v, v * v}; };
  const char* const wanted = R"(
    %x : f32[4] = input "x"
    %0 : f32[4] = add %x, %x
    %1 : f32[4] = mul %x, %x
    output "sum" = %0
    output "product" = %1)";
  three_callers::check_text(poot::trace(poot::outputs<"sum", "product">(poot::block(both, x))), wanted);
  poot::graph g("model");
  (void)poot::outputs<"sum", "product">(both(three_callers::value_of(g, x)));
  three_callers::check_text(poot::dsl::in_order_of_outputs(g), wanted);
}

TEST_CASE("an update is an output of the state's name, and its result the new value") {
  constexpr auto next = poot::update(cache, cache + x);
  three_callers::check_text(poot::trace(poot::outputs(next, poot::output<"y">(next * cache))), counted);
  three_callers::check_text(poot::trace(poot::output<"y">(next * cache)), counted);
}

TEST_CASE("an update inside a block, and of run-time values") {
  constexpr auto step = [](auto v) { return poot::update(cache, cache + v) * cache; };
  three_callers::check(step, counted, x);
  constexpr auto passed = [](auto kept, auto v) { return poot::update(kept, kept + v) * kept; };
  three_callers::check(passed, counted, cache, x);
}

TEST_CASE("what cannot be written is an error at run time") {
  poot::graph g;
  const auto v = g.input("v", f32, {4}), s = g.state("s", f32, {4});
  CHECK(three_callers::refusal([&] { (void)poot::update(v, v + v); }).find("update: the first operand must be a state") == 0);
  CHECK(three_callers::refusal([&] { (void)poot::update(s, poot::cast(s, poot::bf16)); }).find("the state is f32[4] and its new value is bf16[4]") !=
        std::string::npos);
  (void)poot::output<"y">(v);
  CHECK(three_callers::refusal([&] { (void)poot::output<"y">(v); }).find("taken by an earlier output") != std::string::npos);
}
