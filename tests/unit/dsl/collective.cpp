#include <poot/dsl/collective.hpp>
#include <poot/dsl/leaf.hpp>

#include <unit/dsl/three_callers.hpp>

using poot::f32, poot::type_of;

namespace {
constexpr auto x = poot::input<"x", f32, 2, 6>;
static_assert(decltype(poot::all_reduce_sum<"g">(x))::result == type_of(f32, 2, 6));
static_assert(decltype(poot::all_gather<"g", 3>(x))::result == type_of(f32, 2, 18));
static_assert(decltype(poot::reduce_scatter<"g", 3, 1>(x))::result == type_of(f32, 2, 2));
}  // namespace

TEST_CASE("collectives keep the name of their group, whoever calls") {
  three_callers::check([](auto v) {
    return poot::all_gather<"row", 2, 0>(poot::all_reduce_sum<"column">(v)) - poot::all_gather<"row", 2, 0>(poot::reduce_scatter<"three", 3>(poot::all_gather<"three", 3>(v)));
  }, R"(
    %x : f32[2,6] = input "x"
    %0 : f32[2,6] = all_reduce_sum %x {group="column"}
    %1 : f32[4,6] = all_gather %0 {group="row" axis=0}
    %2 : f32[2,18] = all_gather %x {group="three" axis=1}
    %3 : f32[2,6] = reduce_scatter %2 {group="three" axis=1}
    %4 : f32[4,6] = all_gather %3 {group="row" axis=0}
    %5 : f32[4,6] = sub %1, %4
    output "y" = %5)", x);
}

TEST_CASE("sums of two groups are two values") {
  const poot::graph g = poot::trace(poot::output<"y">(poot::all_reduce_sum<"a">(x) + poot::all_reduce_sum<"b">(x)));
  CHECK(three_callers::printed(g).find("group=\"b\"") != std::string::npos);
  CHECK(g.size() == 4);
}

TEST_CASE("groups and numbers of ranks known at run time") {
  poot::graph g;
  const auto v = g.input("v", f32, {4, 6});
  CHECK(poot::all_reduce_sum(v, "g").type() == type_of(f32, 4, 6));
  const auto gathered = poot::all_gather(v, "g", 2, -2);
  CHECK(gathered.type() == type_of(f32, 8, 6));
  CHECK(g.view_of().name_of(gathered.id) == "g");
  CHECK(poot::reduce_scatter(v, "g", 2, 1).type() == type_of(f32, 4, 3));
  CHECK(poot::ir::verify(g));
  CHECK(three_callers::refusal([&] { (void)poot::reduce_scatter(v, "g", 4, 1); }) ==
        "reduce_scatter: operand 0 of (f32[4,6]) to f32[4,0]: along the axis, the operand's extent must be a multiple of the declared one, and not 0: that of one rank");
  CHECK(three_callers::refusal([&] { (void)poot::all_gather(v, "g", 2, 2); }).find("the axis must lie inside") != std::string::npos);
  (void)poot::reduce_scatter(v, "g", 3, 1);
  CHECK(three_callers::refusal([&] { poot::ir::verify(g); }).find("reduce_scatter: the group \"g\" has 3 ranks here and 2 before (all_gather)") != std::string::npos);
}
