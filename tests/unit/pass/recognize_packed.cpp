#include "before_after.hpp"

#include <poot/pass/recognize_packed.hpp>

using namespace before_after;

namespace {
constexpr auto recognize = [](ir::graph g, pass::record& notes) { return pass::recognize_packed(std::move(g), notes); };
std::string weight(const char* format, const char* rows) { return std::string("%w : ") + format + '[' + rows + ",256] = weight \"w\"\n"; }
}  // namespace

TEST_CASE("makes contractions and row gathers of packed weights ops of their own") {
  for (const char* format : {"q4_0", "q8_0", "q4_k", "q6_k", "mxfp4"}) {
    INFO(std::string(format));
    const std::string x = "%x : f32[2,256] = input \"x\"\n" + weight(format, "3"), result = "%r : f32[2,3] = ";
    const std::string packed = "packed_contraction %x, %w {transpose_b=1}\noutput \"y\" = %r";
    CHECK(after(recognize, x + result + "matmul %x, %w {transpose_b=1}\noutput \"y\" = %r") == normal(x + result + packed));
    const std::string cast = "%c : f32[3,256] = cast %w\n";
    CHECK(after(recognize, x + cast + result + "matmul %x, %c {transpose_b=1}\noutput \"y\" = %r") == normal(x + cast + result + packed));
    const std::string experts = "%x : f32[2,256] = input \"x\"\n%i : i32[2] = input \"i\"\n" + weight(format, "5,3");
    CHECK(after(recognize, experts + result + "indexed_matmul %x, %w, %i\noutput \"y\" = %r") == normal(experts + result + "packed_contraction %x, %w, %i\noutput \"y\" = %r"));
    const std::string rows = "%i : i32[2] = input \"i\"\n" + weight(format, "7") + "%g : " + format + "[2,256] = gather %w, %i {axis=0}\n";
    CHECK(after(recognize, rows + "%r : f32[2,256] = cast %g\noutput \"y\" = %r") == normal(rows + "%r : f32[2,256] = packed_gather %w, %i {axis=0}\noutput \"y\" = %r"));
  }
}

TEST_CASE("keeps what is not the contraction's own load") {
  for (const char* tail : {"%c : bf16[256,256] = cast %w\n%r : f32[2,256] = matmul %x, %c {transpose_b=1}",   // rounds to bf16 first
                           "%c : f32[256,256] = cast %w\n%r : f32[2,256] = matmul %x, %c",                     // not in [N,K] order
                           "%c : f32[256,256] = cast %w\n%r : f32[256,2] = matmul %c, %x {transpose_b=1}",     // the first operand
                           "%c : f32[256,256] = cast %w\n%r : f32[256,1] = reduce_sum %c {axis=1}"})
    CHECK(unchanged(recognize, "%x : f32[2,256] = input \"x\"\n" + weight("q8_0", "256") + tail + "\noutput \"y\" = %r"));
}

TEST_CASE("keeps the bits") {
  poot_tests::draws d(6);
  for (const char* format : {"q4_0", "q8_0", "q6_k"})
    for (const char* tail : {"%r : f32[2,3] = matmul %x, %w {transpose_b=1}", "%c : f32[3,256] = cast %w\n%r : bf16[2,3] = matmul %x, %c {transpose_b=1}",
                             "%g : %%[2,256] = gather %w, %i {axis=0}\n%r : f32[2,256] = cast %g", "%g : %%[2,256] = gather %w, %i {axis=0}\n%r : bf16[2,256] = cast %g"}) {
      std::string body = "%x : f32[2,256] = input \"x\"\n%i : i32[2] = input \"i\"\n" + weight(format, "3") + tail + "\noutput \"y\" = %r";
      if (const size_t at = body.find("%%"); at != std::string::npos) body.replace(at, 2, format);
      pass::record notes, again;
      const ir::graph g = parsed(body), made = pass::recognize_packed(g, notes);
      INFO(body);
      CHECK(ir::verify(made));
      CHECK(notes.changed.size() == 1);
      CHECK(same_values(g, made, d));
      pass::recognize_packed(made, again);
      CHECK(again.changed.empty());
    }
}

// Attributes may be left out; the pass must not look for one that is not there.
TEST_CASE("reads transpose_b of a matmul without attributes as 0") {
  ir::graph g;
  const uint32 x = g.leaf(ir::op::input, type_of(f32, 2, 32), {}, "x"), w = g.leaf(ir::op::weight, type_of(q8_0, 32, 32), {}, "w");
  const uint32 c = g.apply(ir::op::cast, {&w, 1}, {}, type_of(f32, 32, 32));
  const uint32 in[2] = {x, c};
  g.add_output("y", g.apply(ir::op::matmul, {in, 2}, {}, type_of(f32)));
  g.attr_pool.push_back(1);  // what stands there belongs to somebody else
  pass::record notes;
  const ir::graph made = pass::recognize_packed(g, notes);
  CHECK(made.eqns[made.outputs[0].value].kind == ir::op::matmul);
}
