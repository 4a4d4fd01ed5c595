#include <poot/nn/paged_cache.hpp>
#include <poot/plan/planned.hpp>

#include <unit/dsl/three_callers.hpp>

using poot::bf16, poot::f32, poot::i32;

namespace {
constexpr auto pages = poot::state<"pages", bf16, 2, 9, 4, 8>;
constexpr auto table = poot::input<"table", i32, 3, 5>;
constexpr auto at = poot::input<"at", i32, 3>;
constexpr auto rows = poot::input<"rows", f32, 2, 3, 8>;
}  // namespace

TEST_CASE("pages that a table names stand one behind another") {
  three_callers::check([](auto p, auto t) { return poot::nn::read_pages(p, t); }, R"(
    %p : bf16[2,9,4,8] = state "pages"
    %t : i32[3,5] = input "table"
    %g : bf16[2,3,5,4,8] = gather %p, %t {axis=1}
    %y : bf16[2,3,20,8] = reshape %g
    output "y" = %y)", pages, table);
  three_callers::check([](auto p, auto t) { return poot::nn::read_pages(p, t); }, R"(
    %p : bf16[2,9,4,8] = state "pages"
    %t : i32[5] = input "one"
    %g : bf16[2,5,4,8] = gather %p, %t {axis=1}
    %y : bf16[2,20,8] = reshape %g
    output "y" = %y)", pages, poot::input<"one", i32, 5>);
}

TEST_CASE("a row goes to the page and the place of its position") {
  three_callers::check([](auto p, auto r, auto t, auto where) { return poot::nn::write_pages(p, r, t, where); }, R"(
    %p : bf16[2,9,4,8] = state "pages"
    %r : f32[2,1,8] = input "r"
    %t : i32[5] = input "one"
    %at : i32[1] = input "where"
    %column : i32[1] = div %at, i32(4)
    %first : i32[1] = mul %column, i32(4)
    %offset : i32[1] = sub %at, %first
    %narrow : bf16[2,1,8] = cast %r
    %own : bf16[2,1,8] = slice %narrow {start=[0,0,0] size=[2,1,8]}
    %row : bf16[2,1,1,8] = reshape %own
    %zero : i32[1] = iota {axis=0}
    %c : i32[1] = slice %column {start=[0] size=[1]}
    %page : i32[1] = gather %t, %c {axis=0}
    %o : i32[1] = slice %offset {start=[0] size=[1]}
    %start : i32[4] = concat %zero, %page, %o, %zero {axis=0}
    %y : bf16[2,9,4,8] = dynamic_update_slice %p, %row, %start
    output "y" = %y)", pages, poot::input<"r", f32, 2, 1, 8>, poot::input<"one", i32, 5>, poot::input<"where", i32, 1>);
}

TEST_CASE("rows of several sequences go where their tables say, for all callers alike") {
  three_callers::check([](auto p, auto r, auto t, auto where) { return poot::nn::write_pages(p, r, t, where); }, "", pages, rows, table, at);
  three_callers::check([](auto p, auto r, auto t, auto where) { return poot::nn::write_pages(p, r, t, where); }, "", pages, rows, poot::input<"one", i32, 5>, at);
  poot::graph g;
  const auto p = g.state("pages", f32, {2, 9, 4, 8}), r = g.input("rows", f32, {2, g.dynamic("T", 8), 8});
  const auto t = g.input("table", i32, {5}), w = g.input("at", i32, {g.dynamic("T", 8)});
  CHECK(three_callers::refusal([&] { poot::nn::write_pages(p, r, t, w); }) == "write_pages: the number of rows must be known");
}

TEST_CASE("attention over pages is recognised: of a step's dispatches one gathers keys, one values, and one attends") {
  constexpr auto attend = [](auto q, auto k, auto v, auto t, auto where) { return poot::nn::paged_attention(q, k, v, t, where); };
  constexpr auto y = poot::output<"y">(poot::block(attend, poot::input<"q", f32, 6, 3, 8>, poot::state<"keys", bf16, 2, 9, 4, 8>,
                                                   poot::state<"values", bf16, 2, 9, 4, 8>, table, at));
  three_callers::check(attend, "", poot::input<"q", f32, 6, 3, 8>, poot::state<"keys", bf16, 2, 9, 4, 8>, poot::state<"values", bf16, 2, 9, 4, 8>, table, at);
  static_assert(poot::planned<y, poot::targets::host>.dispatch_count() == 4);  // and the mask
  const std::string text = three_callers::printed(poot::planned<y, poot::targets::host>.graph);
  CHECK(text.find(": f32[6,3,1,8] = attention ") != std::string::npos);
}

TEST_CASE("pages, tables and rows of other extents are refused by name") {
  using three_callers::refusal;
  namespace nn = poot::nn;
  poot::graph g;
  const poot::extent n = g.dynamic("N", 8);
  const auto p = g.input("p", f32, {2, 16, 4, 8}), open = g.input("open", f32, {2, 16, n, 8}), flat = g.input("flat", f32, {2, 16});
  const auto t = g.input("t", i32, {3}), long_table = g.input("lt", i32, {n}), tables = g.input("ts", i32, {2, 3});
  const auto one = g.input("one", f32, {2, 1, 8}), where = g.input("w", i32, {1}), there = g.input("w2", i32, {2});
  CHECK(refusal([&] { (void)nn::read_pages(p, long_table); }) == "read_pages: operand 1 of (f32[2,16,4,8], i32[N]): the number of pages N must be a number, not dynamic");
  CHECK(refusal([&] { (void)nn::read_pages(open, t); }).find("read_pages: operand 0 of (f32[2,16,N,8], i32[3]): pages are") == 0);
  CHECK(refusal([&] { (void)nn::read_pages(flat, t); }).find("read_pages: operand 0") == 0);
  CHECK(refusal([&] { (void)nn::write_pages(open, one, t, where); }).find("write_pages: operand 0") == 0);
  CHECK(refusal([&] { (void)nn::write_pages(flat, one, t, where); }).find("write_pages: operand 0") == 0);
  CHECK(refusal([&] { (void)nn::write_pages(p, one, t, there); }).find("write_pages: operand 3") == 0);
  CHECK(refusal([&] { (void)nn::write_pages(p, one, tables, where); }).find("write_pages: operand 2") == 0);
  CHECK(refusal([&] { (void)nn::paged_attention(g.input("q", f32, {3, 2, 8}), p, p, tables, there); }).find("paged_attention: operand 1") == 0);
}
