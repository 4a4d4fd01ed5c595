// Grids larger than a device starts at once: kernels of every family in chunks of few workgroups have the bits of the interpreter.
#include <poot/emit/write.hpp>
#include <poot/ir/parse.hpp>
#include <poot/kernel/parse.hpp>
#include <poot/plan/compile.hpp>

#include <doctest/doctest.h>

#include "../../device/kernel_machine.hpp"
#include "../../random/interpreted.hpp"

#include <initializer_list>
#include <string>

using namespace poot_tests;

namespace {

/// `t` with a grid of 3 by 2 workgroups.
target narrow(target t) {
  t.caps.max_groups_x = 3;
  t.caps.max_groups_y = 2;
  return t;
}

size_t chunked_launches(const plan::program_view& p) {
  size_t n = 0;
  for (const plan::launch& l : p.launches) n += l.chunks > 1;
  return n;
}

struct family_graph {
  const char* family;
  const char* body;
};
constexpr family_graph graphs[] = {
    {"pointwise, in runs", "%x : f32[9,64] = input \"x\"\n%0 : f32[9,64] = exp %x\noutput \"y\" = %0\n"},
    {"pointwise, word by word", "%x : bf16[37,23] = input \"x\"\n%b : bf16[23] = input \"b\"\n%0 : bf16[37,23] = mul %x, %b\noutput \"y\" = %0\n"},
    {"row", "%x : f32[13,40] = input \"x\"\n%0 : f32[13,1] = reduce_sum %x {axis=1}\n%1 : f32[13,40] = div %x, %0\noutput \"y\" = %1\n"},
    {"reduction", "%x : f32[5,7,3] = input \"x\"\n%0 : f32[5,1,3] = reduce_max %x {axis=1}\noutput \"y\" = %0\n"},
    {"contraction", "%x : f32[33,64] = input \"x\"\n%w : f16[50,64] = weight \"w\"\n%0 : f32[33,50] = matmul %x, %w {transpose_b=1}\n%1 : f32[33,50] = neg %0\noutput \"y\" = %1\n"},
    {"contraction of one row", "%x : f32[1,32] = input \"x\"\n%w : q8_0[700,32] = weight \"w\"\n%0 : f32[1,700] = matmul %x, %w {transpose_b=1}\noutput \"y\" = %0\n"},
    {"contraction of rows one by one", "%x : f32[11,64] = input \"x\"\n%w : f32[3,8,64] = weight \"w\"\n%i : i32[11] = input \"i\"\n%0 : f32[11,8] = indexed_matmul %x, %w, %i\noutput \"y\" = %0\n"},
    {"convolution", "%x : f32[2,3,9,9] = input \"x\"\n%w : f32[4,3,3,3] = weight \"w\"\n%0 : f32[2,4,9,9] = conv2d %x, %w {stride=[1,1] pad=[1,1,1,1] dilation=[1,1] groups=1}\noutput \"y\" = %0\n"},
    {"movement", "%t : f32[40,33] = weight \"t\"\n%i : i32[21] = input \"i\"\n%0 : f32[21,33] = gather %t, %i {axis=0}\n%1 : f32[33,21] = transpose %0 {perm=[1,0]}\noutput \"y\" = %1\n"},
    {"update in place", "%s : f16[30,32] = state \"s\"\n%x : f16[20,32] = input \"x\"\n%a : i32[2] = input \"a\"\n%0 : f16[30,32] = dynamic_update_slice %s, %x, %a\noutput \"s\" = %0\n"},
    {"generator", "%s : u32[] = input \"s\"\n%o : u32[] = input \"o\"\n%0 : f32[1601] = random_uniform %s, %o\noutput \"y\" = %0\n"},
    {"rope", "%x : f32[5,9,16] = input \"x\"\n%c : f32[9,16] = input \"c\"\n%s : f32[9,16] = input \"s\"\n%0 : f32[5,9,16] = rope %x, %c, %s {width=16 adjacent=0 signed=1}\noutput \"y\" = %0\n"},
    {"attention", "%q : f32[4,3,8] = input \"q\"\n%k : f32[2,40,8] = input \"k\"\n%v : f32[2,40,8] = input \"v\"\n%0 : f32[4,3,8] = attention %q, %k, %v {scale=0.5}\noutput \"y\" = %0\n"},
    {"dynamic extents", "%x : f32[N<=50,16] = input \"x\"\n%0 : f32[N,16] = tanh %x\n%1 : f32[N,1] = reduce_sum %0 {axis=1}\n%2 : f32[N,16] = mul %x, %1\noutput \"y\" = %2\n"},
};

}  // namespace

