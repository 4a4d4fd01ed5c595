#include <poot/nn/attention.hpp>
#include <poot/plan/planned.hpp>

#include <unit/dsl/three_callers.hpp>

using poot::bf16, poot::f32, poot::i32;

namespace {
constexpr auto q = poot::input<"q", f32, 6, 3, 4>;
constexpr auto k = poot::input<"k", f32, 2, 7, 4>;
constexpr auto v = poot::input<"v", f32, 2, 7, 4>;
constexpr auto at = poot::input<"at", i32, 3>;
}  // namespace

TEST_CASE("grouped heads share keys in runs, and the mask compares positions") {
  three_callers::check([](auto a, auto b, auto c, auto p) { return poot::nn::attention(a, b, c, p); }, R"(
    %q : f32[6,3,4] = input "q"
    %k : f32[2,7,4] = input "k"
    %v : f32[2,7,4] = input "v"
    %at : i32[3] = input "at"
    %k1 : f32[2,1,7,4] = reshape %k
    %k2 : f32[2,3,7,4] = broadcast %k1
    %k3 : f32[6,7,4] = reshape %k2
    %v1 : f32[2,1,7,4] = reshape %v
    %v2 : f32[2,3,7,4] = broadcast %v1
    %v3 : f32[6,7,4] = reshape %v2
    %0 : f32[6,3,7] = matmul %q, %k3 {transpose_b=1}
    %1 : f32[6,3,7] = mul %0, f32(0.5)
    %j : i32[7] = iota {axis=0}
    %p : i32[3,1] = reshape %at
    %c : i32[3,7] = le %j, %p
    %s : f32[6,3,7] = select %c, %1, f32(-inf)
    %max : f32[6,3,1] = reduce_max %s {axis=2}
    %diff : f32[6,3,7] = sub %s, %max
    %exp : f32[6,3,7] = exp %diff
    %sum : f32[6,3,1] = reduce_sum %exp {axis=2}
    %prob : f32[6,3,7] = div %exp, %sum
    %o : f32[6,3,4] = matmul %prob, %v3
    output "y" = %o)", q, k, v, at);
}

TEST_CASE("keys and values of a narrower type are widened") {
  three_callers::check([](auto a, auto b, auto c, auto p) { return poot::nn::attention(a, b, c, p); }, "",
                       q, poot::input<"k", bf16, 2, 7, 4>, poot::input<"v", bf16, 2, 7, 4>, at);
}

TEST_CASE("heads are split and joined again") {
  three_callers::check([](auto x) { return poot::nn::join_heads(poot::nn::split_heads(x, poot::index<4>)); }, R"(
    %x : f32[3,12] = input "x"
    %0 : f32[3,3,4] = reshape %x
    %1 : f32[3,3,4] = transpose %0 {perm=[1,0,2]}
    %2 : f32[3,3,4] = transpose %1 {perm=[1,0,2]}
    %3 : f32[3,12] = reshape %2
    output "y" = %3)", poot::input<"x", f32, 3, 12>);
  poot::graph g;
  CHECK(poot::nn::split_heads(g.input("x", f32, {5, 12}), poot::int64{6}).type() == poot::type_of(f32, 2, 5, 6));
}

TEST_CASE("the scale is the reciprocal root of the head width") {
  const poot::nn::detail::reciprocal_root_of_last root;
  CHECK(root(poot::type_of(f32, 64)) == 0x3e000000);   // 1/8
  CHECK(root(poot::type_of(f32, 128)) == 0x3db504f3);  // 2^-3.5
  CHECK(root(poot::type_of(f32, 8)) == 0x3eb504f3);    // 2^-1.5
  CHECK(root(poot::type_of(f32, 1)) == 0x3f800000);
}

