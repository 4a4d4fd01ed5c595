// Expected texts were written by hand from docs and rules: bytes are reads once and writes once, flops one per add or mul.
#include <poot/ir/parse.hpp>
#include <poot/plan/compile.hpp>
#include <poot/plan/print.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace poot;

namespace {

/// The text of the plan of a graph's text, with `HASH` where the hashes of kernels stand.
std::string planned(std::string_view source, bool fuse = true) {
  plan::options wanted;
  wanted.fuse = fuse;
  std::string s(plan::print(plan::compile(ir::parse(source), targets::host, wanted)).str());
  for (size_t at = 0; (at = s.find("  kernel 0x", at)) != s.npos;) {
    const size_t first = at + 9, end = s.find(' ', first);
    s.replace(first, end - first, "HASH");
    at = first;
  }
  return s;
}

constexpr const char* target_line =
    "program {\n  target host {buffers=128 members=1024 buffer_bytes=4611686018427387904 groups_x=2147483647 groups_y=2147483647 workgroup=0 shared=0 subgroup=0 "
    "fma=1 flushes=0 div_exact=1 sqrt_exact=1 max_nan=1 pack_rne=1 rope=1 attention=1 matrix_bf16=0 matrix_f16=0}\n";

constexpr const char* two_results =
    "graph square {\n  %x : f32[2,3] = input \"x\"\n  %y : f32[2,3] = mul %x, %x\n  %z : f32[2,3] = add %y, f32(1)\n"
    "  output \"y\" = %y\n  output \"z\" = %z\n}\n";

}  // namespace

TEST_CASE("writes one dispatch with all that it reads and writes") {
  CHECK(planned(two_results) == std::string(target_line) +
        "  memory {arena=0 unshared=0 tables=0}\n"
        "  launch pointwise generated exact {kernel=0 members=[%1,%3] inputs=[%x] outputs=[%1,%3] bytes=72 flops=12}\n"
        "  kernel HASH {first=0 launches=1}\n"
        "  place %x leaf\n"
        "  place %1 output 0\n"
        "  place %3 output 1\n"
        "  origins [0,1,2,3]\n"
        "}\n"
        "graph square {\n"
        "  %x : f32[2,3] = input \"x\"\n"
        "  %1 : f32[2,3] = mul %x, %x\n"
        "  %2 : f32[] = constant f32(1)\n"
        "  %3 : f32[2,3] = add %1, %2\n"
        "  output \"y\" = %1\n"
        "  output \"z\" = %3\n"
        "}\n");
}

TEST_CASE("writes transient values, views and states where they live") {
  // %1 is transient, one cache line; %2 views it; the update writes the state in place.
  const std::string s = planned(
      "graph g {\n  %x : f32[2,3] = input \"x\"\n  %at : i32[1] = input \"at\"\n  %held : f32[8] = state \"held\"\n"
      "  %a : f32[2,3] = neg %x\n  %b : f32[6] = reshape %a\n"
      "  %c : f32[8] = dynamic_update_slice %held, %b, %at\n  output \"held\" = %c\n}\n");
  CAPTURE(s);
  for (const char* line : {"  memory {arena=64 unshared=64 tables=0}\n", "  place %held leaf\n", "  place %3 arena 0\n",
                           "  place %4 view %3\n", "  place %5 state %held\n"})
    CHECK(s.find(line) != s.npos);
  CHECK(s.find("  launch movement generated exact {kernel=1 members=[%5] ") != s.npos);
}

TEST_CASE("writes what the plan declined and copies, by name") {
  const std::string s = planned(
      "graph g {\n  %x : f32[4,8] = input \"x\"\n  %w : f32[8,8] = weight \"w\"\n  %h : f32[4,8] = matmul %x, %w\n"
      "  %i : f32[4,8] = matmul %h, %w\n  output \"y\" = %i\n  output \"again\" = %x\n}\n");
  CAPTURE(s);
  CHECK(s.find("  decline %2 %3 head_operand\n") != s.npos);
  CHECK(s.find("  copy %x output 1\n") != s.npos);
  CHECK(s.find("  launch contraction imported exact {") != s.npos);
}

TEST_CASE("writes names that are no identifiers as numbers, and quotes them once") {
  const std::string s = planned("graph g {\n  %a : f32[2] = input \"my \\\"x\\\"\"\n  %b : f32[2] = neg %a\n  output \"y z\" = %b\n}\n");
  CHECK(s.find("  place %0 leaf\n") != s.npos);
  CHECK(s.find("  %0 : f32[2] = input \"my \\\"x\\\"\"\n") != s.npos);
  CHECK(s.find("  output \"y z\" = %1\n") != s.npos);
}

TEST_CASE("one dispatch per equation has as many launch lines") {
  const std::string s = planned(two_results, false);
  size_t count = 0;
  for (size_t at = 0; (at = s.find("  launch ", at)) != s.npos; ++at) ++count;
  CHECK(count == 2);
}
