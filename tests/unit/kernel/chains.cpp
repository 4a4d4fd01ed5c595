// Recognised chains as kernels: the bits are those of the interpreter, for devices of each kind.
#include <poot/ir/parse.hpp>
#include <poot/plan/compile.hpp>

#include <doctest/doctest.h>

#include "../../device/kernel_machine.hpp"
#include "../../random/interpreted.hpp"

#include <string>

using namespace poot_tests;

namespace {

/// The first difference between the kernels of `body` and the interpreter, in words.
std::string disagreement(const std::string& body) {
  const ir::graph g = ir::parse("graph t {\n" + body + "}\n");
  for (const target& where : {targets::cuda_sm80, targets::vulkan_lavapipe, targets::vulkan_swiftshader}) {
    kernel_machine machine(plan::compile(g, where));
    const runs given = draw_runs(11, g, 2);
    const auto small = where.caps.flushes ? subnormals::flushed : subnormals::kept;
    const std::vector<ir::interpretation> want = interpret_runs(machine.program().graph, given, ir::outside::clamp, small);
    for (size_t k = 0; k < given.size(); ++k)
      if (const std::string d = difference(want[k], machine.run(given[k])); !d.empty()) return std::string(name(where.kind)) + ", " + d;
  }
  return {};
}

/// attention of these extents, in text.
std::string attention(const std::string& heads, const std::string& shared, const std::string& rows, const std::string& keys, const std::string& width,
                      const std::string& columns, const std::string& type, const std::string& masks, const std::string& attrs) {
  const bool sink = masks.find('s') != std::string::npos;  // one for each head
  const std::string each = heads.empty() ? "" : heads.substr(0, heads.size() - 1) + ",1,1";
  const std::string q = heads + rows, result = "[" + q + "," + columns + "]";
  return "%q : f32[" + q + "," + width + "] = input \"q\"\n%k : " + type + "[" + shared + keys + "," + width + "] = input \"k\"\n%v : " + type + "[" + shared +
         keys + "," + columns + "] = input \"v\"\n" + (masks.find('a') != std::string::npos ? "%a : f32[" + rows + "," + keys + "] = input \"a\"\n" : "") +
         (masks.find('c') != std::string::npos ? "%c : i32[" + rows + "," + keys + "] = input \"c\"\n" : "") +
         (sink ? "%s : " + type + "[" + each + "] = weight \"s\"\n" : "") + "%y : f32" + result + " = attention %q, %k, %v" +
         (masks.find('a') != std::string::npos ? ", %a" : "") + (masks.find('c') != std::string::npos ? ", %c" : "") + (sink ? ", %s" : "") + " {" + attrs + (sink ? " sink=1" : "") + "}\noutput \"y\" = %y\n";
}

}  // namespace

TEST_CASE("attention has the bits of its definition, decode and prefill") {
  const auto check = [](const std::string& body) { CHECK_MESSAGE(disagreement(body) == "", body); };
  for (const char* keys : {"1", "5", "255", "256", "257", "700"}) check(attention("2,", "2,", "1", keys, "8", "8", "f32", "", "scale=0.5"));
  check(attention("6,", "2,", "3", "40", "16", "12", "f32", "", "scale=0.25"));      // groups of heads
  check(attention("6,", "1,", "2", "300", "7", "5", "f32", "a", "scale=0.3"));       // odd widths, a mask to add
  check(attention("2,4,", "2,2,", "3", "9", "4", "4", "f16", "c", "scale=1"));      // batches, a mask to choose by
  check(attention("4,", "4,", "2", "270", "64", "64", "bf16", "ac", "scale=0.125 softcap=3"));
  check(attention("", "", "4", "33", "8", "8", "f32", "", "scale=0.5"));
  check(attention("2,", "2,", "2", "0", "8", "8", "f32", "", "scale=0.5"));          // no key
  for (const char* type : {"f32", "f16", "bf16"}) check(attention("6,", "2,", "1", "40", "16", "12", type, "s", "scale=0.25"));
  check(attention("6,", "2,", "3", "300", "16", "12", "f32", "acs", "scale=0.25 softcap=3"));
  check(attention("", "", "2", "9", "4", "4", "f32", "s", "scale=0.25"));
  check(attention("2,", "2,", "2", "0", "8", "8", "f32", "s", "scale=0.5"));
  for (const char* keys : {"1", "40", "256", "700", "4200"}) check(attention("4,", "2,", "2", keys, "8", "6", "f32", "ac", "scale=0.5 softcap=3 strict=1"));
  for (const char* type : {"f16", "bf16"}) check(attention("2,", "2,", "1", "300", "7", "5", type, "", "scale=0.5 strict=1"));
  check(attention("2,", "2,", "2", "0", "8", "8", "f32", "", "strict=1"));
  check("%q : f32[2,2,8] = input \"q\"\n%k : f32[2,S<=600,8] = state \"k\"\n%v : f32[2,S,8] = input \"v\"\n"
        "%y : f32[2,2,8] = attention %q, %k, %v {scale=0.5 strict=1}\noutput \"y\" = %y\n");
  check("%q : f32[2,2,8] = input \"q\"\n%k : f32[2,S<=600,8] = state \"k\"\n%v : f32[2,S,8] = input \"v\"\n"
        "%y : f32[2,2,8] = attention %q, %k, %v {scale=0.5}\noutput \"y\" = %y\n");
}