TEST_CASE("a sink joins the greatest score and the sum, and has no value") {
  three_callers::check([](auto a, auto b, auto c, auto p, auto s) { return poot::nn::attention(a, b, c, p, s); }, R"(
    %q : f32[6,3,4] = input "q"
    %k : f32[2,7,4] = input "k"
    %v : f32[2,7,4] = input "v"
    %at : i32[3] = input "at"
    %sinks : bf16[6] = weight "sinks"
    %k1 : f32[2,1,7,4] = reshape %k
    %k2 : f32[2,3,7,4] = broadcast %k1
    %k3 : f32[6,7,4] = reshape %k2
    %v1 : f32[2,1,7,4] = reshape %v
    %v2 : f32[2,3,7,4] = broadcast %v1
    %v3 : f32[6,7,4] = reshape %v2
    %0 : f32[6,3,7] = matmul %q, %k3 {transpose_b=1}
    %1 : f32[6,3,7] = mul %0, f32(0.5)
    %j : i32[7] = iota {axis=0}
    %p : i32[3,1] = reshape %at
    %c : i32[3,7] = le %j, %p
    %s : f32[6,3,7] = select %c, %1, f32(-inf)
    %own : f32[6,3,1] = reduce_max %s {axis=2}
    %narrow : bf16[6,1,1] = reshape %sinks
    %sink : f32[6,1,1] = cast %narrow
    %max : f32[6,3,1] = max %own, %sink
    %diff : f32[6,3,7] = sub %s, %max
    %exp : f32[6,3,7] = exp %diff
    %sum : f32[6,3,1] = reduce_sum %exp {axis=2}
    %away : f32[6,3,1] = sub %sink, %max
    %term : f32[6,3,1] = exp %away
    %all : f32[6,3,1] = add %sum, %term
    %prob : f32[6,3,7] = div %exp, %all
    %o : f32[6,3,4] = matmul %prob, %v3
    output "y" = %o)", q, k, v, at, poot::weight<"sinks", bf16, 6>);
}

TEST_CASE("attention with sinks is one dispatch beside that of the mask") {
  constexpr auto with_sinks = [](auto a, auto b, auto c, auto p, auto s) { return poot::nn::attention(a, b, c, p, s); };
  constexpr auto y = poot::output<"y">(poot::block(with_sinks, q, k, v, at, poot::weight<"sinks", bf16, 6>));
  static_assert(poot::planned<y, poot::targets::host>.dispatch_count() == 2);
  static_assert(poot::planned<y, poot::targets::cuda_sm90a, poot::plan::options{.split_keys = 7}>.dispatch_count() == 3);
  const std::string text = three_callers::printed(poot::planned<y, poot::targets::host>.graph);
  CHECK(text.find("attention %q, %k, %v, %") != std::string::npos);
  CHECK(text.find("{scale=0x1p-1 sink=1 order=") != std::string::npos);
}

TEST_CASE("a sliding window leaves the keys that are further behind") {
  three_callers::check([](auto keys, auto p) { return poot::nn::causal(keys, p, poot::number<5>); }, R"(
    %j : i32[7] = input "j"
    %at : i32[3] = input "at"
    %p : i32[3,1] = reshape %at
    %a : i32[3,7] = le %j, %p
    %b : i32[3,1] = sub %p, i32(5)
    %c : i32[3,7] = gt %j, %b
    %d : i32[3,7] = and %a, %c
    output "y" = %d)", poot::input<"j", i32, 7>, at);
}

