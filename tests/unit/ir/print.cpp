#include <poot/ir/equal.hpp>
#include <poot/ir/parse.hpp>
#include <poot/ir/print.hpp>
#include <poot/ir/verify.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace poot;
using namespace poot::ir;

namespace {

// A graph as a person writes it, and as it is printed. The hex float is the f32 nearest to 1e-5 (numpy: 0x3727c5ac).
constexpr std::string_view written = R"(# a norm
graph rms_norm {
  %in     : f32[8,4096] = input "x"
  %gain   : bf16[4096]  = weight "gain"
  %square : f32[8,4096] = mul %in,%in
  %sum    : f32[8,1]    = reduce_sum %square { axis = 1 }   # over a row
  %2      : f32[8,1]    = mul %sum, f32(0x1p-12)
  %3      : f32[8,1]    = add %2, f32( 1e-5 )
  %4      : f32[8,1]    = sqrt %3
  %5      : f32[8,1]    = recip %4
  %6      : f32[8,4096] = mul %in, %5
  %7      : f32[4096]   = cast %gain
  %last.1 : f32[8,4096] =
      mul %6, %7
  output "y" = %last.1 }
)";
constexpr std::string_view normalised = R"(graph rms_norm {
  %x : f32[8,4096] = input "x"
  %gain : bf16[4096] = weight "gain"
  %0 : f32[8,4096] = mul %x, %x
  %1 : f32[8,1] = reduce_sum %0 {axis=1}
  %2 : f32[8,1] = mul %1, f32(0x1p-12)
  %3 : f32[8,1] = add %2, f32(0x1.4f8b58p-17)
  %4 : f32[8,1] = sqrt %3
  %5 : f32[8,1] = recip %4
  %6 : f32[8,4096] = mul %x, %5
  %7 : f32[4096] = cast %gain
  %8 : f32[8,4096] = mul %6, %7
  output "y" = %8
}
)";
static_assert(print(parse(written)).str() == normalised);
static_assert(print(parse(normalised)).str() == normalised);
static_assert(structurally_equal(parse(written), parse(normalised)));

// Every form of attribute, literal, extent and name, already normalised.
constexpr std::string_view every_form = R"(graph "two words" {
  %x : f32[L<=4096,64] = input "x"
  %blk.0.w : q4_0[32,64] = weight "blk.0.w"
  %0 : f32[4] = weight "has space"
  %1 : f32[4] = weight "\"\\\x0a\x01é"
  %cache : f32[2,8,4] = state "cache"
  %i : i32[3] = input "i"
  %img : f32[1,4,8,8] = input "img"
  %ker : f32[6,2,3,3] = weight "ker"
  %seed : u32[] = input "seed"
  %flag : bool[M<=2,L] = input "flag"
  %2 : f32[L,32] = matmul %x, %blk.0.w {transpose_b=1}
  %3 : f32[64,L] = transpose %x {perm=[1,0]}
  %4 : f32[L,L] = matmul %x, %3 {order={lanes=1 chunk=256 fused=1}}
  %5 : f32[L,16] = slice %x {start=[0,2] size=[L,16] step=[1,3]}
  %6 : f32[L,8] = slice %x {start=[0,56] size=[L,8]}
  %7 : i32[3] = constant {values=[0,-1,2147483647]}
  %8 : f32[2] = constant {values=[nan,bits 0x7fc00001]}
  %9 : f32[2] = constant f32(0x1.8p-1)
  %10 : f32[1,6,2,2] = conv2d %img, %ker {stride=[2,2] pad=[0,0,1,1] dilation=[2,3] groups=2}
  %11 : f32[1,4,8,8] = max %img, f32(-inf)
  %12 : i32[4] = iota {axis=0}
  %13 : i32[4] = and %12, i32(-8)
  %14 : i32[4] = not %13
  %15 : f32[4] = select %14, %0, f32(-0)
  %16 : q4_0[3,64] = gather %blk.0.w, %i {axis=0}
  %17 : bf16[3,64] = cast %16
  %18 : bf16[3,1] = reduce_sum %17 {axis=1 order={lanes=256 chunk=4096}}
  %19 : i32[3,1] = reduce_argmax %17 {axis=1}
  %20 : f32[8] = concat %0, %15 {axis=0}
  %21 : f32[2,4] = reshape %20
  %22 : f32[3,2,4] = broadcast %21
  %23 : f32[2,8,4] = dynamic_update_slice %cache, %cache, %7
  %24 : f32[2,2] = random_uniform %seed, u32(4294967295)
  %25 : i32[] = constant i32(7)
  %26 : i32[4] = add %12, %25
  %27 : f32[4] = all_reduce_sum %0 {group="tp"}
  %28 : i32[12] = all_gather %12 {group="a \"b\"" axis=0}
  %29 : i32[4] = reduce_scatter %28 {group="a \"b\"" axis=0}
  output "cache" = %23
  output "seven" = %25
}
)";

