// The text of kernels: what is printed is read back as the same kernel, and nothing else is read.
#include <poot/kernel/generate.hpp>
#include <poot/kernel/parse.hpp>
#include <poot/plan/compile.hpp>
#include <poot/ir/parse.hpp>

#include <doctest/doctest.h>

#include <support/sample_kernels.hpp>

#include <initializer_list>
#include <string>

using namespace poot;
using poot_tests::sample_kernel;

namespace {

constexpr bool same(const kernel::body& a, const kernel::body& b) {
  if (a.size() != b.size()) return false;
  for (uint32 i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i])) return false;
  return true;
}
constexpr bool same(const kernel::kernel& a, const kernel::kernel& b) {
  if (!(a.name == b.name) || a.workgroup != b.workgroup || a.by_group != b.by_group || a.work != b.work || a.chunked != b.chunked || a.buffers.size() != b.buffers.size() ||
      a.metadata.size() != b.metadata.size() || a.shared.size() != b.shared.size() || a.functions.size() != b.functions.size())
    return false;
  for (uint32 i = 0; i < a.buffers.size(); ++i)
    if (!(a.buffers[i].name == b.buffers[i].name) || a.buffers[i].how != b.buffers[i].how || a.bindings[i] != b.bindings[i]) return false;
  for (uint32 i = 0; i < a.metadata.size(); ++i)
    if (!(a.metadata[i] == b.metadata[i])) return false;
  for (uint32 i = 0; i < a.shared.size(); ++i)
    if (!(a.shared[i].name == b.shared[i].name) || a.shared[i].kind != b.shared[i].kind || a.shared[i].size != b.shared[i].size) return false;
  for (uint32 i = 0; i < a.functions.size(); ++i) {
    const kernel::function &f = a.functions[i], &g = b.functions[i];
    if (!(f.name == g.name) || f.result != g.result || !(view<kernel::type>(f.parameters) == view<kernel::type>(g.parameters)) || !same(f.code, g.code))
      return false;
  }
  return same(a.code, b.code);
}

constexpr kernel::kernel twice() {
  kernel::builder k("twice", 64);
  const kernel::buffer_id x = k.reads("x", 0), y = k.writes("y", 1);
  const kernel::word i = k.invocation(), n = k.meta({kernel::meta_word::what::product, 1, 0, 2, 1, 0});
  k.if_(kernel::below(i, n), [&] {
    k.note(1);
    const kernel::number v = kernel::from_bits(k.load(x, i));
    k.store(y, i, kernel::to_bits(kernel::add(v, v)));
  });
  return k.finish();
}
constexpr std::string_view text_of_twice = R"(kernel twice {
  workgroup 64
  read x 0
  write y 1
  meta product 1 [0,2) / 1
  code {
    %0 = group
    %1 = literal_word 64
    %2 = mul %0, %1
    %3 = lane
    %4 = add %2, %3
    %5 = meta 0
    %6 = less %4, %5
    branch %6
      %8 = load x, %4 @1
      %9 = from_bits %8 @1
      %10 = fadd %9, %9 @1
      %11 = to_bits %10 @1
      store y, %4, %11 @1
    branch_end @1
  }
}
)";
static_assert(same(kernel::parse(text_of_twice), twice()));

