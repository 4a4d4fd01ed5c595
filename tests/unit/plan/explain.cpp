// Totals are counted by hand: a value of f32[4,8] has 128 bytes, of f32[8,8] 256.
#include <poot/ir/parse.hpp>
#include <poot/plan/explain.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace poot;

namespace {

plan::program made(std::string_view source) { return plan::compile(ir::parse(source), targets::host); }

constexpr const char* chain =
    "graph chain {\n  %x : f32[4,8] = input \"x\"\n  %a : f32[4,8] = neg %x\n  %b : f32[4,8] = exp %a\n"
    "  %c : f32[4,8] = add %b, %x\n  output \"y\" = %c\n}\n";
constexpr const char* products =
    "graph products {\n  %x : f32[4,8] = input \"x\"\n  %w : f32[8,8] = weight \"w\"\n  %h : f32[4,8] = matmul %x, %w\n"
    "  %i : f32[4,8] = matmul %h, %w\n  output \"y\" = %i\n}\n";

bool holds(std::string_view s, std::string_view part) { return s.find(part) != s.npos; }

std::string bytes(int64 n) {
  text t;
  plan::write_bytes(t, n);
  return std::string(t.str());
}

}  // namespace

TEST_CASE("says what a chain of three saves") {
  const plan::program p = made(chain);
  const plan::program apart = plan::unfused_plan(p);
  // Apart: 2, 2 and 3 values of 128 bytes are moved; together, x and y.
  CHECK(apart.dispatch_count() == 3);
  CHECK(apart.bytes_moved() == 7 * 128);
  const vec<plan::saving> saved = plan::savings(p, apart);
  REQUIRE(saved.size() == 1);
  CHECK(saved[0].dispatches == 2);
  CHECK(saved[0].bytes == 5 * 128);
  const text t = plan::explain(p);
  const std::string_view s = t.str();
  CAPTURE(std::string(s));
  CHECK(holds(s, "program chain for host: 4 equations, 1 dispatch of 1 kernel; values are exact\n"));
  CHECK(holds(s, "3 steps element by element over f32[4,8]: neg exp add\n"));
  CHECK(holds(s, "reads %x; writes \"y\"; saves 2 dispatches and 640 B\n"));
  CHECK(holds(s, "dispatches                             3           1\n"));
  CHECK(holds(s, "bytes moved                        896 B       256 B\n"));
  CHECK(holds(s, "transient, nothing shared          256 B         0 B\n"));
}

TEST_CASE("names what stayed apart, once, and why") {
  const text t = plan::explain(made(products));
  const std::string_view s = t.str();
  CAPTURE(std::string(s));
  CHECK(holds(s, "stayed apart\n  head_operand: a contraction reads its operands from memory, so what makes them runs before\n    %2 (matmul) and \"y\" (matmul)\n"));
  CHECK(holds(s, "matmul to f32[4,8]: matmul\n"));
}

TEST_CASE("a layer that repeats is shown once") {
  std::string source = "graph deep {\n  %x : f32[4,8] = input \"x\"\n  %w : f32[8,8] = weight \"w\"\n  %v : f32[8,8] = weight \"v\"\n";
  std::string before = "%x";
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    source += "  %a" + n + " : f32[4,8] = matmul " + before + ", %w\n  %b" + n + " : f32[4,8] = neg %a" + n + "\n  %c" + n +
              " : f32[4,8] = matmul %b" + n + ", %v {transpose_b=1}\n";
    before = "%c" + n;
  }
  const plan::program p = made(source + "  output \"y\" = " + before + "\n}\n");
  REQUIRE(p.sections().size() == 1);
  const text t = plan::explain(p);
  const std::string_view s = t.str();
  CAPTURE(std::string(s));
  size_t lines = 0;
  for (size_t at = 0; (at = s.find("matmul to f32[4,8]", at)) != s.npos; ++at) ++lines;
  CHECK(lines <= 4);
  CHECK(holds(s, " times dispatches "));
}

TEST_CASE("says which rewrites were left out to keep every bit") {
  const text t = plan::explain(made(
      "graph g {\n  %x : f32[4] = input \"x\"\n  %y : f32[4] = input \"y\"\n  %r : f32[4] = recip %y\n  %z : f32[4] = mul %x, %r\n  output \"z\" = %z\n}\n"));
  CHECK(holds(t.str(), "  reciprocal_division: x * recip(y) rounds twice, x / y once\n    %3\n"));
}

TEST_CASE("writes counts of bytes with three or four digits") {
  CHECK(bytes(0) == "0 B");
  CHECK(bytes(999) == "999 B");
  CHECK(bytes(1000) == "1.0 kB");
  CHECK(bytes(999949) == "999.9 kB");
  CHECK(bytes(1250000) == "1.25 MB");
  CHECK(bytes(2470000000) == "2.47 GB");
  CHECK(bytes(-640) == "-640 B");
}
