/// `poot devices`

#include "commands.hpp"
#include "device.hpp"

#include <poot/run/host/float_environment.hpp>
#include <poot/run/host/isa.hpp>
#include <poot/run/host/pool.hpp>

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>

#include <unistd.h>

namespace poot::tool {

namespace {

std::string processor_name() {
  std::ifstream about("/proc/cpuinfo");
  for (std::string line; std::getline(about, line);)
    if (line.rfind("model name", 0) == 0) {
      const size_t colon = line.find(": ");
      if (colon != line.npos) return line.substr(colon + 2);
    }
  return "a processor without a name";
}

/// Whether fma rounds once: (1 + 2⁻²⁷)² − (1 + 2⁻²⁶) is 2⁻⁵⁴, and 0 where the product is rounded first.
bool fma_rounds_once() {
  const volatile double a = 1 + 0x1p-27, b = 1 + 0x1p-26;
  return std::fma(a, a, -b) == 0x1p-54;
}

/// Whether results below the smallest normal number are kept where kernels run.
bool keeps_subnormals() {
  const run::host::float_environment ieee;
  const volatile float least = 0x1p-126f, half = 0.5f;
  const volatile float product = least * half;
  return product > 0;
}

void print_size(const char* what, long bytes) {
  if (bytes <= 0) return;
  const double mib = static_cast<double>(bytes) / (1 << 20);
  std::printf("  %-18s %.*f MiB\n", what, mib < 10 ? 2 : 0, mib);
}

int print_devices() {
  using namespace run::host;
  std::printf("host: %s\n", processor_name().c_str());
  std::printf("  %-18s %s", "instruction set", std::string(name(current())).c_str());
  if (current() != detect()) std::printf(" (chosen by POOT_ISA; %s is the widest here)", std::string(name(detect())).c_str());
  std::printf("\n  %-18s %d\n", "threads", pool().threads());
  std::printf("  %-18s %s\n", "fma", fma_rounds_once() ? "rounds once" : "rounds twice");
  std::printf("  %-18s %s\n", "subnormals", keeps_subnormals() ? "kept" : "flushed to zero");
#ifdef _SC_LEVEL2_CACHE_SIZE
  print_size("cache, level 2", ::sysconf(_SC_LEVEL2_CACHE_SIZE));
  print_size("cache, level 3", ::sysconf(_SC_LEVEL3_CACHE_SIZE));
#endif
  print_size("memory", ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE));
  print_vulkan_devices();
  std::printf("cuda, hip: executors for these are not available yet\n");
  return 0;
}

}  // namespace

void add_devices_command(CLI::App& app, outcome& result) {
  CLI::App* command = app.add_subcommand("devices", "List what programs can run on here, and what was measured of it");
  command->callback([&result] { result.status = print_devices(); });
}

}  // namespace poot::tool
