#include <doctest/doctest.h>

#include <poot/ir/parse.hpp>
#include <poot/plan/compile.hpp>

#include <set>
#include <string>
#include <vector>

using namespace poot;
using plan::program;

namespace {

program planned(const std::string& body, bool fuse = true) {
  plan::options o;
  o.fuse = fuse;
  return plan::compile(ir::parse("graph t {\n" + body + "\n}\n"), targets::host, o);
}

/// `layers` times: x + tanh(norm(x) @ w), two launches where the rows are many, else one.
std::string layers(int count, const char* rows = "9") {
  const std::string x = std::string("f32[") + rows + ",16]", r = std::string("f32[") + rows + ",1]";
  std::string body = "%x0 : " + x + " = input \"x\"\n";
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    body += "%w" + n + " : f32[16,16] = weight \"w" + n + "\"\n%q" + n + " : " + x + " = mul %x" + n + ", %x" + n + "\n%s" + n + " : " + r + " = reduce_sum %q" + n +
            " {axis=1}\n%t" + n + " : " + r + " = sqrt %s" + n + "\n%h" + n + " : " + x + " = div %x" + n + ", %t" + n + "\n%m" + n + " : " + x + " = matmul %h" + n + ", %w" + n +
            " {transpose_b=1}\n%e" + n + " : " + x + " = tanh %m" + n + "\n%x" + std::to_string(i + 1) + " : " + x + " = add %x" + n + ", %e" + n + "\n";
  }
  return body + "output \"y\" = %x" + std::to_string(count) + "\n";
}

/// The hash of the only kernel.
uint64 hash_of(const std::string& body) {
  const program p = planned(body);
  REQUIRE(p.kernel_table.size() == 1);
  return p.kernel_table[0].hash;
}

}  // namespace

TEST_CASE("plans a layer once and calls it often") {
  for (int count : {2, 3, 8, 40}) {
    const program p = planned(layers(count));
    INFO(count);
    CHECK(p.launches.size() == static_cast<size_t>(2 * count));
    CHECK(p.kernels().size() == 2);
    REQUIRE(p.sections().size() == 1);
    CHECK(p.sections()[0] == plan::section{0, 2, static_cast<uint32>(count)});
    for (const plan::kernel& k : p.kernels()) CHECK(k.launches == static_cast<uint32>(count));
  }
}

TEST_CASE("a kernel that begins with rows knows how many there are") {
  CHECK(planned(layers(3, "4")).launches.size() == 3);
  CHECK(planned(layers(3, "4")).kernels().size() == 1);
  CHECK(planned(layers(1, "4")).kernels()[0].hash == planned(layers(2, "4")).kernels()[0].hash);
  CHECK(planned(layers(1, "4")).kernels()[0].hash != planned(layers(1, "5")).kernels()[0].hash);
  CHECK(planned(layers(1, "9")).kernels()[0].hash == planned(layers(1, "12")).kernels()[0].hash);
}

TEST_CASE("finds the layers between a beginning and an end") {
  std::string body = layers(5);
  body.replace(body.find("output"), std::string::npos, "");
  body = body.replace(body.find("%x0 : f32[9,16] = input \"x\""), 27, "%in : f32[16,9] = input \"x\"\n%x0 : f32[9,16] = transpose %in {perm=[1,0]}");
  const program p = planned(body + "%z : i32[9,1] = reduce_argmax %x5 {axis=1}\noutput \"y\" = %z");
  REQUIRE(p.sections().size() == 1);
  CHECK(p.sections()[0] == plan::section{1, 2, 5});
}

TEST_CASE("every launch has a kernel, every kernel its launches") {
  const program p = planned(layers(3), false);
  std::vector<uint32> launches(p.kernel_table.size());
  for (uint32 i = 0; i < p.launches.size(); ++i) {
    const uint32 k = p.launches[i].kernel;
    REQUIRE(k < p.kernel_table.size());
    if (launches[k]++ == 0) CHECK(p.kernel_table[k].first_launch == i);
  }
  for (size_t k = 0; k < launches.size(); ++k) CHECK(launches[k] == p.kernel_table[k].launches);
  for (const plan::section& s : p.sections())
    for (uint32 i = s.first + s.length; i < s.first + s.length * s.times; ++i) CHECK(p.launches[i].kernel == p.launches[i - s.length].kernel);
}

