#include <poot/ir/equal.hpp>
#include <poot/ir/parse.hpp>
#include <poot/ir/print.hpp>
#include <poot/ir/verify.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#define POOT_HAS_JSON
#endif

using namespace poot;
using namespace poot::ir;

namespace {

/// The message of the refusal; empty if the text is accepted.
std::string refusal(std::string_view source) {
  try {
    parse(source);
  } catch (const error& e) {
    return e.what();
  }
  return {};
}
bool contains(const std::string& s, std::string_view part) { return s.find(part) != std::string::npos; }

std::string in_graph(const std::string& lines) { return "graph g {\n" + lines + "}\n"; }

static_assert([] {
  const graph g = parse("graph g { %x : i32[L<=8,3] = input \"x\" %0 : i32[L,3] = add %x, i32(-1) output \"y\" = %0 }");
  return g.size() == 3 && g.eqns[1].type == type_of(i32) && g.attr_pool[0] == 0xffffffff && g.eqns[2].type.extents[0].bound() == 8 &&
         g.view_of().name_of(0) == "x" && g.outputs[0].value == 2;
}());

}  // namespace

TEST_CASE("keeps attributes in the order that typing reads") {
  const graph g = parse(in_graph(R"(
    %x : f32[1,4,9,9] = input "x"
    %w : f32[4,2,3,3] = weight "w"
    %0 : f32[1,4,9,9] = conv2d %x, %w {groups=2 pad=[1,1,1,1]}
    %1 : f32[1,4,3,2] = slice %0 {size=[1,4,3,2] start=[0,0,2,1] step=[1,1,2,5]}
    %2 : f32[4,4] = constant f32(1)
    %3 : f32[4,4] = matmul %2, %2
  )"));
  CHECK(g.view_of().attrs(2) == view<int64>(vec<int64>{1, 1, 1, 1, 1, 1, 1, 1, 2}));
  CHECK(g.view_of().attrs(3) == view<int64>(vec<int64>{0, 0, 2, 1, 1, 4, 3, 2, 1, 1, 2, 5}));
  CHECK(g.view_of().attrs(5) == view<int64>(vec<int64>{0}));
}

TEST_CASE("reads the bits of every literal") {
  const auto bits = [](const std::string& literal, const std::string& type) {
    const graph g = parse(in_graph("%0 : " + type + "[] = constant " + literal + "\n"));
    return static_cast<uint64>(g.attr_pool[0]);
  };
  CHECK(bits("f32(1e-5)", "f32") == 0x3727c5ac);
  CHECK(bits("f32(0x1p-12)", "f32") == 0x39800000);
  CHECK(bits("f32(-inf)", "f32") == 0xff800000);
  CHECK(bits("f32(bits 0x7fc00001)", "f32") == 0x7fc00001);
  CHECK(bits("f64(0.1)", "f64") == 0x3fb999999999999a);
  CHECK(bits("f16(65504)", "f16") == 0x7bff);
  CHECK(bits("bf16(-0)", "bf16") == 0x8000);
  CHECK(bits("i8(-128)", "i8") == 0x80);
  CHECK(bits("u32(0xffffffff)", "u32") == 0xffffffff);
  CHECK(bits("bool(1)", "bool") == 1);
}

TEST_CASE("reads the old state wherever it stands, and allows outputs anywhere") {
  const graph g = parse(in_graph("%s : f32[2] = state \"s\"\n%0 : f32[2] = neg %s\noutput \"s\" = %0\n"
                                 "%1 : f32[2] = exp %s\noutput \"old\" = %1\n"));
  CHECK(g.outputs.size() == 2);
  CHECK(verify(g));
}

TEST_CASE("names line, column, value and rule when it refuses") {
  struct row {
    const char* lines;
    std::vector<const char*> parts;
  };
  const std::string x = "%x : f32[4] = input \"x\"\n";
  const std::vector<row> rows = {
      {"%0 : f32[4] = add %x, %1\n%1 : f32[4] = mul %0, f32(2)\n", {"line 3, column 23", "%0: add", "reads %1"}},
      {"%0 : f32[4] = add %0, %x\n", {"%0: add", "reads %0"}},
      {"%0 : f32[4] = frob %x\n", {"line 3, column 15", "%0", "no op frob"}},
      {"%0 : f23[4] = neg %x\n", {"line 3, column 6", "%0", "no element type f23"}},
      {"%x : f32[4] = neg %x\n", {"line 3, column 1", "%x", "taken"}},
      {"%0 : f32[4] = input \"x\"\n", {"line 3, column 21", "%0: input", "\"x\"", "taken"}},
      {"output \"y\" = %7\n", {"line 3, column 14", "\"y\"", "%7"}},
      {"output \"y\" = %x\noutput \"y\" = %x\n", {"line 4, column 8", "\"y\"", "earlier output"}},
      {"%0 : f32[1] = reduce_sum %x\n", {"%0: reduce_sum", "axis is missing"}},
      {"%0 : f32[1] = reduce_sum %x {axis=1}\n", {"%0: reduce_sum", "axis must lie inside"}},
      {"%0 : f32[1] = reduce_sum %x {axis=-1}\n", {"%0: reduce_sum", "axis must lie inside"}},
      {"%0 : f32[1] = reduce_sum %x {axis=[0]}\n", {"%0: reduce_sum", "a number"}},
      {"%0 : f32[1] = reduce_sum %x {axis=0 axis=0}\n", {"%0: reduce_sum", "twice"}},
      {"%0 : f32[1] = reduce_sum %x {perm=[0]}\n", {"%0: reduce_sum", "no attribute perm"}},
      {"%0 : f32[1] = reduce_sum %x {axis=0 order={lanes=70000}}\n", {"%0: reduce_sum", "70000"}},
      {"%0 : f32[1] = reduce_sum %x {axis=0\n", {"line 5, column 1", "the end of the text"}},
      {"%0 : f32[4] = neg %x, %x\n", {"%0: neg", "number of operands"}},
      {"%0 : f32[4] = add %x,\n", {"%0: add", "an operand after ','"}},
      {"%0 : f32[-4] = neg %x\n", {"line 3, column 10", "%0", "must not be negative"}},
      {"%0 : f32[1,1,1,1,1,1,1] = neg %x\n", {"%0", "at most 6 axes"}},
      {"%0 : f32[M] = neg %x\n", {"%0", "M", "bound at first use"}},
      {"%0 : f32[M<=4] = neg %x\n%1 : f32[M<=5] = neg %x\n", {"%0: neg: gives f32[4], declared is f32[M]"}},
      {"%a : f32[M<=4] = input \"a\"\n%b : f32[M<=5] = input \"b\"\n", {"line 4", "%b", "M is at most 5 here and at most 4 before"}},
      {"%0 : f32[M<=4294967296] = input \"a\"\n", {"%0", "4294967296"}},
      {"%0 : f32[4] = mul %x, f32(1e39)\n", {"%0: mul", "1e39", "too large for f32"}},
      {"%0 : f32[4] = mul %x, f32(1e999999999)\n", {"%0: mul", "1e999999999", "too large for f32"}},
      {"%0 : f32[4] = mul %x, f32(1.2.3)\n", {"%0: mul", "1.2.3", "not a number"}},
      {"%0 : f32[4] = mul %x, f32(bits 0x100000000)\n", {"%0: mul", "0x100000000"}},
      {"%0 : f32[4] = mul %x, q4_0(1)\n", {"%0: mul", "q4_0"}},
      {"%0 : i8[] = constant i8(128)\n", {"%0: constant", "128", "i8"}},
      {"%0 : i32[] = constant f32(1)\n", {"%0: constant", "f32", "i32"}},
      {"%0 : i32[3] = constant {values=[1,2]}\n", {"%0: constant", "one per element"}},
      {"%0 : f32[4] = broadcast\n", {"%0: broadcast", "number of operands"}},
      {"%0 : f32[2] = slice %x {start=[0]}\n", {"%0: slice", "size is missing"}},
      {"%0 : f32[2] = slice %x {start=[0,0] size=[2,2]}\n", {"%0: slice", "start must have 1 entries"}},
      {"%0 : f32[2] = slice %x {start=[3] size=[2]}\n", {"%0: slice", "must lie inside"}},
      {"%0 : f32[2] = slice %x {start=[0] size=[4611686018427387904] step=[4611686018427387904]}\n", {"%0: slice", "must lie inside"}},
      {"%0 : f32[4] = all_reduce_sum %x\n", {"%0: all_reduce_sum", "group is missing"}},
      {"%0 : f32[4] = all_reduce_sum %x {group=\"\"}\n", {"%0: all_reduce_sum", "needs the name of its group"}},
      {"%0 : f32[4] = all_reduce_sum %x {group=\"g\" axis=1}\n", {"%0: all_reduce_sum", "the axis must lie inside"}},
      {"%0 : f32[1] = all_reduce_sum %x {group=\"g\"}\n", {"%0: all_reduce_sum", "gives f32[4], declared is f32[1]"}},
      {"%0 : f32[8] = all_gather %x {group=\"g\"}\n", {"%0: all_gather", "axis is missing"}},
      {"%0 : f32[6] = all_gather %x {group=\"g\" axis=0}\n", {"%0: all_gather", "(f32[4]) to f32[6]", "a multiple of the operand's"}},
      {"%0 : f32[8] = all_gather %x {group=\"g\" axis=0}\n%1 : f32[1] = reduce_scatter %x {group=\"g\" axis=0}\n",
       {"%1: reduce_scatter", "the group \"g\" has 4 ranks here and 2 before (all_gather)"}},
      {"%0 : f32[4] = packed_contraction %x\n", {"%0: packed_contraction", "number of operands"}},
      {"%w : q4_0[2,48] = weight \"w\"\n", {"%w: weight", "q4_0", "32"}},
      {"%0 : f32[1099511627776,1099511627776] = input \"big\"\n", {"%0", "2^62"}},
      {"%0 : f32[0,1099511627776,1099511627776] = input \"big\"\n", {"%0", "2^62"}},
      {"%0 : f32[9223372036854775808] = input \"big\"\n", {"%0", "9223372036854775808"}},
      {"% : f32[4] = neg %x\n", {"line 3, column 2", "a name after %"}},
      {"%0 f32[4] = neg %x\n", {"%0", "':'"}},
      {"%0 : f32[4 = neg %x\n", {"%0", "']'"}},
      {"%0 : f32[4] = input x\n", {"%0: input", "in quotes"}},
      {"%0 : f32[4] = input \"a\nb\"\n", {"%0: input", "closing quote"}},
      {"%0 : f32[4] = input \"a\\q\"\n", {"%0: input", "xNN"}},
      {"results \"y\" = %x\n", {"line 3, column 1", "an output"}},
  };
  for (const row& r : rows) {
    const std::string message = refusal(in_graph(x + r.lines));
    CAPTURE(r.lines);
    CAPTURE(message);
    CHECK(!message.empty());
    CHECK(message.size() < 300);
    for (const char* part : r.parts) CHECK_MESSAGE(contains(message, part), part);
  }
}

TEST_CASE("refuses what is not one whole graph") {
  const std::string good = in_graph("%x : f32[4] = input \"x\"\noutput \"y\" = %x\n");
  CHECK(refusal(good).empty());
  for (size_t length = 0; length + 2 < good.size(); ++length) CHECK_MESSAGE(!refusal(good.substr(0, length)).empty(), length);
  CHECK(contains(refusal(good + "x"), "nothing after the graph"));
  CHECK(contains(refusal(good + std::string(1, '\0')), "the byte 0x0"));
  CHECK(contains(refusal(std::string(good).replace(12, 1, 1, '\0')), "the byte 0x0"));
  CHECK(contains(refusal("diagram g {}"), "'graph'"));
  CHECK(refusal(good + " # a comment").empty());
}

TEST_CASE("takes hostile sizes in its stride") {
  const std::string many(200'000, '{'), digits(200'000, '9'), name(200'000, 'n');
  for (const std::string& lines :
       {"%x : f32[4] = input \"x\" " + many, "%x : f32[" + digits + "] = input \"x\"\n", "%x : f32[] = constant f32(" + digits + ")\n",
        "%x : f32[] = constant f32(1e" + digits + ")\n", "%x : f32[" + name + "] = input \"x\"\n", "%" + name + " : f32[4] = neg %x\n",
        "%x : f32[4] = " + name + " %x\n"}) {
    const std::string message = refusal(in_graph(lines));
    CHECK(!message.empty());
    CHECK(message.size() < 400);
  }
  // numbers of many digits are right all the same
  const graph g = parse(in_graph("%x : f32[] = constant f32(0." + std::string(200'000, '0') + "1e200000)\n"));
  CHECK(g.attr_pool[0] == 0x3dcccccd);  // 0.1f
}

TEST_CASE("reads a graph of 100000 values, with as many names of every kind") {
  // a table searched from its start would take minutes here; core/hash_index.cpp counts the comparisons
  std::string lines = "%v0 : f32[4] = input \"v0\"\n";
  int outputs = 0;
  for (int i = 1; i < 100'000; ++i) {
    const std::string v = "v" + std::to_string(i), before = "%v" + std::to_string(i - 1);
    switch (i % 4) {
      case 0: lines += "%" + v + " : f32[4] = weight \"" + v + "\"\n"; break;
      case 1: lines += "%" + v + " : f32[4] = add " + before + ", f32(1e-5)\n"; break;
      case 2: lines += "%" + v + " : f32[4] = neg " + before + "\noutput \"" + v + ".o\" = %" + v + "\n", ++outputs; break;
      default: lines += "%" + v + " : f32[D" + std::to_string(i % 5000) + "<=4] = input \"" + v + "\"\n";
    }
  }
  const graph g = parse(in_graph(lines));
  CHECK(g.size() == 125'000);  // with the literals
  CHECK(g.outputs.size() == static_cast<size_t>(outputs));
  CHECK(g.symbols.size() == 1250);
}

#ifdef POOT_HAS_JSON
namespace {

std::vector<std::filesystem::path> case_files() {
  const char* shared = std::getenv("POOT_SHARED");
  const std::filesystem::path root = shared && *shared ? shared : POOT_SOURCE_DIR "/../shared";
  std::vector<std::filesystem::path> files;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(root / "cases", missing))
    if (entry.path().string().ends_with(".case.json")) files.push_back(entry.path());
  return files;
}

}  // namespace

TEST_CASE("accepts or refuses every shared case") {
  const auto files = case_files();
  if (files.empty()) {
    std::puts("[SKIP] shared cases: set POOT_SHARED to the folder that holds cases/");
    return;
  }
  int accepted = 0, refused = 0;
  for (const auto& file : files) {
    const auto test = nlohmann::json::parse(std::ifstream(file));
    if (!test.contains("graph")) continue;
    const std::string source = test["graph"];
    const std::string message = refusal(source);
    CAPTURE(file.filename().string());
    CAPTURE(message);
    if (message.empty()) {
      // what only a run can refuse comes with inputs, what only some plans refuse with values to expect
      CHECK((!test.contains("error") || test.contains("inputs") || test.contains("runs") || test.contains("expect")));
      const graph g = parse(source);
      CHECK(verify(g));
      const text printed = print(g);
      const graph again = parse(printed.str());
      CHECK(structurally_equal(g, again));
      CHECK(print(again) == printed);
      ++accepted;
    } else {
      REQUIRE(test.contains("error"));
      const auto& parts = test["error"];
      if (parts.is_string()) CHECK(contains(message, parts.get<std::string>()));
      else
        for (const auto& part : parts) CHECK(contains(message, part.get<std::string>()));
      ++refused;
    }
  }
  MESSAGE(accepted << " cases accepted, " << refused << " refused");
  CHECK(accepted > 0);
}

TEST_CASE("changed texts are refused, or are whole graphs") {
  std::mt19937 random(7);
  std::vector<std::string> texts = {
      in_graph("%x : f32[L<=4096,64] = input \"x\"\n%w : q4_0[32,64] = weight \"w\"\n%0 : f32[L,32] = matmul %x, %w {transpose_b=1}\n"
               "%1 : f32[L,16] = slice %0 {start=[0,2] size=[L,16] step=[1,1]}\n%2 : f32[2] = constant {values=[nan,-0x1p-3]}\n"
               "output \"y\" = %1\n")};
  for (const auto& file : case_files()) {
    const auto test = nlohmann::json::parse(std::ifstream(file));
    if (test.contains("graph")) texts.push_back(test["graph"]);
  }
  const std::string_view pieces[] = {"%", "{", "}", "[", "]", "=", "0", "9", "-", "L", "<=", ",", "\"", "#", "(", ")", ".", "e", "\n", "1e99", "f32", "q4_k",
                                     "concat", "conv2d", "99999999999999", "4611686018427387904", "4294967296", "\0", "%0", "axis"};
  int accepted = 0;
  for (int i = 0; i < 6000; ++i) {
    std::string s = texts[random() % texts.size()];
    for (int changes = 1 + static_cast<int>(random() % 3); changes > 0 && !s.empty(); --changes) {
      const size_t at = random() % s.size();
      switch (random() % 4) {
        case 0: s.erase(at, 1 + random() % 4); break;
        case 1: s.insert(at, pieces[random() % std::size(pieces)]); break;
        case 2: s.replace(at, 1, pieces[random() % std::size(pieces)]); break;
        default: s[at] = s[random() % s.size()];
      }
    }
    if (!refusal(s).empty()) continue;
    const graph g = parse(s);
    CHECK(verify(g));
    CHECK(structurally_equal(g, parse(print(g).str())));
    ++accepted;
  }
  CHECK(accepted > 100);
}
#endif