std::string printed(const graph_view& g) { return std::string(print(g).str()); }
std::string number(dtype t, uint64 bits) {
  text out;
  write_number(out, t, bits);
  return std::string(out.str());
}

}  // namespace

TEST_CASE("prints every form as it is read") {
  const graph g = parse(every_form);
  CHECK(verify(g));
  CHECK(printed(g) == every_form);
  CHECK(structurally_equal(g, parse(printed(g))));
}

TEST_CASE("prints at run time what it prints in a constant expression") { CHECK(printed(parse(written)) == normalised); }

TEST_CASE("inlines scalar constants wherever they are kept, and drops unread ones") {
  graph g("g");
  const uint32 unread = g.literal(f32, 0x3f800000);
  const uint32 two = g.literal(f32, 0x40000000);
  const uint32 x = g.input("x", f32, {4}).id;
  const uint32 operands[2] = {x, two}, again[2] = {two, two};
  const uint32 sum = g.apply(op::add, {operands, 2});
  const uint32 four = g.apply(op::mul, {again, 2});
  g.add_output("sum", sum);
  g.add_output("four", four);
  CHECK(unread == 0);
  const std::string_view expected =
      "graph g {\n  %x : f32[4] = input \"x\"\n  %0 : f32[4] = add %x, f32(2)\n  %1 : f32[] = mul f32(2), f32(2)\n"
      "  output \"sum\" = %0\n  output \"four\" = %1\n}\n";
  CHECK(printed(g) == expected);
  CHECK(structurally_equal(g, parse(expected)));
}

TEST_CASE("numbers leaves of equal names, which no text could tell apart") {
  graph g("g");
  for (int i = 0; i < 2; ++i) {
    eqn e;
    e.name = g.intern("same");
    g.append(e, {});
  }
  CHECK(printed(g) == "graph g {\n  %0 : f32[] = input \"same\"\n  %1 : f32[] = input \"same\"\n}\n");
}

TEST_CASE("writes numbers so that they are read back") {
  CHECK(number(i8, 0xff) == "-1");
  CHECK(number(u8, 0xff) == "255");
  CHECK(number(i32, 0xffffffff80000000) == "-2147483648");
  CHECK(number(boolean, 1) == "1");
  CHECK(number(f16, 0x3c00) == "1");
  CHECK(number(bf16, 0x7f80) == "inf");
  CHECK(number(f64, 0xfff0000000000000) == "-inf");
  CHECK(number(f32, 0xffc00000) == "bits 0xffc00000");
  CHECK(number(f32, 0x00000001) == "0x1p-149");
  CHECK(number(f32, 0x4b7fffff) == "16777215");
  CHECK(number(f32, 0x4b800000) == "0x1p24");
}

TEST_CASE("tells graphs apart that differ in one thing") {
  const std::string_view base = "graph g { %x : f32[4] = input \"x\" %s : f32[4] = state \"s\" %0 : f32[4] = add %x, f32(1) "
                                "%1 : f32[4] = sub %0, %x %2 : f32[4,1] = reshape %1 %3 : f32[4,1] = reduce_sum %2 {axis=1} "
                                "output \"y\" = %3 }";
  const char* const changes[][2] = {
      {"graph g", "graph h"}, {"input", "weight"}, {"\"s\"", "\"t\""},     {"f32(1)", "f32(2)"},   {"sub %0, %x", "sub %x, %0"},
      {"sub", "min"},         {"\"y\"", "\"z\""},  {"= %3 }", "= %2 }"},   {"{axis=1}", "{axis=1 order={lanes=256 chunk=4096}}"},
      {"f32(1)", "%s"},       {"%1 : f32[4] = sub %0, %x", "%1 : f32[4] = sub f32(1), %x"}};
  const graph g = parse(base);
  CHECK(structurally_equal(g, parse(base)));
  for (const auto& change : changes) {
    std::string other(base);
    const size_t at = other.find(change[0]);
    REQUIRE(at != std::string::npos);
    other.replace(at, std::string_view(change[0]).size(), change[1]);
    CAPTURE(other);
    CHECK_FALSE(structurally_equal(g, parse(other)));
    CHECK_FALSE(structurally_equal(parse(other), g));
  }
}