TEST_CASE("extents are no part of a kernel; broadcasting is") {
  const auto sum = [](const char* x, const char* y, const char* z) {
    return hash_of(std::string("%x : ") + x + " = input \"x\"\n%y : " + y + " = input \"y\"\n%a : " + z + " = add %x, %y\noutput \"o\" = %a");
  };
  CHECK(sum("f32[4,8]", "f32[4,8]", "f32[4,8]") == sum("f32[30,7]", "f32[30,7]", "f32[30,7]"));
  CHECK(sum("f32[4,8]", "f32[4,8]", "f32[4,8]") == sum("f32[L<=9,7]", "f32[L,7]", "f32[L,7]"));
  const std::set<uint64> apart{sum("f32[4,8]", "f32[4,8]", "f32[4,8]"), sum("f32[4,8]", "f32[4,1]", "f32[4,8]"), sum("f32[4,8]", "f32[1,8]", "f32[4,8]"),
                               sum("f32[4,8]", "f32[8]", "f32[4,8]"), sum("bf16[4,8]", "bf16[4,8]", "bf16[4,8]"), sum("f32[2,4,8]", "f32[2,4,8]", "f32[2,4,8]")};
  CHECK(apart.size() == 6);
}

TEST_CASE("what a region computes is part of its kernel") {
  const auto over = [](const std::string& equations) {
    return hash_of("%x : f32[4,8] = input \"x\"\n%y : f32[4,8] = input \"y\"\n" + equations + "\noutput \"o\" = %r");
  };
  const std::vector<std::string> regions = {
      "%r : f32[4,8] = sub %x, %y", "%r : f32[4,8] = sub %x, %x", "%r : f32[4,8] = sub %x, f32(1)", "%r : f32[4,8] = sub %x, f32(2)",
      "%r : f32[4,8] = sub f32(2), %x", "%r : f32[4,8] = add %x, %y", "%a : f32[4,8] = add %x, %y\n%r : f32[4,8] = exp %a",
      "%a : f32[4,8] = exp %x\n%r : f32[4,8] = add %a, %y", "%a : f32[4,8] = exp %x\n%r : f32[4,8] = add %a, %x", "%a : f32[4,8] = exp %x\n%r : f32[4,8] = add %a, %a",
      "%r : f32[4,1] = reduce_sum %x {axis=1}", "%r : f32[1,8] = reduce_sum %x {axis=0}", "%r : f32[4,1] = reduce_max %x {axis=1}",
      "%r : f32[4,4] = matmul %x, %y {transpose_b=1}", "%r : f32[8,4] = transpose %x {perm=[1,0]}", "%r : bf16[4,8] = cast %x", "%r : f16[4,8] = cast %x",
      "%r : f32[8,8] = concat %x, %y {axis=0}", "%r : f32[4,16] = concat %x, %y {axis=1}", "%a : f32[4,8] = exp %x\n%r : f32[4,8] = neg %a\noutput \"p\" = %a"};
  std::set<uint64> hashes;
  for (const std::string& r : regions) {
    INFO(r);
    CHECK(hashes.insert(over(r)).second);
  }
  // names, and which input is which, are not
  CHECK(over("%r : f32[4,8] = sub %y, %x") == over("%r : f32[4,8] = sub %x, %y"));
  CHECK(hash_of("%q : f32[4,8] = input \"q\"\n%p : f32[4,8] = input \"p\"\n%r : f32[4,8] = sub %q, %p\noutput \"z\" = %r") == over("%r : f32[4,8] = sub %x, %y"));
}

// A constant's bits and the number of a value must not be taken for each other.
TEST_CASE("tells constants from values whatever their bits") {
  const auto with = [](const char* second) {
    return hash_of(std::string("%x : f64[4] = input \"x\"\n%t : f64[4] = neg %x\n%r : f64[4] = add %t, ") + second + "\noutput \"o\" = %r");
  };
  CHECK(with("%t") != with("f64(bits 0xffffffffffff61ca)"));
}
