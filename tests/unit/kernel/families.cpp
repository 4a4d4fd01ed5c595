// Every family of generated kernels over shapes and element types: the bits are those of the interpreter, for devices with
// and without a fused multiply-add and with subnormals flushed, fused and one dispatch per equation.
#include <poot/ir/parse.hpp>
#include <poot/plan/compile.hpp>

#include <doctest/doctest.h>

#include "../../device/kernel_machine.hpp"
#include "../../random/interpreted.hpp"

#include <initializer_list>
#include <string>

using namespace poot_tests;

namespace {

/// The first difference between the kernels of `source` and the interpreter, in words.
std::string disagreement(const std::string& source) {
  const ir::graph g = ir::parse(source);
  for (const target& where : {targets::cuda_sm80, targets::vulkan_lavapipe, targets::vulkan_swiftshader})
    for (bool fuse : {true, false}) {
      plan::options wanted;
      wanted.fuse = fuse;
      kernel_machine machine(plan::compile(g, where, wanted));
      const runs given = draw_runs(7, g, 2);
      const auto small = where.caps.flushes ? subnormals::flushed : subnormals::kept;
      const std::vector<ir::interpretation> want = interpret_runs(machine.program().graph, given, ir::outside::clamp, small);
      for (size_t k = 0; k < given.size(); ++k)
        if (const std::string d = difference(want[k], machine.run(given[k])); !d.empty())
          return std::string(name(where.kind)) + (fuse ? ", fused, " : ", unfused, ") + d;
    }
  return {};
}

std::string graph_of(const std::string& body) { return "graph t {\n" + body + "}\n"; }

/// `$` in `pattern` stands for `what`.
std::string with(std::string pattern, const std::string& what) {
  for (size_t at = 0; (at = pattern.find('$', at)) != std::string::npos; at += what.size()) pattern.replace(at, 1, what);
  return pattern;
}

constexpr const char* plain_types[] = {"f32", "f16", "bf16", "i32", "u32", "i8", "u8"};

}  // namespace

TEST_CASE("a region is split where a kernel binds fewer buffers, and no bit changes") {
  std::string body;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) body += with("%$ : f32[3,37] = input \"$\"\n", name);
  body += "%0 : f32[3,37] = mul %a, %b\n%1 : f32[3,37] = add %0, %c\n%2 : f32[3,37] = exp %1\n%3 : f32[3,37] = sub %2, %d\n"
          "%4 : f32[3,1] = reduce_sum %3 {axis=1}\n%5 : f32[3,37] = div %3, %4\n%6 : f32[3,37] = mul %5, %e\n%7 : f32[3,37] = add %6, %f\n"
          "%8 : f32[3,37] = max %7, %g\n%9 : f32[3,37] = add %8, %1\noutput \"y\" = %9\noutput \"z\" = %6\n";
  const ir::graph g = ir::parse(graph_of(body));
  size_t dispatches = 0;
  for (int32 buffers : {31, 5, 4, 3}) {
    target where = targets::vulkan_lavapipe;
    where.caps.max_buffers = buffers;
    kernel_machine machine(plan::compile(g, where));
    const plan::program_view& p = machine.program();
    CHECK(p.dispatch_count() > dispatches);
    dispatches = p.dispatch_count();
    for (const plan::launch& l : p.launches) CHECK(l.inputs.count + l.outputs.count <= static_cast<uint32>(buffers));
    const runs given = draw_runs(7, g, 1);
    CHECK(difference(interpret_runs(p.graph, given, ir::outside::clamp, subnormals::kept)[0], machine.run(given[0])) == "");
  }
}

TEST_CASE("pointwise kernels store whole words of every element type, tails too") {
  for (const char* t : plain_types)
    for (const char* shape : {"1", "2", "3", "5", "64", "129", "0", "3,7", "2,1,5"}) {
      const std::string source = graph_of(with("%x : $ = input \"x\"\n%y : $ = input \"y\"\n%a : $ = mul %x, %y\n%b : $ = max %a, %x\n"
                                               "output \"a\" = %a\noutput \"b\" = %b\n", std::string(t) + "[" + shape + "]"));
      CHECK_MESSAGE(disagreement(source) == "", t, " of ", shape);
    }
}