TEST_CASE("keys and values are read where they lie") {
  CHECK(disagreement("%q : f32[2,3,8] = input \"q\"\n%c : f32[2,64,8] = state \"c\"\n%k : f32[2,40,8] = slice %c {start=[0,5,0] size=[2,40,8] step=[1,1,1]}\n"
                     "%v : f32[2,40,8] = input \"v\"\n%y : f32[2,3,8] = attention %q, %k, %v {scale=0.5}\noutput \"y\" = %y\n") == "");
  CHECK(disagreement("%q : f32[1,2,3,8] = input \"q\"\n%c : f32[2,64,8] = state \"c\"\n%w : f32[2,40,8] = slice %c {start=[0,5,0] size=[2,40,8] step=[1,1,1]}\n"
                     "%k : f32[1,2,40,8] = reshape %w\n%v : f32[1,2,40,8] = input \"v\"\n%y : f32[1,2,3,8] = attention %q, %k, %v {scale=0.5}\n"
                     "output \"y\" = %y\n") == "");
}

TEST_CASE("rope turns pairs of either order, a part of the width, by tables of half and of full width") {
  for (const char* t : {"f32", "f16", "bf16"})
    for (const char* attrs : {"width=8 adjacent=0 signed=0", "width=8 adjacent=1 signed=0", "width=6 adjacent=0 signed=0", "width=6 adjacent=1 signed=0"})
      for (bool full : {false, true}) {
        const int width = std::string(attrs)[6] - '0';
        const std::string type = t, table = type + "[3," + std::to_string(full ? width : width / 2) + "]";
        CHECK_MESSAGE(disagreement("%x : " + type + "[2,3,8] = input \"x\"\n%c : " + table + " = input \"c\"\n%s : " + table + " = input \"s\"\n%y : " + type +
                                   "[2,3,8] = rope %x, %c, %s {" + attrs + "}\noutput \"y\" = %y\n") == "", t, ", ", attrs, full ? ", full" : ", half");
      }
  CHECK(disagreement("%x : f32[5,7,10] = input \"x\"\n%c : f32[7,10] = input \"c\"\n%s : f32[7,10] = input \"s\"\n"
                     "%y : f32[5,7,10] = rope %x, %c, %s {width=10 adjacent=0 signed=1}\noutput \"y\" = %y\n") == "");
}

TEST_CASE("attention has a workgroup for each query of each head of each sequence") {
  for (const char* rows : {"1", "5"})
    for (const char* strict : {"", " strict=1"}) {
      const ir::graph g = ir::parse("graph t {\n" + attention("2,6,", "2,3,", rows, "40", "8", "8", "f32", "", std::string("scale=0.5") + strict) + "}\n");
      const plan::program made = plan::compile(g, targets::cuda_sm80);
      const plan::program_view p = made.view_of();
      const kernel::kernel k = kernel::generate(p, p.launches[0]);
      vec<uint32> metadata;
      for (const kernel::meta_word& m : k.metadata) metadata.push_back(kernel::evaluate(m, p, [&](uint32 id) { return p.graph.type(id); }));
      CHECK(kernel::workgroups(metadata.data(), k.work, k.by_group, k.workgroup) == 12u * (rows[0] - '0'));
      CHECK(k.workgroup == 64);
    }
}

TEST_CASE("attention takes as many lanes as leave room for its chunks, and has the same bits with each number") {
  const std::string body = attention("2,", "2,", "2", "700", "16", "12", "f32", "", "scale=0.5");
  const ir::graph g = ir::parse("graph t {\n" + body + "}\n");
  const int64 chunks = 4 * (256 + 3 * (12 + 2));  // bytes without those of the lanes
  for (const target& device : {targets::cuda_sm80, targets::vulkan_lavapipe}) {
    const uint32 most = device.caps.is_processor() ? 32 : 64;
    for (uint32 lanes = most; lanes >= 8; lanes /= 2)
      for (const int64 spare : {int64{0}, int64{4} * lanes - 4}) {
        target where = device;
        where.caps.shared_bytes = static_cast<decltype(where.caps.shared_bytes)>(chunks + 4 * lanes + spare);
        const plan::program p = plan::compile(g, where);
        REQUIRE(p.refused.empty());
        kernel_machine machine(p);
        CHECK(kernel::generate(machine.program(), machine.program().launches[0]).workgroup == lanes);
        const runs given = draw_runs(3, g, 1);
        CHECK(difference(interpret_runs(p.graph, given)[0], machine.run(given[0])) == "");
      }
    target small = device;
    small.caps.shared_bytes = static_cast<decltype(small.caps.shared_bytes)>(chunks + 4 * 8 - 1);
    small.caps.max_groups_x = 11;  // a workgroup fewer than parts of three chunks take
    CHECK(plan::compile(g, small).refused.size() == 1);
  }
}

TEST_CASE("attention over more keys than workgroup memory holds chunks of is split, or refused by name") {
  const auto planned = [](const std::string& keys, const std::string& columns, const std::string& strict = "", const target& where = targets::vulkan_lavapipe) {
    return plan::compile(ir::parse("graph t {\n" + attention("2,", "2,", "1", keys, "128", columns, "f32", "", "scale=0.5" + strict) + "}\n"), where);
  };
  const auto refused = [](const plan::program& p) { return p.refused.size() == 1 && p.refused[0].missing == plan::capability::attention; };
  CHECK(planned("4096", "128").launches.size() == 1);
  CHECK(planned("40960", "128").launches.size() == 2);
  CHECK(planned("40960", "128").refused.empty());
  CHECK(!refused(planned("4096", "128", " strict=1")));
  CHECK(refused(planned("65536", "128", " strict=1")));
  target narrow = targets::vulkan_lavapipe;
  narrow.caps.max_groups_x = 319;  // two heads over 160 chunks
  CHECK(refused(planned("40960", "128", "", narrow)));
}
