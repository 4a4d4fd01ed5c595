// Attention in two equations, the parts of its chunks and their join: text, types, and values beside those of the whole one.
#include <poot/ir/equal.hpp>
#include <poot/ir/interpret.hpp>
#include <poot/ir/parse.hpp>
#include <poot/ir/print.hpp>
#include <poot/ir/verify.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace poot;
using namespace poot::ir;

namespace {

constexpr graph graph_of(std::string_view body) {
  text all("graph t {\n");
  all << body << "}\n";
  return parse(all.str());
}

std::string parse_error(const std::string& body) {
  try {
    graph_of(body + "\noutput \"y\" = %y\n");
  } catch (const error& e) {
    return e.what();
  }
  return "";
}
bool names(const std::string& message, const char* rule) { return message.find(rule) != std::string::npos; }

constexpr tensor floats(std::initializer_list<float> values, std::initializer_list<int64> extents) {
  tensor_type t;
  for (int64 e : extents) t.extents[t.rank++] = e;
  tensor made(t);
  size_t i = 0;
  for (float x : values) made.bits[i++] = ieee::to_bits(x);
  return made;
}

/// Two heads of one query over two keys that both share, and nothing over none.
constexpr bool parts_are_what_their_columns_say() {
  const graph g = graph_of("%q : f32[2,1,1] = input \"q\"\n%k : f32[S<=600,1] = input \"k\"\n%v : f32[S,2] = input \"v\"\n"
                           "%y : f32[2,1,3,5] = attention_parts %q, %k, %v\noutput \"y\" = %y\n");
  const named_tensor given[] = {{"q", floats({0, 1}, {2, 1, 1})}, {"k", floats({3, 3}, {2, 1})}, {"v", floats({1, 2, 10, 20}, {2, 2})}};
  const float none = -ieee::infinity_like(1.0f);
  if (interpret(g, {given, 3}).outputs[0].value.bits != floats({11, 22, 0, 2, 2, 0, 0, none, 0, 0, 0, 0, none, 0, 0, 11, 22, 3, 2, 2, 0, 0, none, 0, 0, 0, 0, none, 0, 0},
                                                               {2, 1, 3, 5}).bits)
    return false;
  const graph j = graph_of("%p : f32[2,2,4] = input \"p\"\n%s : f32[] = input \"s\"\n%y : f16[2,1] = attention_join %p, %s\noutput \"y\" = %y\n");
  const named_tensor parts[] = {{"p", floats({6, 0, 1, 9, 0, none, 0, 0, 6, none, 0, 0, 4, 0, 1, 9}, {2, 2, 4})}, {"s", floats({0}, {})}};
  const vec<uint64> joined = interpret(j, {parts, 2}).outputs[0].value.bits;  // 6 / (1 + 1); no key in the first chunk
  return joined[0] == 0x4200 && joined[1] == 0;
}
static_assert(parts_are_what_their_columns_say());

}  // namespace

TEST_CASE("parts and their join are printed and read back") {
  const std::string leaves = "%q : f32[6,3,4] = input \"q\"\n%k : bf16[2,L<=900,4] = input \"k\"\n%m : f32[3,L] = input \"m\"\n%c : i32[L] = input \"c\"\n%s : bf16[6,1,1] = weight \"s\"\n";
  for (const char* call : {"attention_parts %q, %k, %k", "attention_parts %q, %k, %k, %m, %c {scale=0x1p-1 softcap=20 order={lanes=1 chunk=256 fused=1}}"})
    for (const char* join : {"attention_join %0", "attention_join %0, %s {order={lanes=1 chunk=256 fused=1}}"}) {
      const graph g = graph_of(leaves + "%0 : f32[6,3,4,7] = " + call + "\n%1 : bf16[6,3,4] = " + join + "\noutput \"y\" = %1\n");
      CHECK(verify(g));
      const std::string text(print(g).str());
      INFO(text);
      CHECK(text.find(std::string("= ") + call + "\n") != std::string::npos);
      CHECK(text.find(std::string("= ") + join + "\n") != std::string::npos);
      CHECK(structurally_equal(g, parse(text)));
    }
}

TEST_CASE("parts and their join refuse what their typing rules do not allow, naming the rule") {
  const auto parts = [](const char* q, const char* k, const char* type, const char* attrs = "") {
    return parse_error(std::string("%q : ") + q + " = input \"q\"\n%k : " + k + " = input \"k\"\n%y : " + type + " = attention_parts %q, %k, %k" + attrs);
  };
  CHECK(parts("f32[6,3,4]", "f32[2,700,4]", "f32[6,3,3,7]") == "");
  CHECK(parts("f32[6,3,4]", "f32[2,0,4]", "f32[6,3,1,7]") == "");
  CHECK(parts("f32[6,3,4]", "f32[2,700,4]", "f32[6,3,2,7]") != "");
  CHECK(names(parts("f32[6,3,4]", "f32[4,700,4]", "f32[6,3,3,7]"), "must be that of v, and divide that of q"));
  CHECK(names(parts("f32[6,3,E<=4]", "f32[2,700,E]", "f32[6,3,3,7]"), "numbers say how many chunks and columns"));
  CHECK(names(parts("f32[1,1,1,6,3,4]", "f32[2,700,4]", "f32[6,3,3,7]"), "axes"));
  CHECK(names(parts("f32[6,3,4]", "f32[2,700,4]", "f32[6,3,3,7]", " {sink=1}"), "there is no attribute sink here"));
  const auto join = [](const char* p, const char* type, const char* sink = "f32[6,1,1]") {
    return parse_error(std::string("%p : ") + p + " = input \"p\"\n%s : " + sink + " = input \"s\"\n%y : " + type + " = attention_join %p, %s");
  };
  CHECK(join("f32[6,3,3,7]", "bf16[6,3,4]") == "");
  CHECK(join("f32[6,L<=3,3,7]", "f32[6,L,4]") == "");
  CHECK(names(join("f16[6,3,3,7]", "f32[6,3,4]"), "parts are f32"));
  CHECK(names(join("f32[6,3,0,7]", "f32[6,3,4]"), "at least one chunk"));
  CHECK(names(join("f32[6,3,3,2]", "f32[6,3,4]"), "E + 3"));
  CHECK(names(join("f32[3,7]", "f32[4]"), "parts are f32"));
  CHECK(names(join("f32[6,3,C<=3,7]", "f32[6,3,4]"), "numbers say how many chunks"));
  CHECK(names(join("f32[6,3,3,7]", "i32[6,3,4]"), "float"));
  CHECK(names(join("f32[6,3,3,7]", "f32[6,3,4]", "f32[6,3,4]"), "broadcasts into a column"));
  CHECK(names(parse_error("%p : f32[3,3,7] = input \"p\"\n%y : f32[3,4] = attention_join %p, %p, %p"), "the number of operands is wrong"));
}