TEST_CASE("four words at a time: spaces large enough, with every way an operand lies in them") {
  for (const char* t : {"f32", "f16", "bf16", "i32", "u8"})
    for (const char* space : {"[3,16,128]", "[5,7,11,16]", "[8,641]", "[4100]"}) {
      const std::string extents = space, last = extents.find(',') == std::string::npos ? extents : "[" + extents.substr(extents.rfind(',') + 1);
      std::string ones = extents;  // the last extent is 1
      ones.replace(ones.find_last_of("[,") + 1, std::string::npos, "1]");
      const std::string type = t;
      CHECK_MESSAGE(disagreement(graph_of("%x : " + type + extents + " = input \"x\"\n%r : " + type + last + " = input \"r\"\n%o : " + type + ones +
                                          " = input \"o\"\n%0 : " + type + extents + " = add %x, %r\n%1 : " + type + extents +
                                          " = mul %0, %o\noutput \"y\" = %1\n")) == "", type, space);
    }
  for (const char* columns : {"512", "516", "513"})  // rows of whole runs, and others
    CHECK(disagreement(graph_of(with("%x : f32[9,$] = input \"x\"\n%b : bf16[$] = input \"b\"\n%w : f32[$] = cast %b\n%m : f32[9,1] = reduce_max %x {axis=1}\n"
                                     "%0 : f32[9,$] = sub %x, %m\n%1 : f32[9,$] = mul %0, %w\n%2 : f16[9,$] = cast %1\noutput \"y\" = %1\noutput \"z\" = %2\n", columns))) == "");
}

TEST_CASE("pointwise kernels mix outputs of several widths") {
  for (const char* n : {"1", "6", "7", "1027"})
    CHECK(disagreement(graph_of(with("%x : f32[$] = input \"x\"\n%h : f16[$] = cast %x\n%b : i8[$] = cast %x\n%q : i32[$] = lt %x, f32(0.5)\n"
                                     "output \"h\" = %h\noutput \"b\" = %b\noutput \"q\" = %q\n", n))) == "");
}

TEST_CASE("operands broadcast in every way") {
  for (const char* small : {"1", "5", "3,1", "1,5", "1,1", "2,1,1", "2,3,1", "2,1,5", "1,3,5"})
    CHECK(disagreement(graph_of(with("%x : f32[2,3,5] = input \"x\"\n%y : f32[$] = input \"y\"\n%a : f32[2,3,5] = sub %x, %y\n"
                                     "output \"a\" = %a\n", small))) == "");
}

TEST_CASE("casts between all element types") {
  for (const char* from : {"f32", "f16", "bf16", "i32", "u32", "i8", "u8", "bool"})
    for (const char* to : {"f32", "f16", "bf16", "i32", "u32", "i8", "u8", "bool"})
      CHECK_MESSAGE(disagreement(graph_of(with("%x : ", "") + std::string(from) + "[301] = input \"x\"\n%a : " + to +
                                          "[301] = cast %x\noutput \"a\" = %a\n")) == "", from, " to ", to);
}

TEST_CASE("row regions fold in the order of their sums") {
  for (const char* t : {"f32", "f16", "bf16"})
    for (const char* n : {"1", "2", "7", "255", "256", "257", "1000", "4096", "5000"}) {
      std::string body = "%x : T[3,$] = input \"x\"\n%m : T[3,1] = reduce_max %x {axis=1}\n%d : T[3,$] = sub %x, %m\n%e : T[3,$] = exp %d\n"
                         "%s : T[3,1] = reduce_sum %e {axis=1}\n%y : T[3,$] = div %e, %s\noutput \"y\" = %y\noutput \"s\" = %s\n";
      for (size_t at = 0; (at = body.find('T', at)) != std::string::npos; at += std::string(t).size()) body.replace(at, 1, t);
      CHECK_MESSAGE(disagreement(graph_of(with(body, n))) == "", t, " rows of ", n);
    }
}

