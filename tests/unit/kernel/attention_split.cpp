// Attention over chunks of keys in two kernels: the bits are those of the whole one, of the interpreter.
#include <poot/emit/write.hpp>
#include <poot/ir/parse.hpp>
#include <poot/plan/compile.hpp>
#include <poot/run/hiprtc.hpp>
#include <poot/run/nvrtc.hpp>

#include <doctest/doctest.h>

#include "../../device/kernel_machine.hpp"
#include "../../random/interpreted.hpp"

#include <bit>
#include <cmath>
#include <optional>
#include <string>

using namespace poot_tests;

namespace {

struct shape {
  const char *heads = "2,", *shared = "2,", *rows = "1", *keys = "600";
  int width = 8, columns = 8;
  const char *kept = "f32", *masks = "", *attrs = "scale=0.5", *result = "f32";
};

/// attention of these extents, in text; masks: a to add, c to choose by, s a sink.
std::string text_of(const shape& s) {
  const std::string q = std::string(s.heads) + s.rows, w = std::to_string(s.width), e = std::to_string(s.columns), masks = s.masks, keys = s.keys;
  const std::string again = keys.find('<') != std::string::npos ? keys.substr(0, keys.find('<')) : keys;
  const std::string column = *s.heads ? std::string(s.heads, std::string(s.heads).size() - 1) + ",1,1" : "1,1";
  const auto has = [&](char c) { return masks.find(c) != std::string::npos; };
  const std::string kept = s.kept;
  return "graph t {\n%q : " + kept + "[" + q + "," + w + "] = input \"q\"\n%k : " + kept + "[" + s.shared + keys + "," + w + "] = input \"k\"\n%v : " + kept + "[" + s.shared +
         again + "," + e + "] = input \"v\"\n" + (has('a') ? "%a : f32[" + std::string(s.heads) + "1," + again + "] = input \"a\"\n" : "") +
         (has('c') ? "%c : i32[" + std::string(s.rows) + "," + again + "] = input \"c\"\n" : "") + (has('s') ? "%s : " + kept + "[" + column + "] = input \"s\"\n" : "") +
         "%y : " + s.result + "[" + q + "," + e + "] = attention %q, %k, %v" + (has('a') ? ", %a" : "") + (has('c') ? ", %c" : "") + (has('s') ? ", %s" : "") + " {" +
         s.attrs + (has('s') ? " sink=1" : "") + "}\noutput \"y\" = %y\n}\n";
}

constexpr plan::options split{.split_keys = 0};

size_t count(const ir::graph_view& g, ir::op o) {
  size_t n = 0;
  for (const ir::eqn& e : g.eqns) n += e.kind == o;
  return n;
}

/// What differs between split kernels, whole ones and the interpreter, in words.
std::string disagreement(const std::string& body, int trials = 2) {
  const ir::graph g = ir::parse(body);
  for (const target& where : {targets::cuda_sm80, targets::vulkan_lavapipe, targets::vulkan_swiftshader}) {
    const plan::program whole = plan::compile(g, where), parts = plan::compile(g, where, split);
    if (whole.dispatch_count() != 1 || parts.dispatch_count() != 2 || count(parts.graph, ir::op::attention_parts) != 1) return "it is not split into two dispatches";
    kernel_machine machine(parts);
    const runs given = draw_runs(11, g, trials);
    const auto small = where.caps.flushes ? subnormals::flushed : subnormals::kept;
    const std::vector<ir::interpretation> want = interpret_runs(whole.graph, given, ir::outside::clamp, small), apart = interpret_runs(parts.graph, given, ir::outside::clamp, small);
    for (size_t k = 0; k < given.size(); ++k) {
      if (const std::string d = difference(want[k], apart[k]); !d.empty()) return "interpreted, " + d;
      if (const std::string d = difference(want[k], machine.run(given[k])); !d.empty()) return std::string(name(where.kind)) + ", " + d;
    }
  }
  return {};
}

}  // namespace

TEST_CASE("split attention has the bits of the whole one") {
  const auto check = [](const shape& s) { CHECK_MESSAGE(disagreement(text_of(s)) == "", text_of(s)); };
  for (const char* keys : {"1", "255", "256", "257", "600", "0"}) check({.keys = keys});
  check({.heads = "6,", .shared = "2,", .rows = "3", .width = 16, .columns = 12});                      // three heads at once
  check({.heads = "8,", .shared = "1,", .rows = "2", .keys = "300", .width = 7, .columns = 5});         // two times four, odd widths
  check({.heads = "10,", .shared = "2,", .keys = "300", .width = 4, .columns = 6});                     // five
  check({.heads = "11,", .shared = "1,", .keys = "260", .width = 4, .columns = 4});                     // one by one
  check({.heads = "2,4,", .shared = "2,2,", .rows = "2", .keys = "270", .kept = "f16", .masks = "c"});
  check({.heads = "2,4,", .shared = "1,1,", .keys = "270", .kept = "bf16", .result = "bf16"});
  check({.heads = "2,4,", .shared = "4,", .rows = "2", .keys = "270", .result = "f16"});
  check({.heads = "4,", .shared = "", .keys = "270"});                                                  // keys without an axis of heads
  check({.heads = "", .shared = "", .rows = "4", .keys = "270"});
  check({.heads = "4,", .shared = "2,", .rows = "2", .masks = "acs", .attrs = "scale=0.125 softcap=3"});
  check({.heads = "4,", .shared = "4,", .rows = "2", .kept = "f16", .masks = "as"});
  check({.heads = "6,", .shared = "2,", .keys = "0", .masks = "s"});
}

