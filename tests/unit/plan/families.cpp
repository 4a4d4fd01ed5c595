// The table of kernel families, against what plans put into one dispatch, what generators write for it, and the page.
#include <doctest/doctest.h>

#include <poot/ir/parse.hpp>
#include <poot/kernel/generate.hpp>
#include <poot/kernel/verify.hpp>
#include <poot/plan/compile.hpp>
#include <poot/plan/families.hpp>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

using namespace poot;
using fuse::region_kind;
using plan::steps;

namespace {

/// A head of each kind: what it makes of `%x`, and the leaves, of which `%u` is what a step before it reads.
struct head {
  region_kind kind;
  const char* before;
  const char* equation;
};
constexpr head heads[] = {
    {region_kind::pointwise, "%u : f32[8,64] = input \"u\"\n", "%h : f32[8,64] = exp %x\n"},
    {region_kind::row, "%u : f32[8,64] = input \"u\"\n", "%s : f32[8,1] = reduce_sum %x {axis=1}\n%h : f32[8,64] = mul %x, %s\n"},
    {region_kind::contraction, "%u : f32[8,64] = input \"u\"\n%w : f32[64,64] = weight \"w\"\n", "%h : f32[8,64] = matmul %x, %w\n"},
    {region_kind::reduction, "%u : f32[8,64] = input \"u\"\n", "%h : f32[1,64] = reduce_sum %x {axis=0}\n"},
    {region_kind::movement, "%u : f32[8,64] = input \"u\"\n", "%h : f32[64,8] = transpose %x {perm=[1,0]}\n"},
    {region_kind::generator, "%u : u32[] = input \"u\"\n%o : u32[] = input \"o\"\n", "%h : f32[8,64] = random_uniform %x, %o\n"},
    {region_kind::rope, "%u : f32[2,3,8] = input \"u\"\n%c : f32[3,4] = input \"c\"\n%s : f32[3,4] = input \"s\"\n",
     "%h : f32[2,3,8] = rope %x, %c, %s {width=8 adjacent=0 signed=0}\n"},
    {region_kind::attention, "%u : f32[2,3,8] = input \"u\"\n%k : f32[2,40,8] = input \"k\"\n%v : f32[2,40,8] = input \"v\"\n",
     "%h : f32[2,3,8] = attention %x, %k, %v {scale=0.5}\n"},
};

std::string type_of_result(const head& h) {
  const std::string e = h.equation;
  const size_t at = e.find("%h : ") + 5;
  return e.substr(at, e.find(" =", at) - at);
}

/// Launches of the head with a step before it, or behind it.
plan::program planned(const head& h, bool before, bool behind, const target& where) {
  std::string source = std::string("graph t {\n") + h.before, equation = h.equation;
  const std::string argument = std::string(h.before).substr(5, std::string(h.before).find(" =") - 5), result = type_of_result(h);
  source += before ? "%x : " + argument + " = " + (argument[0] == 'u' ? "add %u, %u\n" : "tanh %u\n") : "";
  if (!before)
    for (size_t at = 0; (at = equation.find("%x", at)) != equation.npos;) equation.replace(at, 2, "%u");
  source += equation + (behind ? "%y : " + result + " = tanh %h\noutput \"y\" = %y\n}\n" : "output \"y\" = %h\n}\n");
  return plan::compile(ir::parse(source), where);
}

}  // namespace

TEST_CASE("plans put into one dispatch what the table says, and a kernel is generated for it") {
  for (const target& where : {targets::cuda_sm80, targets::vulkan_lavapipe})
    for (const head& h : heads) {
      const plan::family& f = plan::families[static_cast<size_t>(h.kind)];
      REQUIRE(f.kind == h.kind);
      const std::string kind(fuse::name(h.kind));
      const plan::program alone = planned(h, false, false, where), before = planned(h, true, false, where), behind = planned(h, false, true, where);
      REQUIRE_MESSAGE(alone.launches.size() == 1, kind);
      CHECK_MESSAGE(alone.launches[0].kind == h.kind, kind);
      CHECK_MESSAGE((before.launches.size() == 1) == (f.takes == steps::around), kind);
      CHECK_MESSAGE((behind.launches.size() == 1) == (f.takes != steps::none), kind);
      for (const plan::program* p : {&alone, &before, &behind})
        for (const plan::launch& l : p->launches) CHECK(kernel::verify(kernel::generate(*p, l), where.caps));
    }
}

TEST_CASE("imported launches are of families that say so, each of which has one") {
  std::set<region_kind> imported;
  for (const char* body :
       {"%x : f32[9,64] = input \"x\"\n%w : f32[64,8] = weight \"w\"\n%y : f32[9,8] = matmul %x, %w\n", "%x : bf16[9,64] = input \"x\"\n%y : f32[9,64] = cast %x\n",
        "%x : f32[9,512] = input \"x\"\n%y : i32[9,1] = reduce_argmax %x {axis=1}\n",
        "%s : u32[] = input \"s\"\n%o : u32[] = input \"o\"\n%y : f32[9] = random_uniform %s, %o\n",
        "%w : q8_0[6,64] = weight \"w\"\n%i : i32[4] = input \"i\"\n%g : q8_0[4,64] = gather %w, %i {axis=0}\n%y : f32[4,64] = cast %g\n"}) {
    const plan::program p = plan::compile(ir::parse("graph t {\n" + std::string(body) + "output \"y\" = %y\n}\n"), targets::vulkan_lavapipe);
    CHECK(p.launches[0].body == plan::origin::imported);
    imported.insert(p.launches[0].kind);
  }
  for (const plan::family& f : plan::families) CHECK(f.imports == (imported.count(f.kind) == 1));
}

TEST_CASE("the page holds the table") {
  std::ifstream in(POOT_SOURCE_DIR "/docs/targets.md");
  std::stringstream page;
  page << in.rdbuf();
  for (const plan::family& f : plan::families) {
    text row;
    row << "| " << fuse::name(f.kind) << " | " << plan::name(f.takes) << " | " << (f.imports ? "yes" : "no") << " |\n";
    CHECK_MESSAGE(page.str().find(row.str()) != std::string::npos, row.str());
  }
}
