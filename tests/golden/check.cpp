// The texts of the sample kernels: equal to those kept beside this file, taken by every compiler that is at hand, and
// run where a CPU can run them.
//
//     golden_texts FOLDER          ends with `N passed, N failed, N skipped`
//     golden_texts FOLDER --write  keeps what is written now

#include <support/command.hpp>
#include <support/cpp_text.hpp>
#include <support/sample_kernels.hpp>

#include <poot/run/hiprtc.hpp>
#include <poot/run/nvrtc.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>

namespace {

using namespace poot;
using emit::dialect;
using poot_tests::is_at_hand;
using poot_tests::sample_kernel;
using poot_tests::scratch_folder;
namespace files = std::filesystem;

constexpr dialect dialects[] = {dialect::glsl, dialect::cpp, dialect::cuda, dialect::hip};
constexpr const char* suffixes[] = {".comp", ".cpp", ".cu", ".hip"};

int passed = 0, failed = 0, skipped = 0;

void check(bool holds, const std::string& what, const std::string& otherwise = "") {
  ++(holds ? passed : failed);
  if (!holds) std::cout << "FAIL " << what << (otherwise.empty() ? "" : ": ") << otherwise << '\n';
}
void skip(const std::string& why) {
  ++skipped;
  std::cout << "[SKIP] " << why << '\n';
}

std::string content(const files::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}
void keep(const files::path& path, std::string_view bytes) {
  files::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Runs `command`; its output is shown where it fails.
void check_command(const std::string& what, const std::string& command, const files::path& scratch) {
  const files::path log = scratch / "log";
  const bool done = std::system(("{ " + command + "; } >" + log.string() + " 2>&1 </dev/null").c_str()) == 0;
  check(done, what, done ? "" : command + "\n" + content(log));
}

std::string written(const sample_kernel& s, dialect d, emit::options o = {}) { return std::string(emit::write(s.code, d, o).str()); }

// ---- the texts that are kept

files::path golden_path(const files::path& folder, const sample_kernel& s, dialect d) {
  return folder / emit::name(d) / (s.name() + suffixes[static_cast<int>(d)]);
}

void compare(const files::path& folder, const std::vector<sample_kernel>& samples) {
  size_t kept = 0, wanted = 0;
  for (dialect d : dialects) {
    for (const sample_kernel& s : samples) {
      if (!s.stands_in(d)) continue;
      ++wanted;
      const files::path path = golden_path(folder, s, d);
      check(content(path) == written(s, d), path.string(), "is not what is written now; --write renews it");
    }
    for ([[maybe_unused]] const auto& entry : files::directory_iterator(folder / emit::name(d))) ++kept;
  }
  check(kept == wanted, folder.string(), "holds texts of no sample");
}

// ---- GLSL

void check_glsl(const std::string& what, const files::path& source, const files::path& scratch) {
  const std::string spirv = (scratch / "kernel.spv").string();
  const std::string validate = " && spirv-val --target-env vulkan1.1 " + spirv;
  if (is_at_hand("glslangValidator"))
    check_command(what + " by glslang", "glslangValidator -V --target-env vulkan1.1 -o " + spirv + ' ' + source.string() + validate, scratch);
  if (is_at_hand("glslc"))
    for (const char* level : {" -O0", " -O"})
      check_command(what + " by glslc" + level,
                    "glslc --target-env=vulkan1.1 -fshader-stage=compute" + std::string(level) + " -o " + spirv + ' ' + source.string() + validate,
                    scratch);
}

void check_every_glsl(const files::path& folder, const std::vector<sample_kernel>& samples, const files::path& scratch) {
  if (!is_at_hand("glslangValidator")) skip("GLSL by glslang: glslangValidator is not on PATH");
  if (!is_at_hand("glslc")) skip("GLSL by shaderc: glslc is not on PATH");
  if (!is_at_hand("spirv-val")) return skip("SPIR-V: spirv-val is not on PATH");
  const files::path text_file = scratch / "kernel.comp";
  for (const sample_kernel& s : samples) {
    if (!s.stands_in(dialect::glsl)) continue;
    check_glsl(s.name() + ".comp", golden_path(folder, s, dialect::glsl), scratch);
    keep(text_file, written(s, dialect::glsl, {.preserve_specials = true, .preserve_subnormals = true}));
    check_glsl(s.name() + ".comp with everything preserved", text_file, scratch);
  }
  keep(text_file, written(samples.front(), dialect::glsl, {.div_exact = false, .sqrt_exact = false}));
  check_glsl(samples.front().name() + ".comp with division and square root in integers", text_file, scratch);
  keep(text_file, "#version 450\n" + std::string(emit::glsl_prelude) + "\nvoid main() {}\n");
  check_glsl("the prelude of GLSL", text_file, scratch);
}

// ---- C++, run

/// What differs from `kernel::interpret`, in words.
std::string difference(const sample_kernel& s, poot_tests::workgroup::entry* compiled) {
  const auto of = [](std::vector<std::vector<uint32>>& buffers) {
    std::vector<kernel::words> out;
    for (auto& b : buffers) out.push_back({b.data(), b.size()});
    return out;
  };
  auto expected = s.buffers, got = s.buffers;
  const auto expected_words = of(expected), got_words = of(got);
  const view<uint32> metadata{s.metadata.data(), s.metadata.size()};
  kernel::interpret(s.code, {expected_words.data(), expected_words.size()}, metadata, s.groups);
  poot_tests::run_compiled(compiled, s.code, {got_words.data(), got_words.size()}, metadata, s.groups);
  std::stringstream out;
  size_t wrong = 0;
  for (size_t b = 0; b < got.size(); ++b)
    for (size_t i = 0; i < got[b].size(); ++i)
      if (got[b][i] != expected[b][i] && wrong++ < 4)
        out << "\n  buffer " << b << ", word " << i << ": " << std::hex << got[b][i] << " instead of " << expected[b][i] << std::dec;
  return wrong ? std::to_string(wrong) + " words differ" + out.str() : "";
}

void run_every_cpp(const files::path& folder, const std::vector<sample_kernel>& samples, const files::path& scratch) {
  for (const char* command : {"g++ -std=c++11 -O2 -Wall -Wextra -Wno-unused -Werror", "g++ -Ofast -march=native",
                              "clang++-19 -O2 -Wall -Wextra -Wno-unused -Werror", "clang++-19 -w -O3 -ffast-math -march=native"}) {
    const std::string compiler = std::string(command).substr(0, std::string(command).find(' '));
    if (!is_at_hand(compiler)) {
      skip("C++: " + compiler + " is not on PATH");
      continue;
    }
    for (const sample_kernel& s : samples) {
      const std::string what = s.name() + ".cpp by " + command;
      try {
        const poot_tests::cpp_library compiled(content(golden_path(folder, s, dialect::cpp)), command, (scratch / s.name()).string());
        const std::string wrong = difference(s, compiled["poot_kernel"]);
        check(wrong.empty(), what, wrong);
      } catch (const std::exception& e) {
        check(false, what, e.what());
      }
    }
  }
  keep(scratch / "prelude.cpp", emit::cpp_prelude);
  check_command("the prelude of C++", "g++ -std=c++11 -Wall -Wextra -Wno-unused -Werror -fsyntax-only " + (scratch / "prelude.cpp").string(), scratch);
}

// ---- CUDA and HIP

/// As the named target of that architecture says.
bool has_matrix_unit(std::string_view architecture) {
  for (const targets::named_target& t : targets::named)
    if (t.is.arch.view() == architecture) return t.is.caps.matrix_bf16;
  return false;
}

template <class Compiler>
void check_device_text(dialect d, const files::path& folder, const std::vector<sample_kernel>& samples,
                       std::string_view prelude, std::initializer_list<const char*> architectures) {
  std::optional<Compiler> compiler;
  try {
    compiler.emplace();
  } catch (const error& e) {
    return skip(e.what());
  }
  std::cout << compiler->identity() << '\n';
  const auto compile = [&](const std::string& name, const std::string& source, bool has_fragments) {
    for (const char* architecture : architectures) {
      if (has_fragments && !has_matrix_unit(architecture)) continue;
      const std::string what = name + suffixes[static_cast<int>(d)] + " for " + architecture;
      try {
        const std::vector<uint8> code = compiler->compile(name, source, architecture);
        check(code.size() > 4 && std::string(code.begin(), code.begin() + 4) == "\x7f" "ELF", what, "no code came out");
      } catch (const error& e) {
        check(false, what, e.what());
      }
    }
  };
  for (const sample_kernel& s : samples)
    if (s.stands_in(d)) compile(s.name(), content(golden_path(folder, s, d)), s.code.subgroup != 0);
  compile("prelude", std::string(prelude) + "extern \"C\" __global__ void poot_kernel() {}\n", false);
}

void check_nvcc(const files::path& folder, const std::vector<sample_kernel>& samples, const files::path& scratch) {
  if (!is_at_hand("nvcc")) return skip("CUDA by nvcc: nvcc is not on PATH");
  for (const sample_kernel& s : samples)
    if (s.stands_in(dialect::cuda))
      check_command(s.name() + ".cu by nvcc", "nvcc -cubin -arch=sm_80 --fmad=false -o " + (scratch / "kernel.cubin").string() + ' ' +
                                                  golden_path(folder, s, dialect::cuda).string(), scratch);
}

/// Division and square root of GLSL in integers, on this CPU.
void run_glsl_exact(const files::path& scratch) {
  constexpr std::string_view before = R"(
typedef unsigned uint;
static uint floatBitsToUint(float x) { uint b; __builtin_memcpy(&b, &x, 4); return b; }
static float uintBitsToFloat(uint b) { float x; __builtin_memcpy(&x, &b, 4); return x; }
static int findMSB(uint x) { return 31 - __builtin_clz(x); }
)";
  constexpr std::string_view after = R"(
static bool same(float a, float b) { return a != a ? b != b : floatBitsToUint(a) == floatBitsToUint(b); }
int main() {
  unsigned wrong = 0;
  for (uint i = 0; i < 0xffffffffu - 3001u; i += 3001u) wrong += !same(poot_fsqrt(uintBitsToFloat(i)), __builtin_sqrtf(uintBitsToFloat(i)));
  const uint edges[] = {0, 1, 2, 3, 0x7fffff, 0x800000, 0x800001, 0x3effffff, 0x3f800000, 0x3f800001, 0x3fffffff, 0x40400000, 0x7f7fffff, 0x7f800000, 0x7fc00000};
  unsigned long long state = 1;
  for (uint i = 0; i < 4000000; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    uint x = uint(state >> 32), y = uint(state * 0x9e3779b97f4a7c15ull >> 32);
    if (i < 900) x = edges[i / 15 % 15] | (i / 225 & 1) << 31, y = edges[i % 15] | (i / 450) << 31;
    else if (i % 2) y = (x & 0xff800000u) ^ (y & 0x80ffffffu);  // quotients near 1
    wrong += !same(poot_fdiv(uintBitsToFloat(x), uintBitsToFloat(y)), uintBitsToFloat(x) / uintBitsToFloat(y));
    wrong += !same(poot_fsqrt(uintBitsToFloat(y)), __builtin_sqrtf(uintBitsToFloat(y)));
  }
  return wrong != 0;
}
)";
  std::string functions(emit::glsl_exact_prelude);
  functions.replace(functions.find("out int exponent"), 16, "int& exponent");
  const std::string program = (scratch / "glsl_exact").string();
  keep(program + ".cpp", std::string(before) + functions + std::string(after));
  check_command("division and square root of GLSL in integers", "g++ -O2 -w -o " + program + ' ' + program + ".cpp && " + program, scratch);
}