TEST_CASE("reductions of every kind, type and axis") {
  for (const char* t : plain_types)
    for (const char* kind : {"reduce_sum", "reduce_max", "reduce_min", "reduce_argmax"})
      for (int axis = 0; axis < 3; ++axis) {
        const char *of[] = {"300,2,1", "2,300,1", "2,1,300"}, *to[] = {"1,2,1", "2,1,1", "2,1,1"};
        const std::string result = std::string(kind) == "reduce_argmax" ? "i32" : t;
        CHECK_MESSAGE(disagreement(graph_of("%x : " + std::string(t) + "[" + of[axis] + "] = input \"x\"\n%r : " + result + "[" + to[axis] + "] = " + kind +
                                            " %x {axis=" + std::to_string(axis) + "}\noutput \"r\" = %r\n")) == "", kind, " of ", t, " over ", axis);
      }
}

TEST_CASE("rows of floats and integers, and an argmax in two stages") {
  CHECK(disagreement(graph_of("%x : f32[3,600] = input \"x\"\n%i : i32[600] = input \"i\"\n%m : f32[3,1] = reduce_max %x {axis=1}\n"
                              "%0 : i32[3,600] = eq %x, %m\n%1 : i32[3,600] = mul %0, %i\n%2 : f32[3,600] = cast %1\n"
                              "%3 : f32[3,1] = reduce_sum %2 {axis=1}\n%4 : i32[3,1] = cast %3\noutput \"a\" = %4\noutput \"b\" = %1\n")) == "");
  for (const char* t : {"f32", "f16", "bf16"})
    CHECK(disagreement(graph_of(with("%x : $[2,9000] = input \"x\"\n%i : i32[2,1] = reduce_argmax %x {axis=1}\noutput \"i\" = %i\n", t))) == "");
}

TEST_CASE("movement copies the bits of every element type") {
  for (const char* t : plain_types) {
    const auto check = [&](const char* body) { CHECK_MESSAGE(disagreement(graph_of(with(body, t))) == "", t, ": ", body); };
    check("%x : $[3,5,7] = input \"x\"\n%a : $[7,3,5] = transpose %x {perm=[2,0,1]}\noutput \"a\" = %a\n");
    check("%x : $[3,5,7] = input \"x\"\n%a : $[2,2,3] = slice %x {start=[1,0,1] size=[2,2,3] step=[1,3,2]}\noutput \"a\" = %a\n");
    check("%x : $[3,1,7] = input \"x\"\n%a : $[3,4,7] = broadcast %x\noutput \"a\" = %a\n");
    check("%x : $[2,3] = input \"x\"\n%y : $[2,5] = input \"y\"\n%a : $[2,8] = concat %x, %y {axis=1}\noutput \"a\" = %a\n");
    check("%x : $[6,5] = input \"x\"\n%i : i32[3] = input \"i\"\n%a : $[3,5] = gather %x, %i {axis=0}\noutput \"a\" = %a\n");
    check("%x : $[2,6,5] = input \"x\"\n%i : i32[2,2] = input \"i\"\n%a : $[2,2,2,5] = gather %x, %i {axis=1}\noutput \"a\" = %a\n");
    check("%x : $[5,6] = input \"x\"\n%u : $[2,3] = input \"u\"\n%p : i32[2] = input \"p\"\n"
          "%a : $[5,6] = dynamic_update_slice %x, %u, %p\noutput \"a\" = %a\n");
    check("%x : $[5,7] = state \"x\"\n%u : $[2,3] = input \"u\"\n%p : i32[2] = input \"p\"\n"
          "%a : $[5,7] = dynamic_update_slice %x, %u, %p\noutput \"x\" = %a\n");
  }
}

TEST_CASE("contractions of every form, with and without steps behind them") {
  for (const char* k : {"1", "255", "256", "257", "600", "0"})
    for (const char* t : {"f32", "f16", "bf16"}) {
      const auto check = [&](std::string body) {
        for (size_t at = 0; (at = body.find('T', at)) != std::string::npos; at += std::string(t).size()) body.replace(at, 1, t);
        CHECK_MESSAGE(disagreement(graph_of(with(body, k))) == "", t, ", K ", k, ": ", body);
      };
      check("%a : T[3,$] = input \"a\"\n%b : T[$,5] = weight \"b\"\n%c : T[3,5] = matmul %a, %b\noutput \"c\" = %c\n");
      check("%a : f32[2,3,$] = input \"a\"\n%b : T[5,$] = weight \"b\"\n%c : T[2,3,5] = matmul %a, %b {transpose_b=1}\n"
            "%v : T[5] = input \"v\"\n%d : T[2,3,5] = add %c, %v\n%e : T[2,3,5] = tanh %d\noutput \"e\" = %e\n");
      check("%a : f32[3,$] = input \"a\"\n%w : T[4,5,$] = weight \"w\"\n%i : i32[3] = input \"i\"\n"
            "%c : f32[3,5] = indexed_matmul %a, %w, %i\noutput \"c\" = %c\n");
    }
}

