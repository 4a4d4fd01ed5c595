/// Fuzzes the readers of the text forms: graphs, programs, kernels (fuzzer.hpp).

#include <poot/kernel/generate.hpp>
#include <poot/kernel/parse.hpp>
#include <poot/kernel/print.hpp>
#include <poot/plan/parse.hpp>
#include <poot/plan/print.hpp>

#include "fuzzer.hpp"

#include <cstring>

using namespace poot_tests;

namespace {

/// The reader of a text does not know the file's name. What was read must be read again from its own text,
/// which is not counted as memory of the reader.
template <class Read, class Print>
void run_text(poot::view<uint8> file, const char* name, Read read, Print print) {
  try {
    const auto got = read(std::string_view(reinterpret_cast<const char*>(file.data()), file.size()));
    const size_t allocated_by_reader = allocated;
    const poot::text once = print(got);
    try {
      if (!(print(read(once.str())) == once)) std::abort();
    } catch (const poot::error& e) {
      std::fprintf(stderr, "its own text is refused: %s\n", e.what());
      std::abort();
    }
    touch({reinterpret_cast<const uint8*>(once.str().data()), once.size()});
    allocated = allocated_by_reader;
  } catch (const poot::error& e) {
    poot::fail(poot::text{} << name << ": " << e.what());
  }
}
void run_graph_text(poot::view<uint8> file) {
  run_text(file, "fuzz.poot", [](std::string_view s) { return poot::ir::parse(s); },
           [](const poot::ir::graph& g) {
             poot::ir::verify(g);
             return poot::ir::print(g);
           });
}
void run_program_text(poot::view<uint8> file) {
  run_text(file, "fuzz.plan", [](std::string_view s) { return poot::plan::parse(s); },
           [](const poot::plan::program& p) { return poot::plan::print(p); });
}
void run_kernel_text(poot::view<uint8> file) {
  run_text(file, "fuzz.kernel", [](std::string_view s) { return poot::kernel::parse(s); },
           [](const poot::kernel::kernel& k) { return poot::kernel::print(k); });
}

const char* const graph_texts[] = {
    "graph norm {\n  %x : f32[T<=8,16] = input \"x\"\n  %gain : bf16[16] = weight \"gain\"\n"
    "  %0 : f32[T,16] = mul %x, %x\n  %1 : f32[T,1] = reduce_sum %0 {axis=1}\n  %2 : f32[T,1] = mul %1, f32(0x1p-4)\n"
    "  %3 : f32[T,1] = add %2, f32(1e-5)\n  %4 : f32[T,1] = sqrt %3\n  %5 : f32[T,16] = div %x, %4\n"
    "  %6 : f32[16] = cast %gain\n  %7 : f32[T,16] = mul %5, %6\n  output \"y\" = %7\n}\n",
    "graph layer { # with a cache\n  %x : f32[2,32] = input \"x\"\n  %w : q8_0[8,32] = weight \"w 1\"\n"
    "  %at : i32[2] = input \"at\"\n  %held : f32[4,8] = state \"held\"\n"
    "  %0 : f32[2,8] = matmul %x, %w {transpose_b=1}\n  %1 : f32[2,8] = neg %0\n  %2 : f32[2,8] = exp %1\n"
    "  %3 : f32[2,8] = add %2, f32(1)\n  %4 : f32[2,8] = div %0, %3\n"
    "  %5 : f32[4,8] = dynamic_update_slice %held, %4, %at\n  %6 : f32[2,8] = slice %5 {start=[1,0] size=[2,8]}\n"
    "  %7 : f32[8,2] = transpose %6 {perm=[1,0]}\n  %8 : f32[16] = reshape %7\n  %9 : i32[16] = iota {axis=0}\n"
    "  %10 : f32[16] = cast %9\n  %11 : f32[16] = pow f32(bits 0x40490fdb), %10\n  %12 : f32[16] = mul %8, %11\n"
    "  %13 : f32[16] = mul %8, %8\n  %14 : i32[1] = reduce_argmax %12 {axis=0}\n  %15 : f32[1] = gather %13, %14 {axis=0}\n"
    "  %16 : f32[17] = concat %12, %15 {axis=0}\n"
    "  output \"held\" = %5\n  output \"y\" = %16\n  output \"sum\" = %4\n}\n"};

std::vector<bytes> graph_text_seeds() {
  std::vector<bytes> seeds;
  for (const char* t : graph_texts) seeds.emplace_back(t, t + std::strlen(t));
  return seeds;
}
std::vector<bytes> program_text_seeds() {
  std::vector<bytes> seeds;
  for (const char* t : graph_texts)
    for (const bool fuse : {true, false}) {
      poot::plan::options wanted;
      wanted.fuse = fuse;
      const poot::text printed = poot::plan::print(poot::plan::compile(poot::ir::parse(t), poot::targets::host, wanted));
      seeds.emplace_back(printed.str().begin(), printed.str().end());
    }
  return seeds;
}

std::vector<bytes> kernel_text_seeds() {
  std::vector<bytes> seeds;
  for (const char* body : {"%a : f32[6,64] = input \"a\"\n%b : f32[64,4] = weight \"b\"\n%c : f32[6,4] = matmul %a, %b\noutput \"c\" = %c\n",
                           "%a : f16[3,40] = input \"a\"\n%e : f16[3,40] = tanh %a\n%s : f16[3,1] = reduce_sum %e {axis=1}\noutput \"s\" = %s\n"})
    for (const poot::target& where : {poot::targets::vulkan_lavapipe, poot::targets::cuda_sm80}) {
      const poot::plan::program p = poot::plan::compile(poot::ir::parse((poot::text("graph g {\n") << body << "}\n").str()), where);
      const poot::text printed = poot::kernel::print(poot::kernel::generate(p, p.launches[0]));
      seeds.emplace_back(printed.str().begin(), printed.str().end());
    }
  return seeds;
}

}  // namespace

int main(int count, char** arguments) {
  return fuzz("fuzz_texts",
              {{"graph", graph_text_seeds, keep_bytes, run_graph_text},
               {"program", program_text_seeds, keep_bytes, run_program_text},
               {"kernel", kernel_text_seeds, keep_bytes, run_kernel_text}},
              count, arguments);
}