/// Comparisons of GLSL in integers, on this CPU.
void run_glsl_flushing(const files::path& scratch) {
  constexpr std::string_view before = R"(
typedef unsigned uint;
static uint floatBitsToUint(float x) { uint b; __builtin_memcpy(&b, &x, 4); return b; }
static float uintBitsToFloat(uint b) { float x; __builtin_memcpy(&x, &b, 4); return x; }
)";
  constexpr std::string_view after = R"(
int main() {
  unsigned wrong = 0;
  const uint edges[] = {0, 1, 2, 0x7fffff, 0x800000, 0x3f800000, 0x3f800001, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000};
  for (uint i = 0; i < 22; ++i)
    for (uint j = 0; j < 22; ++j) {
      const float a = uintBitsToFloat(edges[i % 11] | i / 11 << 31), b = uintBitsToFloat(edges[j % 11] | j / 11 << 31);
      wrong += poot_fless(a, b) != (a < b);
      wrong += poot_fless_equal(a, b) != (a <= b);
      wrong += poot_fequal(a, b) != (a == b);
    }
  return wrong != 0;
}
)";
  const std::string program = (scratch / "glsl_flushing").string();
  keep(program + ".cpp", std::string(before) + std::string(emit::glsl_flushing_prelude) + std::string(after));
  check_command("comparisons of GLSL in integers", "g++ -O2 -w -o " + program + ' ' + program + ".cpp && " + program, scratch);
}