TEST_CASE("products of matrices larger than a tile, with rows and columns left over") {
  const auto check = [](const char* rows, const char* columns, const char* t, const char* behind) {
    const std::string m = rows, n = columns, type = t;
    const std::string a = "%a : f32[" + m + ",320] = input \"a\"\n", result = type + "[" + m + "," + n + "]";
    const std::string narrow = type == "f32" ? "%x : f32[" + m + ",320] = abs %a\n" : "%x : " + type + "[" + m + ",320] = cast %a\n";
    const std::string end = "%v : " + type + "[" + n + "] = input \"v\"\n%d : " + result + " = add %c, %v\n%e : " + result + " = " + behind +
                            " %d\noutput \"e\" = %e\n";
    CHECK_MESSAGE(disagreement(graph_of(a + narrow + "%b : " + type + "[320," + n + "] = weight \"b\"\n%c : " + result + " = matmul %x, %b\n" + end)) == "",
                  m, " x ", n, " of ", type);
    CHECK_MESSAGE(disagreement(graph_of(a + narrow + "%b : " + type + "[" + n + ",320] = weight \"b\"\n%c : " + result +
                                        " = matmul %x, %b {transpose_b=1}\n" + end)) == "", m, " x ", n, " of ", type, ", transposed");
  };
  check("1", "68", "f32", "abs");
  check("2", "100", "bf16", "neg");
  check("9", "72", "f16", "abs");
  check("70", "66", "f32", "tanh");
  check("67", "132", "bf16", "abs");
  // results enough for the largest tiles of every device
  CHECK(disagreement(graph_of("%a : f32[525,8] = input \"a\"\n%b : f32[256,8] = input \"b\"\n%c : f32[525,256] = matmul %a, %b {transpose_b=1}\n"
                              "%d : f32[525,256] = neg %c\noutput \"d\" = %d\n")) == "");
}

TEST_CASE("convolutions with strides, padding, dilation and groups") {
  CHECK(disagreement(graph_of("%x : f32[2,4,7,6] = input \"x\"\n%w : f32[6,2,3,2] = weight \"w\"\n"
                              "%y : f32[2,6,4,6] = conv2d %x, %w {stride=[2,1] pad=[2,1,1,0] dilation=[1,1] groups=2}\noutput \"y\" = %y\n")) == "");
  CHECK(disagreement(graph_of("%x : f16[1,3,9,9] = input \"x\"\n%w : f16[5,3,3,3] = weight \"w\"\n"
                              "%y : f16[1,5,5,5] = conv2d %x, %w {stride=[1,1] pad=[0,0,0,0] dilation=[2,2] groups=1}\noutput \"y\" = %y\n")) == "");
}

TEST_CASE("packed weights are contracted, gathered and decoded") {
  for (const char* t : {"q4_0", "q4_1", "q5_0", "q8_0", "q4_k", "q6_k", "iq4_nl", "mxfp4"}) {
    const auto check = [&](const char* body) { CHECK_MESSAGE(disagreement(graph_of(with(body, t))) == "", t, ": ", body); };
    check("%a : f32[3,512] = input \"a\"\n%w : $[5,512] = weight \"w\"\n%c : f32[3,5] = matmul %a, %w {transpose_b=1}\noutput \"c\" = %c\n");
    check("%w : $[6,256] = weight \"w\"\n%i : i32[4] = input \"i\"\n%a : $[4,256] = gather %w, %i {axis=0}\n%d : f32[4,256] = cast %a\noutput \"d\" = %d\n");
    check("%w : $[3,256] = weight \"w\"\n%d : bf16[3,256] = cast %w\noutput \"d\" = %d\n");
    check("%a : f32[2,256] = input \"a\"\n%w : $[3,2,256] = weight \"w\"\n%i : i32[2] = input \"i\"\n%c : f32[2,2] = indexed_matmul %a, %w, %i\noutput \"c\" = %c\n");
  }
}