TEST_CASE("chunks beyond a dynamic number of keys weigh nothing, and no key gives 0") {
  for (const char* masks : {"", "cs"}) CHECK(disagreement(text_of({.heads = "4,", .shared = "2,", .rows = "2", .keys = "S<=600", .masks = masks}), 4) == "");
  const ir::graph g = ir::parse(text_of({.heads = "4,", .shared = "2,", .keys = "S<=600", .masks = "s"}));
  kernel_machine machine(plan::compile(g, targets::cuda_sm80, split));
  for (int64 keys : {0, 1, 256, 257, 600}) {
    std::vector<ir::named_tensor> given = draw_runs(5, g, 1)[0];
    for (ir::named_tensor& t : given)
      if (t.name == "k" || t.name == "v") t.value = ir::tensor(t.value.type.with(1, extent(keys)));
    CHECK(difference(interpret_runs(g, {given})[0], machine.run(given)) == "");
  }
}

TEST_CASE("queries of a dynamic number, and keys and values where they lie in a cache, are read in parts too") {
  CHECK(disagreement("graph t {\n%q : f32[4,T<=3,8] = input \"q\"\n%k : f16[2,S<=600,8] = input \"k\"\n%v : f16[2,S,8] = input \"v\"\n%c : i32[T,S] = input \"c\"\n"
                     "%y : f32[4,T,8] = attention %q, %k, %v, %c {scale=0.5}\noutput \"y\" = %y\n}\n", 4) == "");
  CHECK(disagreement("graph t {\n%q : f32[1,4,3,8] = input \"q\"\n%a : f32[2,640,8] = state \"a\"\n%w : f32[2,600,8] = slice %a {start=[0,5,0] size=[2,600,8] step=[1,1,1]}\n"
                     "%k : f32[1,2,600,8] = reshape %w\n%v : f32[1,2,600,8] = input \"v\"\n%y : f32[1,4,3,8] = attention %q, %k, %v\n%z : f32[4,3,8] = reshape %y\n"
                     "%t : f32[3,4,8] = transpose %z {perm=[1,0,2]}\noutput \"y\" = %t\n}\n") == "");
}

TEST_CASE("rows and chunks that a mask hides are joined as the definition says") {
  const ir::graph g = ir::parse(text_of({.heads = "4,", .shared = "2,", .rows = "4", .masks = "c"}));
  kernel_machine machine(plan::compile(g, targets::cuda_sm80, split));
  std::vector<ir::named_tensor> given = draw_runs(5, g, 1)[0];
  for (ir::named_tensor& t : given)
    if (t.name == "c")  // all, none, the second chunk, all but it
      for (size_t i = 0; i < t.value.bits.size(); ++i) t.value.bits[i] = i < 600 || (i >= 1200 && (i % 600 / 256 == 1) == (i < 1800));
  const ir::interpretation got = machine.run(given);
  CHECK(difference(interpret_runs(g, {given})[0], got) == "");
  CHECK(std::isnan(std::bit_cast<float>(static_cast<uint32>(got.outputs[0].value.bits[8]))));
}

namespace {

/// Compiles both kernels for each of `targets`, if the compiler is there.
template <class Compiler>
void compile_for(std::initializer_list<target> targets, emit::dialect d) {
  std::optional<Compiler> compiler;
  try {
    compiler.emplace();
  } catch (const error& missing) {
    MESSAGE("[SKIP] ", missing.what());
    return;
  }
  const ir::graph g = ir::parse(text_of({.heads = "10,", .shared = "2,", .keys = "S<=600", .width = 64, .columns = 65, .kept = "bf16", .masks = "acs", .attrs = "softcap=3"}));
  for (const target& where : targets) {
    const plan::program p = plan::compile(g, where, split);
    for (const plan::launch& l : p.launches) {
      const std::string text(emit::write(kernel::generate(p, l), d).str());
      CHECK(!compiler->compile("attention", text, std::string(where.arch.view())).empty());
    }
  }
}

}  // namespace

TEST_CASE("the texts are taken by the compilers of CUDA and HIP") {
  compile_for<run::nvrtc>({targets::cuda_sm80, targets::cuda_sm120}, emit::dialect::cuda);
  compile_for<run::hiprtc>({targets::hip_gfx906, targets::hip_gfx1030}, emit::dialect::hip);
}
