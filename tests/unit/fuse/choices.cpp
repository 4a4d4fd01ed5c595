// Small graphs with one choice each: which regions are made of them.
#include <doctest/doctest.h>

#include <poot/fuse/choose.hpp>
#include <poot/ir/parse.hpp>

using namespace poot;
using fuse::partition;
using fuse::reason;
using fuse::region_kind;

namespace {

constexpr size_t regions_in(const char* text, const fuse::rules& r = {}, bool fuse = true) {
  return fuse::choose_regions(ir::parse(text), r, fuse).regions.size();
}
constexpr size_t declines_in(const char* text, reason why, const fuse::rules& r = {}) {
  size_t n = 0;
  for (const fuse::decline& d : fuse::choose_regions(ir::parse(text), r).declines) n += d.why == why;
  return n;
}

constexpr char rms_norm[] = R"(graph rms_norm {
  %x    : f32[8,64]  = input "x"
  %gain : bf16[64]   = weight "gain"
  %0    : f32[8,64]  = mul %x, %x
  %1    : f32[8,1]   = reduce_sum %0 {axis=1}
  %2    : f32[8,1]   = mul %1, f32(0x1p-6)
  %3    : f32[8,1]   = add %2, f32(1e-5)
  %4    : f32[8,1]   = sqrt %3
  %5    : f32[8,1]   = recip %4
  %6    : f32[8,64]  = mul %x, %5
  %7    : f32[64]    = cast %gain
  %8    : f32[8,64]  = mul %6, %7
  output "y" = %8
})";
constexpr char softmax[] = R"(graph softmax {
  %x : f32[8,64] = input "x"
  %0 : f32[8,1]  = reduce_max %x {axis=1}
  %1 : f32[8,64] = sub %x, %0
  %2 : f32[8,64] = exp %1
  %3 : f32[8,1]  = reduce_sum %2 {axis=1}
  %4 : f32[8,64] = div %2, %3
  output "y" = %4
})";
constexpr char log_softmax[] = R"(graph log_softmax {
  %x : f32[8,64] = input "x"
  %0 : f32[8,1]  = reduce_max %x {axis=1}
  %1 : f32[8,64] = sub %x, %0
  %2 : f32[8,64] = exp %1
  %3 : f32[8,1]  = reduce_sum %2 {axis=1}
  %4 : f32[8,1]  = log %3
  %5 : f32[8,64] = sub %1, %4
  output "y" = %5
})";
constexpr char layer_norm[] = R"(graph layer_norm {
  %x : f32[8,64] = input "x"
  %g : f32[64]   = weight "g"
  %b : f32[64]   = weight "b"
  %0 : f32[8,1]  = reduce_sum %x {axis=1}
  %1 : f32[8,1]  = mul %0, f32(0x1p-6)
  %2 : f32[8,64] = sub %x, %1
  %3 : f32[8,64] = mul %2, %2
  %4 : f32[8,1]  = reduce_sum %3 {axis=1}
  %5 : f32[8,1]  = mul %4, f32(0x1p-6)
  %6 : f32[8,1]  = add %5, f32(1e-5)
  %7 : f32[8,1]  = sqrt %6
  %8 : f32[8,64] = div %2, %7
  %9 : f32[8,64] = mul %8, %g
  %c : f32[8,64] = add %9, %b
  output "y" = %c
})";
constexpr char argmax[] = R"(graph argmax {
  %x : f32[8,64] = input "x"
  %0 : f32[8,64] = mul %x, f32(0.5)
  %1 : i32[8,1]  = reduce_argmax %0 {axis=1}
  output "y" = %1
})";
constexpr char swiglu[] = R"(graph swiglu {
  %g : f32[8,64] = input "g"
  %u : f32[8,64] = input "u"
  %0 : f32[8,64] = neg %g
  %1 : f32[8,64] = exp %0
  %2 : f32[8,64] = add %1, f32(1)
  %3 : f32[8,64] = div %g, %2
  %4 : f32[8,64] = mul %3, %u
  output "y" = %4
})";
constexpr char shared_input[] = R"(graph t {
  %x : f32[8,16] = input "x"
  %a : f32[8,16] = exp %x
  %b : f32[8,16] = neg %x
  output "a" = %a
  output "b" = %b
})";
constexpr char independent[] = R"(graph t {
  %x : f32[8,16] = input "x"
  %y : f32[8,16] = input "y"
  %a : f32[8,16] = exp %x
  %b : f32[8,16] = neg %y
  output "a" = %a
  output "b" = %b
})";
constexpr char independent_large[] = R"(graph t {
  %x : f32[512,256] = input "x"
  %y : f32[512,256] = input "y"
  %a : f32[512,256] = exp %x
  %b : f32[512,256] = neg %y
  output "a" = %a
  output "b" = %b
})";
constexpr char epilogue[] = R"(graph t {
  %x : f32[8,16]  = input "x"
  %w : bf16[4,16] = weight "w"
  %c : bf16[4]    = weight "c"
  %r : f32[8,4]   = input "r"
  %0 : f32[8,4]   = matmul %x, %w {transpose_b=1}
  %1 : f32[4]     = cast %c
  %2 : f32[8,4]   = add %0, %1
  %3 : f32[8,4]   = max %2, f32(0)
  %4 : f32[8,4]   = add %3, %r
  output "y" = %4
})";
constexpr char barrier_sandwich[] = R"(graph t {
  %x : f32[8,8] = input "x"
  %a : f32[8,8] = exp %x
  %t : f32[8,8] = transpose %a {perm=[1,0]}
  %b : f32[8,8] = add %a, %t
  output "y" = %b
})";
constexpr char query_key_value[] = R"(graph t {
  %x  : f32[1,64]  = input "x"
  %wq : bf16[64,64] = weight "q"
  %wk : bf16[16,64] = weight "k"
  %wv : bf16[16,64] = weight "v"
  %b  : f32[16]    = weight "b"
  %q  : f32[1,64]  = matmul %x, %wq {transpose_b=1}
  %k  : f32[1,16]  = matmul %x, %wk {transpose_b=1}
  %v  : f32[1,16]  = matmul %x, %wv {transpose_b=1}
  %c  : f32[1,16]  = add %v, %b
  output "q" = %q
  output "k" = %k
  output "v" = %c
})";
constexpr char gate_and_up[] = R"(graph t {
  %x  : f32[1,64]  = input "x"
  %wg : bf16[96,64] = weight "g"
  %wu : bf16[96,64] = weight "u"
  %g  : f32[1,96]  = matmul %x, %wg {transpose_b=1}
  %u  : f32[1,96]  = matmul %x, %wu {transpose_b=1}
  %a  : f32[1,96]  = neg %g
  %e  : f32[1,96]  = exp %a
  %d  : f32[1,96]  = add %e, f32(1)
  %s  : f32[1,96]  = div %g, %d
  %h  : f32[1,96]  = mul %s, %u
  output "h" = %h
})";
constexpr char products_of_two_rows[] = R"(graph t {
  %x : f32[1,64] = input "x"
  %y : f32[1,64] = input "y"
  %w : bf16[16,64] = weight "w"
  %a : f32[1,16] = matmul %x, %w {transpose_b=1}
  %b : f32[1,16] = matmul %y, %w {transpose_b=1}
  %c : f32[1,16] = add %a, %b
  output "c" = %c
})";
constexpr fuse::rules single_heads = [] {
  fuse::rules r;
  r.sibling_heads = false;
  return r;
}();
constexpr fuse::rules apart = [] {
  fuse::rules r;
  r.horizontal = false;
  return r;
}();

}  // namespace