TEST_CASE("dynamic extents and windows are words of the metadata") {
  CHECK(disagreement(graph_of("%x : f32[2,L<=9] = input \"x\"\n%y : f32[2,L] = exp %x\n%s : f32[2,1] = reduce_sum %y {axis=1}\n"
                              "output \"y\" = %y\noutput \"s\" = %s\n")) == "");
  CHECK(disagreement(graph_of("%c : f16[3,16,8] = state \"c\"\n%q : f32[3,1,8] = input \"q\"\n%n : f32[L<=16] = input \"n\"\n"
                              "%k : f16[3,L,8] = slice %c {start=[0,0,0] size=[3,L,8] step=[1,1,1]}\n"
                              "%s : f32[3,1,L] = matmul %q, %k {transpose_b=1}\n%t : f32[3,1,L] = add %s, %n\noutput \"t\" = %t\n")) == "");
}

TEST_CASE("reductions over a dynamic extent that counts nothing") {
  for (const char* kind : {"reduce_sum", "reduce_max", "reduce_min", "reduce_argmax"})
    for (const char* t : {"f32", "i32"}) {
      const std::string result = std::string(kind) == "reduce_argmax" ? "i32" : t;
      const ir::graph g = ir::parse("graph t {\n%x : " + std::string(t) + "[L<=8,4] = input \"x\"\n%a : " + result + "[1,4] = " + kind +
                                    " %x {axis=0}\n%y : " + t + "[4,L] = transpose %x {perm=[1,0]}\n%b : " + result + "[4,1] = " + kind +
                                    " %y {axis=1}\noutput \"a\" = %a\noutput \"b\" = %b\n}\n");
      const std::vector<ir::named_tensor> empty{{"x", ir::tensor(type_of(t == std::string("f32") ? f32 : i32, 0, 4))}};
      kernel_machine machine(plan::compile(g, targets::vulkan_lavapipe));
      CHECK(difference(ir::interpret(machine.program().graph, {empty.data(), 1}), machine.run(empty)) == "");
    }
}

TEST_CASE("random numbers do not depend on how many there are") {
  for (const char* n : {"1", "4", "7", "1000"})
    CHECK(disagreement(graph_of(with("%s : u32[] = input \"s\"\n%o : u32[] = input \"o\"\n%r : f32[$] = random_uniform %s, %o\noutput \"r\" = %r\n", n))) == "");
}

TEST_CASE("a select of narrow floats moves their bits on every target, two-byte lane or not, and none refuses it") {
  for (const dtype t : {dtype::f16, dtype::bf16}) {
    const ir::graph g = ir::parse(graph_of(with("%c : i32[7] = input \"c\"\n%a : $[7] = input \"a\"\n%b : $[7] = input \"b\"\n%y : $[7] = select %c, %a, %b\n"
                                                "output \"y\" = %y\n", std::string(row(t).name))));
    ir::tensor c(type_of(dtype::i32, 7)), a(type_of(t, 7)), b(type_of(t, 7)), want(type_of(t, 7));
    for (size_t i = 0; i < 7; ++i) {  // NaNs with payloads, quiet and not, infinities, a negative zero, a subnormal
      constexpr uint64 bits[] = {0x7c01, 0xfe2a, 0x7f81, 0xffc5, 0x7c00, 0x8000, 0x0001};
      c.bits[i] = i % 2 ? 0 : i + 1;
      a.bits[i] = bits[i];
      b.bits[i] = bits[6 - i] ^ 0x8000;
      want.bits[i] = c.bits[i] ? a.bits[i] : b.bits[i];
    }
    for (const target& where : {targets::cuda_sm80, targets::vulkan_lavapipe, targets::vulkan_swiftshader}) {
      const plan::program planned = plan::compile(g, where);
      CHECK(planned.refusals().empty());
      kernel_machine machine(planned);
      CHECK(machine.run({{"c", c}, {"a", a}, {"b", b}}).outputs[0].value.bits == want.bits);
    }
    const ir::named_tensor given[] = {{"c", c}, {"a", a}, {"b", b}};
    CHECK(ir::interpret(g, {given, 3}).outputs[0].value.bits == want.bits);
  }
}