TEST_CASE("scores are scaled, capped and then masked") {
  three_callers::check([](auto a, auto b, auto c, auto seen) { return poot::nn::attend(a, b, c, seen, poot::number<0.25>, poot::number<50>); }, R"(
    %q : f32[2,3,4] = input "q"
    %k : f32[2,7,4] = input "k"
    %v : f32[2,7,6] = input "v"
    %c : i32[3,7] = input "seen"
    %0 : f32[2,3,7] = matmul %q, %k {transpose_b=1}
    %1 : f32[2,3,7] = mul %0, f32(0.25)
    %2 : f32[2,3,7] = div %1, f32(50)
    %3 : f32[2,3,7] = tanh %2
    %4 : f32[2,3,7] = mul %3, f32(50)
    %s : f32[2,3,7] = select %c, %4, f32(-inf)
    %max : f32[2,3,1] = reduce_max %s {axis=2}
    %diff : f32[2,3,7] = sub %s, %max
    %exp : f32[2,3,7] = exp %diff
    %sum : f32[2,3,1] = reduce_sum %exp {axis=2}
    %prob : f32[2,3,7] = div %exp, %sum
    %o : f32[2,3,6] = matmul %prob, %v
    output "y" = %o)", poot::input<"q", f32, 2, 3, 4>, k, poot::input<"v", f32, 2, 7, 6>, poot::input<"seen", i32, 3, 7>);
}

TEST_CASE("heads and widths that are no numbers, or no multiples, are refused by name") {
  using three_callers::refusal;
  poot::graph g;
  const poot::extent n = g.dynamic("N", 8);
  const auto at4 = g.input("at", i32, {4});
  const auto one = g.input("one", f32, {1, 4, 8}), two = g.input("two", f32, {2, 5, 8}), three = g.input("three", f32, {3, 4, 8}), none = g.input("none", f32, {0, 5, 8});
  const auto wide = g.input("wide", f32, {2, 4, n}), many = g.input("many", f32, {n, 4, 8}), flat = g.input("flat", f32, {4, n});
  const auto attended = [&](auto a, auto b, auto c) { return refusal([&] { (void)poot::nn::attention(a, b, c, at4); }); };
  const char* const multiple = "attention: operand 1 of (f32[1,4,8], f32[2,5,8], f32[2,5,8]): the heads of q must be a multiple of those of k and of v";
  CHECK(attended(one, two, two) == multiple);
  CHECK(attended(three, two, two).find("operand 1 of") != std::string::npos);
  CHECK(attended(three, one, two).find("operand 2 of") != std::string::npos);
  CHECK(attended(none, none, none).find("the heads of q must be a number, at least 1") != std::string::npos);
  CHECK(attended(many, many, many).find("attention: operand 0 of (f32[N,4,8], ") == 0);
  const auto thin = g.input("thin", f32, {2, 4, 0});
  CHECK(attended(thin, thin, two).find("the width of a head must be at least 1") != std::string::npos);
  CHECK(attended(wide, wide, two).find("the width of a head must be a number, not dynamic") != std::string::npos);
  CHECK(refusal([&] { (void)poot::nn::attention(one, two, two, at4, g.input("sinks", f32, {1})); }) == multiple);
  for (poot::int64 heads : {3, 0, -2}) CHECK(refusal([&] { (void)poot::nn::repeat_heads(two, heads); }).find("repeat_heads: operand 0 of (f32[2,5,8]): ") == 0);
  CHECK(refusal([&] { (void)poot::nn::repeat_heads(two, poot::index<3>); }).find("repeat_heads: ") == 0);
  CHECK(refusal([&] { (void)poot::nn::repeat_heads(many, poot::int64{8}); }).find("repeat_heads: operand 0 of (f32[N,4,8]): ") == 0);
  CHECK(refusal([&] { (void)poot::nn::join_heads(wide); }) == "join_heads: operand 0 of (f32[2,4,N]): heads and their width must be numbers, not dynamic");
  CHECK(refusal([&] { (void)poot::nn::split_heads(flat, poot::int64{4}); }) == "split_heads: operand 0 of (f32[4,N]): the last extent must be a number, not dynamic");
  for (poot::int64 width : {poot::int64{5}, poot::int64{0}, n.code})
    CHECK(refusal([&] { (void)poot::nn::heads_of(g.input(std::to_string(width), f32, {4, 16}), width); }).find("heads_of: operand 0 of (f32[4,16]): the width") == 0);
}