static_assert(regions_in(rms_norm) == 1);
static_assert(regions_in(softmax) == 1);
static_assert(regions_in(log_softmax) == 1);
static_assert(regions_in(layer_norm) == 1);
static_assert(regions_in(argmax) == 1);
static_assert(regions_in(swiglu) == 1);
static_assert(regions_in(swiglu, {}, false) == 5);

TEST_CASE("makes one region of every norm, softmax, argmax and activation") {
  for (const char* text : {rms_norm, softmax, log_softmax, layer_norm, argmax, swiglu}) {
    const ir::graph g = ir::parse(text);
    const partition p = fuse::choose_regions(g, {});
    CHECK(p.regions.size() == 1);
    CHECK(p.declines.empty());
    CHECK((p.regions[0].kind == region_kind::row) == (text != swiglu));
  }
}

static_assert(regions_in(shared_input) == 1 && regions_in(shared_input, apart) == 2);
static_assert(regions_in(independent) == 1 && regions_in(independent, apart) == 2);
static_assert(regions_in(independent_large) == 2);
static_assert(regions_in(epilogue) == 1);
static_assert(regions_in(query_key_value) == 1 && regions_in(query_key_value, single_heads) == 3 && regions_in(query_key_value, apart) == 3);
static_assert(regions_in(gate_and_up) == 1 && regions_in(gate_and_up, single_heads) == 2 && regions_in(gate_and_up, apart) == 1);
static_assert(regions_in(products_of_two_rows) == 2 && declines_in(products_of_two_rows, reason::two_heads) == 1);
static_assert(regions_in(barrier_sandwich) == 3 && declines_in(barrier_sandwich, reason::cycle) == 1);

TEST_CASE("keeps a value read outside as a result of its region") {
  const ir::graph g = ir::parse(R"(graph t {
    %x : f32[8,8] = input "x"
    %a : f32[8,8] = exp %x
    %b : f32[8,8] = neg %a
    %t : f32[8,8] = transpose %a {perm=[1,0]}
    output "y" = %b
    output "z" = %t
  })");
  const partition p = fuse::choose_regions(g, {});
  CHECK(p.regions.size() == 2);
  CHECK(p.region_of[1] == p.region_of[2]);
}

TEST_CASE("keeps a product that others read too beside what its steps make of it") {
  const ir::graph g = ir::parse(R"(graph t {
    %x : f32[8,8] = input "x"
    %w : f32[8,8] = weight "w"
    %b : f32[8] = weight "b"
    %h : f32[8,8] = matmul %x, %w
    %s : f32[8,8] = add %h, %b
    %y : f32[8,8] = tanh %s
    %t : f32[8,8] = transpose %h {perm=[1,0]}
    output "y" = %y
    output "t" = %t
  })");
  const partition p = fuse::choose_regions(g, {});
  CHECK(p.regions.size() == 2);
  CHECK(p.region_of[3] == p.region_of[5]);
  CHECK(p.region_of[6] != p.region_of[3]);
}