TEST_CASE("products of the same rows in one dispatch: one beside the other, and read together by what stands behind them") {
  const auto matrix = [](const char* t, int rows) { return std::string(t) + "[" + std::to_string(rows) + ",64]"; };
  for (const char* rows : {"1", "3", "9", "40"})
    for (const char* a : {"f32", "bf16"})
      for (const char* b : {"f32", "bf16", "f16", "q8_0"}) {
        const std::string m = rows, x = std::string(a) + "[" + m + ",64]", product = b == std::string("q8_0") ? "packed_contraction" : "matmul",
                          turned = " {transpose_b=1}";
        const std::string source = graph_of(
            "%x : " + x + " = input \"x\"\n%wq : " + matrix(b, 96) + " = weight \"wq\"\n%wk : " + matrix(b, 36) + " = weight \"wk\"\n%wv : " +
            matrix("f32", 36) + " = weight \"wv\"\n%r : f32[" + m + ",36] = input \"r\"\n" +
            "%q : bf16[" + m + ",96] = " + product + " %x, %wq" + turned + "\n%k : f32[" + m + ",36] = " + product + " %x, %wk" + turned + "\n" +
            "%v : f32[" + m + ",36] = matmul %x, %wv {transpose_b=1}\n%n : f32[" + m + ",36] = neg %k\n%e : f32[" + m + ",36] = exp %n\n%h : f32[" +
            m + ",36] = mul %e, %v\n%y : f32[" + m + ",36] = add %h, %r\noutput \"q\" = %q\noutput \"y\" = %y\noutput \"k\" = %k\n");
        CHECK_MESSAGE(plan::compile(ir::parse(source), targets::cuda_sm80).dispatch_count() == 1, source);
        CHECK_MESSAGE(disagreement(source) == "", rows, " rows of ", a, " times ", b);
      }
}

TEST_CASE("movements side by side, each behind the invocations of the one before it") {
  const std::string source = graph_of(
      "%x : f32[3,37] = input \"x\"\n%h : bf16[5,9] = input \"h\"\n%w : q8_0[7,64] = weight \"w\"\n%i : i32[4] = input \"i\"\n%p : i32[2] = input \"p\"\n"
      "%k : bf16[2,40] = state \"k\"\n%v : f32[6,37] = state \"v\"\n%r : bf16[1,11] = input \"r\"\n"
      "%0 : f32[37,3] = transpose %x {perm=[1,0]}\n%1 : bf16[5,4] = slice %h {start=[0,3] size=[5,4]}\n%2 : q8_0[4,64] = gather %w, %i {axis=0}\n"
      "%3 : f32[6,37] = concat %x, %x {axis=0}\n%4 : bf16[2,40] = dynamic_update_slice %k, %r, %p\n%5 : f32[6,37] = dynamic_update_slice %v, %x, %p\n"
      "output \"a\" = %0\noutput \"b\" = %1\noutput \"c\" = %2\noutput \"d\" = %3\noutput \"k\" = %4\noutput \"v\" = %5\n");
  CHECK(plan::compile(ir::parse(source), targets::cuda_sm80).dispatch_count() == 2);  // movements, and updates
  CHECK(disagreement(source) == "");
}

TEST_CASE("ropes side by side, of different rows") {
  for (const char* adjacent : {"0", "1"}) {
    const std::string attrs = std::string(" {width=8 adjacent=") + adjacent + " signed=0}\n";
    const std::string source = graph_of("%q : f32[3,2,8] = input \"q\"\n%k : f32[5,2,10] = input \"k\"\n%c : f32[2,4] = input \"c\"\n%s : f32[2,4] = input \"s\"\n"
                                        "%0 : f32[3,2,8] = rope %q, %c, %s" + attrs + "%1 : f32[5,2,10] = rope %k, %c, %s" + attrs +
                                        "output \"q\" = %0\noutput \"k\" = %1\n");
    CHECK(plan::compile(ir::parse(source), targets::vulkan_lavapipe).dispatch_count() == 1);
    CHECK(disagreement(source) == "");
  }
}
