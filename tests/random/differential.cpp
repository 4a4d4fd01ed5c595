/// Random graphs: whatever the passes, fusion, threads and instruction sets do, the interpreter's bits come out.
///
///     differential [COUNT [FIRST_SEED [CASES]]]
///
/// Graph i of a run has the seed FIRST_SEED + i: a failure is repeated by `differential 1 SEED`. CASES is a folder of
/// `.poot` files, graphs that failed once; each is run with the values of 24 seeds.

#include "agreement.hpp"
#include "graph_generator.hpp"
#include "shrink.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace poot_tests;

namespace {

void report(const char* what, uint64 seed, const ir::graph_view& g, const std::string& why) {
  const text t = ir::print(g);
  std::printf("%s %llu: %s\n%.*s", what, static_cast<unsigned long long>(seed), why.c_str(), static_cast<int>(t.size()), t.str().data());
}

uint64 running = 0;
text running_text;

/// A crash names its graph too.
void name_and_die(int signal) {
  std::printf("FAIL seed %llu: signal %d\n%.*s", static_cast<unsigned long long>(running), signal,
              static_cast<int>(running_text.size()), running_text.str().data());
  std::fflush(stdout);
  std::_Exit(1);
}

bool run_seed(uint64 seed) {
  ir::graph g;
  try {
    g = graph_generator(seed).make();
  } catch (const std::exception& e) {
    std::printf("FAIL seed %llu: the generator made an illegal graph: %s\n", static_cast<unsigned long long>(seed), e.what());
    return false;
  }
  running = seed;
  running_text = ir::print(g);
  const runs given = draw_runs(seed, g);
  const std::string why = disagreement(g, given, seed);
  if (why.empty()) return true;
  report("FAIL seed", seed, g, why);
  shrinker s(std::move(g), given, seed);
  s.shrink();
  report("shrunk, seed", seed, s.g, s.why);
  std::fflush(stdout);
  return false;
}

bool run_case(const std::filesystem::path& file) {
  std::ifstream in(file);
  const std::string source{std::istreambuf_iterator<char>(in), {}};
  try {
    const ir::graph g = ir::parse(source);
    for (uint64 seed = 0; seed < 24; ++seed) {
      const std::string why = disagreement(g, draw_runs(seed, g), seed * 37);
      if (why.empty()) continue;
      std::printf("FAIL case %s, values %llu: %s\n", file.c_str(), static_cast<unsigned long long>(seed), why.c_str());
      return false;
    }
  } catch (const std::exception& e) {
    std::printf("FAIL case %s: %s\n", file.c_str(), e.what());
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64 count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
  const uint64 first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  uint64 passed = 0, failed = 0;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, name_and_die);
  if (argc > 3) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(argv[3]))
      if (entry.path().extension() == ".poot") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) ++(run_case(file) ? passed : failed);
  }
  const auto began = std::chrono::steady_clock::now();
  auto told = began;
  for (uint64 i = 0; i < count && failed < 20; ++i) {
    ++(run_seed(first + i) ? passed : failed);
    const auto now = std::chrono::steady_clock::now();
    if (now - told < std::chrono::seconds(20)) continue;
    told = now;
    std::printf("%llu of %llu graphs, %llu failed\n", static_cast<unsigned long long>(i + 1),
                static_cast<unsigned long long>(count), static_cast<unsigned long long>(failed));
    std::fflush(stdout);
  }
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(passed), static_cast<unsigned long long>(failed));
  return failed ? 1 : 0;
}