std::string refusal(std::string_view source) {
  try {
    kernel::parse(source);
  } catch (const error& e) {
    return e.what();
  }
  return "read";
}
std::string edited(std::string_view from, std::string_view to) {
  std::string source(text_of_twice);
  const size_t at = source.find(from);
  REQUIRE(at != source.npos);
  return source.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("prints kernels as text") { CHECK(kernel::print(twice()).str() == text_of_twice); }

TEST_CASE("reads back every instruction") {
  std::vector<sample_kernel> samples = poot_tests::sample_kernels();
  for (sample_kernel& s : samples) {
    for (uint32 i = 0; i < s.code.shared.size(); ++i) s.code.shared[i].name = text("s") << i;  // some are words for readers
    const text printed = kernel::print(s.code);
    const kernel::kernel again = kernel::parse(printed.str());
    CHECK_MESSAGE(same(again, s.code), s.name());
    CHECK(kernel::print(again) == printed);
  }
}

TEST_CASE("reads back generated kernels") {
  for (const char* source :
       {"%a : f32[70,64] = input \"a\"\n%b : f32[64,72] = weight \"b\"\n%c : f32[70,72] = matmul %a, %b\noutput \"c\" = %c\n",
        "%a : f16[3,40] = input \"a\"\n%e : f16[3,40] = tanh %a\n%s : f16[3,1] = reduce_sum %e {axis=1}\n%y : f16[3,40] = div %e, %s\noutput \"y\" = %y\n",
        "%a : f32[9,64] = input \"a\"\n%b : f32[72,64] = weight \"b\"\n%w : bf16[36,64] = weight \"w\"\n%c : f32[9,72] = matmul %a, %b {transpose_b=1}\n"
        "%d : f32[9,36] = matmul %a, %w {transpose_b=1}\noutput \"c\" = %c\noutput \"d\" = %d\n",
        "%w : q4_k[6,256] = weight \"w\"\n%i : i32[4] = input \"i\"\n%a : q4_k[4,256] = gather %w, %i {axis=0}\n%d : f32[4,256] = cast %a\noutput \"d\" = %d\n",
        "%c : f16[3,16,8] = state \"c\"\n%k : f16[3,4,8] = slice %c {start=[0,2,0] size=[3,4,8] step=[1,1,1]}\n%q : f32[3,1,8] = input \"q\"\n"
        "%s : f32[3,1,4] = matmul %q, %k {transpose_b=1}\noutput \"s\" = %s\n"})
    for (const target& where : {targets::cuda_sm80, targets::vulkan_lavapipe}) {
      const plan::program p = plan::compile(ir::parse("graph t {\n" + std::string(source) + "}\n"), where);
      for (const plan::launch& l : p.launches) {
        const kernel::kernel k = kernel::generate(p, l);
        CHECK(same(kernel::parse(kernel::print(k).str()), k));
      }
    }
}

TEST_CASE("refuses what is no kernel, and says where") {
  const auto check = [](const std::string& source, std::string_view wanted) { CHECK_MESSAGE(refusal(source).find(wanted) != std::string::npos, refusal(source)); };
  CHECK(refusal(edited("fadd %9, %9", "fadd %9, %12")) == "kernel text, line 17, column 22: %12 is no value before it");
  check(edited("kernel", "colonel"), "line 1, column 1: expected kernel");
  check(edited("twice", "2"), "expected the name of the kernel, found '2'");
  check(edited("workgroup 64", "workgroup 64 work 2"), "2 words of 1 count its work");
  check(edited("workgroup 64", "workgroup 64 work 0"), "this is 1 or more");
  check(edited("workgroup 64", "workgroup 4294967296"), "is not an integer from 0 to 4294967295");
  check(edited("workgroup 64", "workgroup 0"), "a workgroup has no invocation");
  check(edited("read x", "peruse x"), "there is no declaration peruse");
  check(edited("write y", "write x"), "this name is declared twice");
  check(edited("product 1", "weight 1"), "there is no such kind of metadata");
  check(edited("[0,2)", "[0,99)"), "'99' is not an integer from 0 to 6");
  check(edited("/ 1", "/ 0"), "this is 1 or more");
  check(edited("%4 = add", "%5 = add"), "this is instruction 4");
  check(edited("%4 = add", "add"), "it defines a value");
  check(edited("store y", "%12 = store y"), "it defines no value");
  check(edited("= group", "= grope"), "there is no operation grope");
  check(edited("load x", "load z"), "there is no buffer z");
  check(edited("load x", "load y"), "buffer y is only written");
  check(edited("meta 0", "meta 1"), "word 1 of a metadata of 1 words");
  check(edited("less %4, %5", "less %4, %4 %4"), "this is instruction 7");
  check(edited("fadd", "add"), "operand a is a number, not a word");
  check(edited("branch_end", "loop_end"), "it ends no block");
  check(edited("    branch_end @1\n", ""), "its block is never ended");
  check(edited("literal_word 64", "literal_word 0x100000000"), "this is not a number of 32 bits");
  check(edited("%1 = literal_word 64", "%1 = call f"), "there is no function f");
  check(edited("%0 = group", "%0 = join"), "its arguments are not right before it");
  check(edited("%0 = group", "%0 = parameter 0"), "parameters are the first values of a function");
  check(std::string(text_of_twice) + "x", "expected the end of the text, found 'x'");
  for (size_t length = 0; length + 2 < text_of_twice.size(); ++length) CHECK(refusal(text_of_twice.substr(0, length)) != "read");
}
