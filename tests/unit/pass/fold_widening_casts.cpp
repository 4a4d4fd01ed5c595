#include "before_after.hpp"

#include <poot/pass/fold_widening_casts.hpp>

using namespace before_after;

namespace {
constexpr auto fold = [](ir::graph g, pass::record& notes) { return pass::fold_widening_casts(std::move(g), notes); };
}

static_assert([] {
  pass::record notes;
  const ir::graph g = pass::fold_widening_casts(
      ir::parse("graph t {\n%x : f32[2,4] = input \"x\"\n%w : bf16[4,3] = weight \"w\"\n%a : f32[4,3] = cast %w\n%r : f32[2,3] = matmul %x, %a\noutput \"y\" = %r\n}"), notes);
  return g.view_of().operands(3)[1] == 1 && notes.changed.size() == 1;
}());

TEST_CASE("lets contractions read narrow floats themselves") {
  for (const char* narrow : {"f16", "bf16"}) {
    const std::string w = std::string("%x : f32[2,4] = input \"x\"\n%w : ") + narrow + "[3,4] = weight \"w\"\n%c : f32[3,4] = cast %w\n";
    CHECK(after(fold, w + "%r : f32[2,3] = matmul %x, %c {transpose_b=1}\noutput \"y\" = %r") == normal(w + "%r : f32[2,3] = matmul %x, %w {transpose_b=1}\noutput \"y\" = %r"));
    const std::string both = std::string("%x : ") + narrow + "[2,4] = input \"x\"\n%c : f32[2,4] = cast %x\n";
    CHECK(after(fold, both + "%r : f32[2,2] = matmul %c, %c {transpose_b=1}\noutput \"y\" = %r") == normal(both + "%r : f32[2,2] = matmul %x, %x {transpose_b=1}\noutput \"y\" = %r"));
    const std::string indexed = std::string("%x : f32[2,4] = input \"x\"\n%i : i32[2] = input \"i\"\n%w : ") + narrow + "[5,3,4] = weight \"w\"\n%c : f32[5,3,4] = cast %w\n";
    CHECK(after(fold, indexed + "%r : f32[2,3] = indexed_matmul %x, %c, %i\noutput \"y\" = %r") == normal(indexed + "%r : f32[2,3] = indexed_matmul %x, %w, %i\noutput \"y\" = %r"));
  }
}

TEST_CASE("keeps casts that round, that other ops read, and those to f64") {
  for (const char* body : {"%x : f32[2,4] = input \"x\"\n%c : bf16[2,4] = cast %x\n%r : f32[2,2] = matmul %c, %c {transpose_b=1}\noutput \"y\" = %r",
                           "%x : f64[2,4] = input \"x\"\n%c : f32[2,4] = cast %x\n%r : f32[2,2] = matmul %c, %c {transpose_b=1}\noutput \"y\" = %r",
                           "%x : bf16[2,4] = input \"x\"\n%c : f64[2,4] = cast %x\n%r : f64[2,2] = matmul %c, %c {transpose_b=1}\noutput \"y\" = %r",
                           "%x : i32[2,4] = input \"x\"\n%c : f32[2,4] = cast %x\n%r : f32[2,2] = matmul %c, %c {transpose_b=1}\noutput \"y\" = %r",
                           "%x : bf16[2,4] = input \"x\"\n%c : f32[2,4] = cast %x\n%r : f32[2,1] = reduce_sum %c {axis=1}\noutput \"y\" = %r"})
    CHECK(unchanged(fold, body));
}

TEST_CASE("keeps every bit of random graphs, and has nothing to do a second time") {
  check_bits(fold, 5000, 600);
  check_settles(fold, 5000);
}
