// Kernels that are shipped as text: what a launch makes of one, and what has none.
#include <doctest/doctest.h>

#include <poot/ir/parse.hpp>
#include <poot/kernel/generate.hpp>
#include <poot/kernel/verify.hpp>
#include <poot/plan/compile.hpp>

#include <string>

using namespace poot;
using kernel::meta_word;

namespace {

plan::program planned(const std::string& body, const target& where = targets::vulkan_lavapipe) {
  return plan::compile(ir::parse("graph t {\n" + body + "output \"y\" = %y\n}\n"), where);
}
plan::program gemm(const std::string& rows) {
  return planned("%a : f32[" + rows + ",64] = input \"a\"\n%b : f32[64,72] = weight \"b\"\n%y : f32[" + rows + ",72] = matmul %a, %b\n");
}

}  // namespace

TEST_CASE("every shipped text is a kernel that its devices verify") {
  for (const kernel::imported_text& t : kernel::imported_texts) {
    const kernel::kernel k = kernel::parse(t.source);
    CHECK(k.name == plan::name(t.which));
    for (const targets::named_target& n : targets::named) {
      const bool gpu = n.is.caps.subgroup >= 16;
      if (n.is.kind == backend::host || n.is.kind == backend::aie) continue;
      if (t.which.written_for == plan::device_class::any || gpu == (t.which.written_for == plan::device_class::gpu))
        CHECK_MESSAGE(kernel::verify(k, n.is.caps), n.name);
    }
  }
}

TEST_CASE("binds the values of a launch, and counts its extents") {
  const plan::program p = gemm("T<=40");
  const kernel::kernel k = kernel::generate(p, p.launches[0]);
  const uint32 a = p.graph.outputs[0].value - 2;
  REQUIRE(k.bindings.size() == 3);
  CHECK(k.bindings[0] == a);
  CHECK(k.bindings[1] == a + 1);
  CHECK(k.bindings[2] == a + 2);
  const meta_word tiles = k.metadata[0];
  CHECK(tiles.kind == meta_word::what::tiles);
  CHECK(tiles.value == a + 2);
  for (const meta_word& m : k.metadata) CHECK(m.last != meta_word::all_axes);
  const auto words = [&](int64 rows) {
    vec<uint32> all;
    for (const meta_word& m : k.metadata) all.push_back(kernel::evaluate(m, p, [&](uint32 id) {
      tensor_type t = p.graph.eqns[id].type;
      if (t.extents[0].is_dynamic()) t.extents[0] = rows;
      return t;
    }));
    return all;
  };
  const auto covered = [](int64 extent, int64 tile) { return static_cast<uint32>((extent + tile - 1) / tile); };
  for (int64 rows : {1, 16, 17, 40}) CHECK(words(rows)[0] == covered(rows, tiles.fixed) * covered(72, tiles.divide));
}

TEST_CASE("launches of other extents differ in their metadata only") {
  const plan::program p = gemm("70"), q = gemm("9");
  const kernel::kernel k = kernel::generate(p, p.launches[0]), l = kernel::generate(q, q.launches[0]);
  CHECK(kernel::print(k) == kernel::print(l));  // extents are those of values
  CHECK(p.kernel_table[0].hash == q.kernel_table[0].hash);
}

TEST_CASE("a plan that wants a shipped kernel where there is none is refused") {
  plan::program p = planned("%x : f32[8] = input \"x\"\n%e : f32[8] = exp %x\n%y : f32[8] = mul %e, %x\n");
  CHECK(p.launches[0].body == plan::origin::generated);
  p.launches[0].body = plan::origin::imported;
  CHECK_THROWS_WITH_AS(kernel::generate(p, p.launches[0]),
                       "load: %1 (exp): the plan wants an imported kernel, and none is shipped for it (imported_body)", error);
}
