#include <doctest/doctest.h>

#include <poot/fuse/check.hpp>
#include <poot/ir/parse.hpp>
#include <poot/ir/print.hpp>

#include <support/fusion_draws.hpp>

#include "region_rules.hpp"

#include <string>

using namespace poot;
using fuse::reason;
using ir::op;
using region_rules::no_region;

namespace {

/// Two graphs that differ in what one rule asks; may the first equation of op `producer` join the first of op `consumer`?
struct twin {
  reason why;
  op producer, consumer;
  const char* refused;
  const char* legal;
  fuse::rules refusing{}, allowing{};
  op legal_producer = producer, legal_consumer = consumer;
};

constexpr fuse::rules with(bool fuse::rules::*option, bool on) {
  fuse::rules r;
  r.*option = on;
  return r;
}
template <class Int>
constexpr fuse::rules limited(Int fuse::rules::*limit, Int to) {
  fuse::rules r;
  r.*limit = to;
  return r;
}

constexpr fuse::rules prologue_of(int64 bytes) {
  fuse::rules r = limited(&fuse::rules::max_prologue_bytes, bytes);
  r.row_prologue = true;
  return r;
}
constexpr fuse::rules runs_of(int64 columns) {
  fuse::rules r = limited(&fuse::rules::max_run, columns);
  r.row_epilogue = true;
  return r;
}

constexpr uint32 first_of(const ir::graph_view& g, op o) {
  for (uint32 id = 0; id < g.size(); ++id)
    if (g[id].kind == o) return id;
  return no_region;
}

constexpr reason verdict_on(const char* text, op producer, op consumer, const fuse::rules& allowed) {
  const ir::graph g = ir::parse(text);
  fuse::grouping groups(g);
  fuse::legality legal(groups, allowed);
  const uint32 a = first_of(g, producer), b = first_of(g, consumer);
  if (allowed.tails && legal.tail_source(b) == a) return legal.check_tail(a, b).why;
  if (fuse::runs_of_products(groups, b) != no_region) return legal.check_epilogue(b, fuse::runs_of_products(groups, b)).why;
  const reason forth = legal.check(a, b).why, back = legal.check(b, a).why;
  if (forth != back) fail("legality::check is not symmetric");
  return forth == reason::head_operand && fuse::kind_of(g, a) == fuse::region_kind::row ? legal.check_prologue(a, b).why : forth;
}

#define X "%x : f32[8,16] = input \"x\"\n"
#define A "%a : f32[8,16] = exp %x\n"
#define ROWS(m, ...) GRAPH("%x : f32[" #m ",1] = input \"x\"\n%w : f32[1,16] = weight \"w\"\n%a : f32[" #m ",1] = reduce_sum %x {axis=1}\n" __VA_ARGS__)
#define RUNS(m, ...) \
  GRAPH("%x : f32[" #m ",4] = input \"x\"\n%w : f32[16,4] = weight \"w\"\n%a : f32[" #m ",16] = matmul %x, %w {transpose_b=1}\n" __VA_ARGS__)
#define GRAPH(...) "graph t {\n" __VA_ARGS__ "}\n"

constexpr twin twins[] = {
    {reason::boundary, op::exp, op::transpose, GRAPH(X A "%b : f32[16,8] = transpose %a {perm=[1,0]}\noutput \"y\" = %b\n"),
     GRAPH(X A "%b : f32[8,16] = neg %a\noutput \"y\" = %b\n"), {}, {}, op::exp, op::neg},
    {reason::boundary, op::exp, op::reduce_max, GRAPH(X A "%b : f32[1,16] = reduce_max %a {axis=0}\noutput \"y\" = %b\n"),
     GRAPH(X A "%b : f32[8,1] = reduce_max %a {axis=1}\noutput \"y\" = %b\n")},
    {reason::boundary, op::matmul, op::neg,  // neither reads the other
     GRAPH(X "%w : f32[16,16] = input \"w\"\n%a : f32[8,16] = matmul %x, %w\n%b : f32[8,16] = neg %x\noutput \"y\" = %a\noutput \"z\" = %b\n"),
     GRAPH(X "%w : f32[16,16] = input \"w\"\n%a : f32[8,16] = matmul %x, %w\n%b : f32[8,16] = neg %a\noutput \"z\" = %b\n")},
    {reason::spaces_differ, op::exp, op::neg, GRAPH(X "%u : f32[3,4] = input \"u\"\n" A "%b : f32[3,4] = neg %u\noutput \"y\" = %a\noutput \"z\" = %b\n"),
     GRAPH(X "%u : f32[8,16] = input \"u\"\n" A "%b : f32[8,16] = neg %u\noutput \"y\" = %a\noutput \"z\" = %b\n")},
    {reason::spaces_differ, op::exp, op::add, GRAPH(X "%r : f32[8,1] = input \"r\"\n%a : f32[8,1] = exp %r\n%b : f32[8,16] = add %x, %a\noutput \"y\" = %b\n"),
     GRAPH(X "%r : f32[8,1] = input \"r\"\n%a : f32[8,1] = exp %r\n%b : f32[8,16] = add %x, %a\noutput \"y\" = %b\n"), with(&fuse::rules::with_broadcast, false)},
    {reason::recompute_cost, op::exp, op::add,  // 12 flops for each of 7 · 16 elements more
     GRAPH(X "%r : f32[16] = input \"r\"\n%a : f32[16] = exp %r\n%b : f32[8,16] = add %x, %a\noutput \"y\" = %b\n"),
     GRAPH(X "%r : f32[16] = input \"r\"\n%a : f32[16] = exp %r\n%b : f32[8,16] = add %x, %a\noutput \"y\" = %b\n"),
     limited(&fuse::rules::max_recomputed_flops, int64{12 * 7 * 16 - 1}), limited(&fuse::rules::max_recomputed_flops, int64{12 * 7 * 16})},
    {reason::recompute_cost, op::cast, op::add,  // a cast to narrower, where a widening load is free
     GRAPH(X "%r : f64[16] = input \"r\"\n%a : f32[16] = cast %r\n%b : f32[8,16] = add %x, %a\noutput \"y\" = %b\n"),
     GRAPH(X "%r : bf16[16] = input \"r\"\n%a : f32[16] = cast %r\n%b : f32[8,16] = add %x, %a\noutput \"y\" = %b\n"),
     limited(&fuse::rules::max_recomputed_flops, int64{0}), limited(&fuse::rules::max_recomputed_flops, int64{0})},
    {reason::output_not_full, op::exp, op::add,
     GRAPH(X "%r : f32[16] = input \"r\"\n%a : f32[16] = exp %r\n%b : f32[8,16] = add %x, %a\noutput \"y\" = %b\noutput \"z\" = %a\n"),
     GRAPH(X "%r : f32[16] = input \"r\"\n%a : f32[16] = exp %r\n%b : f32[8,16] = add %x, %a\noutput \"y\" = %b\noutput \"z\" = %a\n"), {},
     with(&fuse::rules::small_outputs, true)},
    {reason::narrow_cast, op::cast, op::neg, GRAPH(X "%a : bf16[8,16] = cast %x\n%b : bf16[8,16] = neg %a\noutput \"y\" = %b\n"),
     GRAPH(X "%a : f64[8,16] = cast %x\n%b : f64[8,16] = neg %a\noutput \"y\" = %b\n")},
    {reason::narrow_cast, op::cast, op::neg, GRAPH(X "%a : f16[8,16] = cast %x\n%b : f16[8,16] = neg %a\noutput \"y\" = %b\n"),
     GRAPH(X "%a : f16[8,16] = cast %x\n%b : f16[8,16] = neg %a\noutput \"y\" = %b\n"), {}, with(&fuse::rules::fuse_narrow_casts, true)},
    {reason::select_in_row, op::select, op::reduce_sum,
     GRAPH(X "%c : i32[8,16] = input \"c\"\n%a : f32[8,16] = select %c, %x, f32(0)\n%b : f32[8,1] = reduce_sum %a {axis=1}\noutput \"y\" = %b\n"),
     GRAPH(X "%c : i32[8,16] = input \"c\"\n%a : f32[8,16] = select %c, %x, f32(0)\n%b : f32[8,16] = neg %a\noutput \"y\" = %b\n"), {}, {}, op::select, op::neg},
    {reason::non_float_in_row, op::cast, op::reduce_sum,
     GRAPH("%i : i32[8,16] = input \"i\"\n%a : f32[8,16] = cast %i\n%b : f32[8,1] = reduce_sum %a {axis=1}\noutput \"y\" = %b\n"),
     GRAPH("%i : bf16[8,16] = input \"i\"\n%a : f32[8,16] = cast %i\n%b : f32[8,1] = reduce_sum %a {axis=1}\noutput \"y\" = %b\n")},
    {reason::non_float_in_row, op::cast, op::reduce_sum,
     GRAPH("%i : i32[8,16] = input \"i\"\n%a : f32[8,16] = cast %i\n%b : f32[8,1] = reduce_sum %a {axis=1}\noutput \"y\" = %b\n"),
     GRAPH("%i : i32[8,16] = input \"i\"\n%a : f32[8,16] = cast %i\n%b : f32[8,1] = reduce_sum %a {axis=1}\noutput \"y\" = %b\n"), {},
     with(&fuse::rules::integer_rows, true)},
    {reason::row_space, op::reduce_sum, op::reduce_max,
     GRAPH(X "%u : f32[8,4] = input \"u\"\n%a : f32[8,1] = reduce_sum %x {axis=1}\n%b : f32[8,4] = add %a, %u\n%c : f32[8,1] = reduce_max %b {axis=1}\noutput \"y\" = %c\n"),
     GRAPH("%x : f32[8,1] = input \"x\"\n%a : f32[8,1] = reduce_sum %x {axis=1}\n%c : f32[8,1] = reduce_max %a {axis=1}\noutput \"y\" = %c\n")},
    {reason::row_space, op::reduce_sum, op::add,
     GRAPH(X "%u : f32[2,8,16] = input \"u\"\n%a : f32[8,1] = reduce_sum %x {axis=1}\n%b : f32[2,8,16] = add %a, %u\noutput \"y\" = %b\n"),
     GRAPH(X "%a : f32[8,1] = reduce_sum %x {axis=1}\n%b : f32[8,16] = add %a, %x\noutput \"y\" = %b\n")},
    {reason::two_heads, op::matmul, op::reduce_sum,
     GRAPH(X "%w : f32[16,16] = input \"w\"\n%a : f32[8,16] = matmul %x, %w\n%b : f32[8,1] = reduce_sum %a {axis=1}\noutput \"y\" = %b\n"),
     GRAPH(X A "%b : f32[8,1] = reduce_sum %a {axis=1}\noutput \"y\" = %b\n"), {}, {}, op::exp, op::reduce_sum},
    {reason::two_heads, op::matmul, op::reduce_sum, RUNS(1, "%r : f32[1,2,8] = reshape %a\n%b : f32[1,2,1] = reduce_sum %r {axis=2}\noutput \"y\" = %b\n"),
     RUNS(1, "%r : f32[1,2,8] = reshape %a\n%b : f32[1,2,1] = reduce_sum %r {axis=2}\noutput \"y\" = %b\n"), with(&fuse::rules::row_epilogue, false)},
    {reason::run_split, op::matmul, op::reduce_sum, RUNS(2, "%r : f32[1,32] = reshape %a\n%b : f32[1,1] = reduce_sum %r {axis=1}\noutput \"y\" = %b\n"),
     RUNS(1, "%r : f32[4,4] = reshape %a\n%b : f32[4,1] = reduce_sum %r {axis=1}\noutput \"y\" = %b\n")},
    {reason::many_rows, op::matmul, op::reduce_sum, RUNS(2, "%r : f32[2,2,8] = reshape %a\n%b : f32[2,2,1] = reduce_sum %r {axis=2}\noutput \"y\" = %b\n"),
     RUNS(1, "%r : f32[1,2,8] = reshape %a\n%b : f32[1,2,1] = reduce_sum %r {axis=2}\noutput \"y\" = %b\n")},
    {reason::long_run, op::matmul, op::reduce_sum, RUNS(1, "%r : f32[2,8] = reshape %a\n%b : f32[2,1] = reduce_sum %r {axis=1}\noutput \"y\" = %b\n"),
     RUNS(1, "%r : f32[2,8] = reshape %a\n%b : f32[2,1] = reduce_sum %r {axis=1}\noutput \"y\" = %b\n"), runs_of(7), runs_of(8)},
    {reason::read_elsewhere, op::matmul, op::reduce_sum,
     RUNS(1, "%r : f32[2,8] = reshape %a\n%b : f32[2,1] = reduce_sum %r {axis=1}\noutput \"y\" = %b\noutput \"z\" = %r\n"),
     RUNS(1, "%r : f32[2,8] = reshape %a\n%b : f32[2,1] = reduce_sum %r {axis=1}\noutput \"y\" = %b\noutput \"z\" = %a\n")},
    {reason::shared_exceeded, op::matmul, op::reduce_sum, RUNS(1, "%r : f32[2,8] = reshape %a\n%b : f32[2,1] = reduce_sum %r {axis=1}\noutput \"y\" = %b\n"),
     RUNS(1, "%r : f32[2,8] = reshape %a\n%b : f32[2,1] = reduce_sum %r {axis=1}\noutput \"y\" = %b\n"), prologue_of(31), prologue_of(32)},
    {reason::head_operand, op::exp, op::matmul,
     GRAPH("%x : f32[16,16] = input \"x\"\n%a : f32[16,16] = exp %x\n%b : f32[16,16] = matmul %a, %x\noutput \"y\" = %b\n"),
     GRAPH("%x : f32[16,16] = input \"x\"\n%b : f32[16,16] = matmul %x, %x\n%a : f32[16,16] = exp %b\noutput \"y\" = %a\n")},
    {reason::head_operand, op::reduce_sum, op::matmul, ROWS(8, "%b : f32[8,16] = matmul %a, %w\noutput \"y\" = %b\n"),
     ROWS(8, "%b : f32[8,16] = matmul %a, %w\noutput \"y\" = %b\n"), with(&fuse::rules::row_prologue, false), with(&fuse::rules::row_prologue, true)},
    {reason::row_space, op::reduce_sum, op::matmul,
     GRAPH(X "%w : f32[1,16] = weight \"w\"\n%a : f32[8,1] = reduce_sum %x {axis=1}\n%b : f32[8,16] = matmul %a, %w\noutput \"y\" = %b\n"),
     ROWS(8, "%b : f32[8,16] = matmul %a, %w\noutput \"y\" = %b\n"), with(&fuse::rules::row_prologue, true), with(&fuse::rules::row_prologue, true)},
    {reason::many_rows, op::reduce_sum, op::matmul, ROWS(9, "%b : f32[9,16] = matmul %a, %w\noutput \"y\" = %b\n"),
     ROWS(8, "%b : f32[8,16] = matmul %a, %w\noutput \"y\" = %b\n"), with(&fuse::rules::row_prologue, true), with(&fuse::rules::row_prologue, true)},
    {reason::many_rows, op::reduce_sum, op::matmul,  // a matrix for every row
     ROWS(8, "%m : f32[8,1,16] = input \"m\"\n%b : f32[8,8,16] = matmul %a, %m\noutput \"y\" = %b\n"),
     ROWS(8, "%m : f32[1,16] = input \"m\"\n%b : f32[8,16] = matmul %a, %m\noutput \"y\" = %b\n"), with(&fuse::rules::row_prologue, true), with(&fuse::rules::row_prologue, true)},
    {reason::read_elsewhere, op::reduce_sum, op::matmul,  // what stores the rows may not run
     ROWS(8, "%m : f32[1,N<=16] = input \"m\"\n%b : f32[8,N] = matmul %a, %m\noutput \"y\" = %b\noutput \"z\" = %a\n"),
     ROWS(8, "%b : f32[8,16] = matmul %a, %w\noutput \"y\" = %b\noutput \"z\" = %a\n"), with(&fuse::rules::row_prologue, true), with(&fuse::rules::row_prologue, true)},
    {reason::read_elsewhere, op::reduce_sum, op::matmul, ROWS(1, "%b : f32[1,1] = matmul %a, %a\noutput \"y\" = %b\n"),
     ROWS(1, "%b : f32[1,1] = matmul %a, %x\noutput \"y\" = %b\n"), with(&fuse::rules::row_prologue, true), with(&fuse::rules::row_prologue, true)},
    {reason::shared_exceeded, op::reduce_sum, op::matmul, ROWS(8, "%b : f32[8,16] = matmul %a, %w\noutput \"y\" = %b\n"),
     ROWS(8, "%b : f32[8,16] = matmul %a, %w\noutput \"y\" = %b\n"), prologue_of(31), prologue_of(32)},
    {reason::head_space, op::matmul, op::add,
     GRAPH(X "%w : f32[16,16] = input \"w\"\n%u : f32[2,8,16] = input \"u\"\n%a : f32[8,16] = matmul %x, %w\n%b : f32[2,8,16] = add %a, %u\noutput \"y\" = %b\n"),
     GRAPH(X "%w : f32[16,16] = input \"w\"\n%u : f32[16] = input \"u\"\n%a : f32[8,16] = matmul %x, %w\n%b : f32[8,16] = add %a, %u\noutput \"y\" = %b\n")},
    {reason::wide_head, op::matmul, op::neg,
     GRAPH("%x : f64[8,16] = input \"x\"\n%w : f64[16,4] = input \"w\"\n%a : f64[8,4] = matmul %x, %w\n%b : f64[8,4] = neg %a\noutput \"y\" = %b\n"),
     GRAPH("%x : f16[8,16] = input \"x\"\n%w : f32[16,4] = input \"w\"\n%a : f32[8,4] = matmul %x, %w\n%b : f32[8,4] = neg %a\noutput \"y\" = %b\n")},
    {reason::matrix_unit, op::matmul, op::neg,
     GRAPH(X "%w : f32[16,4] = input \"w\"\n%a : f32[8,4] = matmul %x, %w {order={lanes=1 chunk=256 hardware=1}}\n%b : f32[8,4] = neg %a\noutput \"y\" = %b\n"),
     GRAPH(X "%w : f32[16,4] = input \"w\"\n%a : f32[8,4] = matmul %x, %w {order={lanes=1 chunk=256}}\n%b : f32[8,4] = neg %a\noutput \"y\" = %b\n")},
    {reason::alias, op::dynamic_update_slice, op::transpose,
     GRAPH(X "%s : f32[8,16] = state \"s\"\n%i : i32[2] = input \"i\"\n%u : f32[8,16] = dynamic_update_slice %s, %x, %i\n"
             "%b : f32[16,8] = transpose %s {perm=[1,0]}\noutput \"s\" = %u\noutput \"y\" = %b\n"),
     GRAPH(X "%s : f32[8,16] = state \"s\"\n%i : i32[2] = input \"i\"\n%u : f32[8,16] = dynamic_update_slice %s, %x, %i\n"
             "%b : f32[16,8] = transpose %x {perm=[1,0]}\noutput \"s\" = %u\noutput \"y\" = %b\n")},
    {reason::read_elsewhere, op::transpose, op::neg,
     GRAPH(X "%a : f32[16,8] = transpose %x {perm=[1,0]}\n%b : f32[16,8] = neg %a\noutput \"y\" = %b\noutput \"z\" = %a\n"),
     GRAPH(X "%a : f32[16,8] = transpose %x {perm=[1,0]}\n%b : f32[16,8] = neg %a\noutput \"y\" = %b\n")},
    {reason::copied_update, op::transpose, op::dynamic_update_slice,  // the new value of another state
     GRAPH(X "%s : f32[16,8] = state \"s\"\n%t : f32[16,8] = state \"t\"\n%i : i32[2] = input \"i\"\n%a : f32[16,8] = transpose %x {perm=[1,0]}\n"
             "%b : f32[16,8] = dynamic_update_slice %s, %a, %i\noutput \"t\" = %b\n"),
     GRAPH(X "%s : f32[16,8] = state \"s\"\n%t : f32[16,8] = state \"t\"\n%i : i32[2] = input \"i\"\n%a : f32[16,8] = transpose %x {perm=[1,0]}\n"
             "%b : f32[16,8] = dynamic_update_slice %s, %a, %i\noutput \"s\" = %b\n")},
    {reason::copied_update, op::transpose, op::dynamic_update_slice,  // the state is read once more
     GRAPH(X "%s : f32[16,8] = state \"s\"\n%i : i32[2] = input \"i\"\n%a : f32[16,8] = transpose %x {perm=[1,0]}\n"
             "%b : f32[16,8] = dynamic_update_slice %s, %a, %i\n%c : f32[16,8] = neg %s\noutput \"s\" = %b\noutput \"y\" = %c\n"),
     GRAPH(X "%s : f32[16,8] = state \"s\"\n%i : i32[2] = input \"i\"\n%a : f32[16,8] = transpose %x {perm=[1,0]}\n"
             "%b : f32[16,8] = dynamic_update_slice %s, %a, %i\n%c : f32[16,8] = neg %b\noutput \"s\" = %b\noutput \"y\" = %c\n")},
    {reason::buffer_limit, op::exp, op::add, GRAPH(X "%u : f32[8,16] = input \"u\"\n" A "%b : f32[8,16] = add %a, %u\noutput \"y\" = %b\noutput \"z\" = %a\n"),
     GRAPH(X "%u : f32[8,16] = input \"u\"\n" A "%b : f32[8,16] = add %a, %u\noutput \"y\" = %b\n"), limited(&fuse::rules::max_buffers, uint32{3}),
     limited(&fuse::rules::max_buffers, uint32{3})},
    {reason::member_limit, op::exp, op::neg, GRAPH(X A "%b : f32[8,16] = neg %a\noutput \"y\" = %b\n"),
     GRAPH(X A "%b : f32[8,16] = neg %a\noutput \"y\" = %b\n"), limited(&fuse::rules::max_members, uint32{1}), limited(&fuse::rules::max_members, uint32{2})},
    {reason::prologue, op::exp, op::add, GRAPH(X "%i : f32[8,16] = iota {axis=0}\n%a : f32[8,16] = exp %i\n%b : f32[8,16] = add %a, %x\noutput \"y\" = %b\n"),
     GRAPH(X "%i : f32[8,16] = iota {axis=0}\n%a : f32[8,16] = exp %x\n%b : f32[8,16] = add %a, %i\noutput \"y\" = %b\n")},
    {reason::cycle, op::exp, op::add, GRAPH(X A "%m : f32[1,16] = reduce_max %a {axis=0}\n%b : f32[8,16] = add %a, %m\noutput \"y\" = %b\n"),
     GRAPH(X A "%m : f32[1,16] = reduce_max %x {axis=0}\n%b : f32[8,16] = add %a, %m\noutput \"y\" = %b\n")},
    {reason::cycle, op::exp, op::add,  // a view of its own value
     GRAPH("%x : f32[16,16] = input \"x\"\n%a : f32[16,16] = exp %x\n%v : f32[1,16,16] = reshape %a\n%w : f32[16,16] = reshape %v\n%b : f32[16,16] = add %a, %w\noutput \"y\" = %b\n"),
     GRAPH("%x : f32[16,16] = input \"x\"\n%v : f32[1,16,16] = reshape %x\n%w : f32[16,16] = reshape %v\n%a : f32[16,16] = exp %x\n%b : f32[16,16] = add %a, %w\noutput \"y\" = %b\n")},
};

#undef X
#undef A
#undef ROWS
#undef RUNS
#undef GRAPH

// The same table at compile time, one row an evaluation.
template <size_t Row>
constexpr bool holds = verdict_on(twins[Row].refused, twins[Row].producer, twins[Row].consumer, twins[Row].refusing) == twins[Row].why;

}  // namespace

static_assert(holds<1> && holds<3> && holds<6> && holds<8>);
static_assert(holds<10> && holds<12> && holds<15> && holds<21>);

TEST_CASE("names the first rule that two groups break, and joins their twins") {
  bool covered[32]{};
  for (const twin& t : twins) {
    INFO(fuse::explain(t.why) << "\n" << t.refused);
    CHECK(verdict_on(t.refused, t.producer, t.consumer, t.refusing) == t.why);
    covered[static_cast<int>(t.why)] = true;
    const ir::graph g = ir::parse(t.refused);
    const region_rules::facts f(g);
    std::vector<uint32> region_of(g.size(), no_region);
    uint32 next = 1;
    const uint32 a = first_of(g, t.producer), b = first_of(g, t.consumer);
    for (uint32 id = 0; id < g.size(); ++id)
      if (f.computes[id]) region_of[id] = id == a || id == b ? 0 : next++;
    if (const uint32 runs = fuse::runs_of_products(fuse::grouping(g), b); runs != no_region) region_of[runs] = 0;
    CHECK_FALSE(region_rules::is_legal(f, region_of, t.refusing));
    CHECK(fuse::check_partition(g, {region_of.data(), region_of.size()}, t.refusing).why == t.why);
  }
  for (int why = 1; why <= static_cast<int>(reason::cycle); ++why) CHECK_MESSAGE(covered[why], fuse::explain(static_cast<reason>(why)));
}

TEST_CASE("joins the twins") {
  for (const twin& t : twins) {
    INFO(fuse::explain(t.why) << "\n" << t.legal);
    CHECK(verdict_on(t.legal, t.legal_producer, t.legal_consumer, t.allowing) == reason::none);
  }
}

TEST_CASE("agrees with the slow checker while groups are joined in any order") {
  int64 joined = 0, refused = 0, before_products = 0, tails = 0, behind_products = 0;
  for (uint64 seed = 0; seed < 1500; ++seed) {
    poot_tests::fusion_draws d(90000 + seed);
    const ir::graph g = d.make(4 + d.below(seed % 10 ? 20 : 60));
    if (g.size() >= region_rules::most) continue;
    const region_rules::facts f(g);
    fuse::rules r;
    r.with_broadcast = d.chance(85);
    r.fuse_narrow_casts = d.chance(30);
    r.horizontal = d.chance(60);
    r.sibling_heads = d.chance(60);
    r.side_by_side = d.chance(60);
    r.row_prologue = d.chance(60);
    if (d.chance(20)) r.max_prologue_rows = 4;
    if (d.chance(20)) r.max_prologue_bytes = 4 * d.below(80);
    r.row_epilogue = d.chance(60);
    if (d.chance(20)) r.max_run = 4;
    r.tails = d.chance(60);
    r.small_outputs = d.chance(30);
    if (d.chance(30)) r.max_buffers = static_cast<uint32>(3 + d.below(6));
    if (d.chance(20)) r.max_members = static_cast<uint32>(2 + d.below(6));
    if (d.chance(40)) r.max_recomputed_flops = d.below(3000);
    fuse::grouping groups(g);
    fuse::legality legal(groups, r);
    std::vector<uint32> ops;
    for (uint32 id = 0; id < g.size(); ++id) {
      CHECK(groups.grouped(id) == f.computes[id]);
      if (f.computes[id]) ops.push_back(id);
    }
    if (ops.size() < 2) continue;
    const int tries = static_cast<int>(ops.size()) * 4;
    const size_t in_order = d.chance(50) ? 2 * ops.size() : 0;  // each with what it reads, as a planner does
    for (size_t k = 0; k < in_order + static_cast<size_t>(tries); ++k) {
      const uint32 a = k < in_order ? ops[k % ops.size()] : ops[d.d.less_than(ops.size())];
      uint32 b = ops[d.d.less_than(ops.size())];
      if (d.chance(k < in_order ? 100 : 70))
        for (uint32 in : g.view_of().operands(a))
          if (f.computes[in] && d.chance(k < in_order ? 80 : 60)) b = in;
      const uint32 ra = groups.root(a), runs = fuse::runs_of_products(groups, ra);
      if (runs != no_region && d.chance(60)) b = g.view_of().operands(runs)[0];
      const uint32 rb = groups.root(b);
      if (ra == rb) continue;
      std::vector<uint32> between;
      const bool in_runs = runs != no_region && groups.of(ra).kind == fuse::region_kind::row && groups.root(g.view_of().operands(runs)[0]) == rb;
      if (in_runs) between.push_back(runs);
      const uint32 late = a > b ? a : b, from = legal.tail_source(late);
      const bool in_tail = !in_runs && from != fuse::grouping::none && (groups.root(from) == ra || groups.root(from) == rb);
      if (in_tail)
        for (uint32 in : g.view_of().operands(late))  // the views between
          for (uint32 at = in; at != from && g.eqns[at].kind == op::reshape && !groups.grouped(at); at = g.view_of().operands(at)[0]) between.push_back(at);
      std::vector<uint32> names, region_of(g.size(), no_region);
      for (uint32 id = 0; id < g.size(); ++id) {
        const bool is_between = std::find(between.begin(), between.end(), id) != between.end();
        if (!is_between && !groups.grouped(id)) continue;
        uint32 root = is_between ? rb : groups.root(id);
        if (root == ra) root = rb;
        size_t at = 0;
        while (at < names.size() && names[at] != root) ++at;
        if (at == names.size()) names.push_back(root);
        region_of[id] = static_cast<uint32>(at);
      }
      const bool expected = region_rules::is_legal(f, region_of, r);
      const auto aside = [&](uint32 root) {
        const fuse::region_kind kind = groups.of(root).kind;
        return fuse::stands_side_by_side(kind) || kind == fuse::region_kind::attention;
      };
      // Sideways, what was once scattered and has been connected since may be refused; a tail grows by one member at a time.
      const bool may_refuse = r.horizontal || (r.tails && (aside(ra) || aside(rb)));
      fuse::verdict v = in_tail ? legal.join_tail(from, late) : in_runs ? legal.join_epilogue(ra, runs) : legal.join(ra, rb);
      behind_products += in_runs && v.legal();
      (in_tail && v.legal()) ? ++tails : tails;
      if (!in_tail && !in_runs && v.why == reason::head_operand) {
        v = legal.join_prologue(ra, rb);
        if (!v.legal()) v = legal.join_prologue(rb, ra);
        before_products += v.legal();
      }
      if (may_refuse ? v.legal() && !expected : v.legal() != expected) {
        CHECK_MESSAGE(false, "seed " << seed << ": the slow checker says " << (expected ? std::string("legal") : std::string("illegal")) << ", legality "
                                     << fuse::explain(v.why) << " of equations " << a << " " << ir::name(g.eqns[a].kind) << " and " << b << " "
                                     << ir::name(g.eqns[b].kind) << ", the check "
                                     << fuse::explain(fuse::check_partition(g, {region_of.data(), region_of.size()}, r).why) << "\n"
                                     << std::string(ir::print(g).str()));
        return;
      }
      CHECK((groups.root(a) == groups.root(b)) == v.legal());
      (v.legal() ? joined : refused) += 1;
    }
  }
  CHECK(joined > 5000);
  CHECK(refused > 5000);
  CHECK(before_products > 8);
  CHECK(behind_products > 15);
  CHECK(tails > 200);
}

// A group stands before what it reads when an early member of another group is all it needs of it; found by random graphs.
TEST_CASE("finds a cycle through the early member of a group with a late one") {
  const ir::graph g = ir::parse(R"(graph t {
    %a : f32[4,8,16] = input "a"
    %y : f32[8,16]   = input "y"
    %1 : f32[4,8,16] = exp %a
    %2 : f32[1,8,16] = reduce_max %1 {axis=0}
    %3 : f32[8,16]   = reshape %2
    %5 : f32[8,1]    = reduce_sum %y {axis=1}
    %6 : f32[4,8,16] = add %1, %5
    %7 : f32[8,16]   = mul %3, %5
    output "o" = %6
    output "p" = %7
  })");
  const uint32 exp = first_of(g, op::exp), add = first_of(g, op::add), sum = first_of(g, op::reduce_sum), mul = first_of(g, op::mul);
  fuse::grouping groups(g);
  fuse::legality legal(groups, {});
  CHECK(legal.check(sum, mul).legal());
  CHECK(legal.join(exp, add).legal());
  CHECK(legal.check(groups.root(sum), groups.root(mul)).why == reason::cycle);
  CHECK(fuse::check_partition(g, fuse::choose_regions(g, {}).region_of, {}).legal());
}

TEST_CASE("adds what is computed again over a whole region") {
  // each negation costs 15 elements more; those left out run together
  const ir::graph g = ir::parse(R"(graph t {
    %x : f32[16] = input "x"
    %r : f32[1] = input "r"
    %s : f32[1] = input "s"
    %t : f32[1] = input "t"
    %1 : f32[1] = neg %r
    %2 : f32[1] = neg %s
    %3 : f32[1] = neg %t
    %4 : f32[16] = add %x, %1
    %5 : f32[16] = add %4, %2
    %6 : f32[16] = add %5, %3
    output "y" = %6
  })");
  for (int64 flops : {int64{29}, int64{30}, int64{44}, int64{45}}) {
    const fuse::rules r = limited(&fuse::rules::max_recomputed_flops, flops);
    const fuse::partition p = fuse::choose_regions(g, r);
    CHECK(fuse::check_partition(g, p.region_of, r).legal());
    uint32 largest = 0;
    for (const fuse::partition::region& region : p.regions) largest = std::max(largest, region.members.count);
    CHECK(largest == 3 + flops / 15);
    CHECK(p.regions.size() == (flops < 45 ? 2 : 1));
  }
}