TEST_CASE("every family runs in chunks with the bits of the interpreter") {
  for (const family_graph& f : graphs) {
    CAPTURE(f.family);
    const ir::graph g = ir::parse("graph t {\n" + std::string(f.body) + "}\n");
    for (const target& like : {targets::cuda_sm80, targets::vulkan_lavapipe, targets::vulkan_swiftshader}) {
      const target where = narrow(like);
      kernel_machine machine(plan::compile(g, where));
      CHECK(chunked_launches(machine.program()) > 0);
      const runs given = draw_runs(7, g, 2);
      const auto small = where.caps.flushes ? subnormals::flushed : subnormals::kept;
      const std::vector<ir::interpretation> want = interpret_runs(machine.program().graph, given, ir::outside::clamp, small);
      for (size_t k = 0; k < given.size(); ++k) CHECK(difference(want[k], machine.run(given[k])) == "");
    }
  }
}

TEST_CASE("the text of a chunked kernel adds the first workgroup of its chunk, and other texts stay as they are") {
  const ir::graph g = ir::parse("graph t {\n" + std::string(graphs[0].body) + "}\n");
  const plan::program whole = plan::compile(g, targets::vulkan_lavapipe), split = plan::compile(g, narrow(targets::vulkan_lavapipe));
  kernel::kernel one = kernel::generate(whole, whole.launches[0]), many = kernel::generate(split, split.launches[0]);
  const std::string added = " + meta[" + std::to_string(one.metadata.size()) + "]";
  for (emit::dialect d : {emit::dialect::cuda, emit::dialect::hip, emit::dialect::glsl, emit::dialect::cpp}) {
    const std::string plain(emit::write(one, d).str());
    std::string text(emit::write(many, d).str());
    REQUIRE(text.find(added) != std::string::npos);
    CHECK(plain.find(added) == std::string::npos);
    CHECK(text.erase(text.find(added), added.size()) == plain);
  }
  CHECK(kernel::parse(kernel::print(many).str()).chunked);
  CHECK_FALSE(kernel::parse(kernel::print(one).str()).chunked);
  CHECK(kernel::print(one).str().find("chunked") == std::string_view::npos);
}

TEST_CASE("a chunked kernel is interpreted from its first workgroup on") {
  const kernel::kernel k = kernel::parse(
      "kernel numbers {\n  workgroup 2 by_group chunked\n  write y 0\n  meta fixed 9\n  code {\n    %0 = group\n    %1 = lane\n    %2 = literal_word 2\n"
      "    %3 = mul %0, %2\n    %4 = add %3, %1\n    store y, %4, %0\n  }\n}\n");
  uint32 y[12]{};
  const kernel::words buffers[] = {{y, 12}};
  for (const uint32 first : {3u, 0u}) {
    const uint32 metadata[] = {9, first};
    kernel::interpret(k, {buffers, 1}, {metadata, 2}, 3);
  }
  for (uint32 i = 0; i < 12; ++i) CHECK(y[i] == i / 2);
  const uint32 metadata[] = {9};
  CHECK_THROWS_WITH(kernel::interpret(k, {buffers, 1}, {metadata, 1}, 3), "kernel numbers: has 2 words of metadata, given are 1");
}