/// The square root of HIP's prelude, on this CPU, given one that is a unit in the last place too low or too high.
void run_hip_square_root(const files::path& scratch) {
  constexpr std::string_view before = R"(
#define __device__ static
static unsigned __float_as_uint(float x) { unsigned b; __builtin_memcpy(&b, &x, 4); return b; }
static float __uint_as_float(unsigned b) { float x; __builtin_memcpy(&x, &b, 4); return x; }
static unsigned __umulhi(unsigned a, unsigned b) { return unsigned(static_cast<unsigned long long>(a) * b >> 32); }
static int wrong_by = 0;
static float rough_sqrt(float x) {
  const float exact = __builtin_sqrtf(x);
  return exact > 0 && exact < __builtin_inff() ? __uint_as_float(__float_as_uint(exact) + unsigned(wrong_by)) : exact;
}
#define __builtin_sqrtf rough_sqrt
)";
  constexpr std::string_view after = R"(
#undef __builtin_sqrtf
int main() {
  unsigned wrong = 0;
  for (wrong_by = -1; wrong_by <= 1; ++wrong_by) {
    for (unsigned bits = 0; bits < 0x7f800000u; bits += bits < 0x3f800000u || bits >= 0x40800000u ? 2477u : 7u)
      wrong += __float_as_uint(poot_fsqrt(__uint_as_float(bits))) != __float_as_uint(__builtin_sqrtf(__uint_as_float(bits)));
    wrong += __float_as_uint(poot_fsqrt(-0.0f)) != 0x80000000u;
    wrong += __float_as_uint(poot_fsqrt(__builtin_inff())) != 0x7f800000u;
    wrong += poot_fsqrt(-1.0f) == poot_fsqrt(-1.0f);
  }
  return wrong != 0;
}
)";
  const std::string program = (scratch / "hip_square_root").string();
  keep(program + ".cpp", std::string(before) + std::string(emit::hip_prelude) + std::string(after));
  check_command("the square root of HIP's prelude", "g++ -O2 -ffp-contract=off -w -o " + program + ' ' + program + ".cpp && " + program, scratch);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::cerr << "golden_texts FOLDER [--write]\n";
    return 2;
  }
  const files::path folder = arguments[1];
  const std::vector<sample_kernel> samples = poot_tests::sample_kernels();
  if (count > 2) {
    for (dialect d : dialects)
      for (const sample_kernel& s : samples)
        if (s.stands_in(d)) keep(golden_path(folder, s, d), written(s, d));
    return 0;
  }
  const scratch_folder scratch;
  compare(folder, samples);
  check_every_glsl(folder, samples, scratch.path);
  run_every_cpp(folder, samples, scratch.path);
  check_device_text<run::nvrtc>(dialect::cuda, folder, samples, emit::cuda_prelude, {"sm_80", "sm_89", "sm_90a", "sm_100", "sm_120"});
  check_nvcc(folder, samples, scratch.path);
  run_glsl_exact(scratch.path);
  run_glsl_flushing(scratch.path);
  run_hip_square_root(scratch.path);
  check_device_text<run::hiprtc>(dialect::hip, folder, samples, emit::hip_prelude, {"gfx906", "gfx90a", "gfx1030"});
  std::cout << passed << " passed, " << failed << " failed, " << skipped << " skipped\n";
  return failed ? 1 : 0;
}
