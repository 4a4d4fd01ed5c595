// What the kernels of a representative set of programs take of a multiprocessor, from the CUBINs that NVRTC makes of them:
// none spills or has a stack, pointwise and row kernels fill at least half of it, and the table in docs/targets.md says so.
//
//     kernel_resources PAGE          ends with `N passed, N failed, N skipped`
//     kernel_resources PAGE --write  puts the table into the page

#include "programs.hpp"

#include <poot/emit/write.hpp>
#include <poot/kernel/generate.hpp>
#include <poot/plan/compile.hpp>
#include <poot/run/nvrtc.hpp>
#include <poot/run/occupancy.hpp>

#include <support/sample_kernels.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace poot;

struct architecture_of_table {
  const char* column;
  target where;
};
constexpr architecture_of_table architectures[] = {
    {"sm_80", targets::cuda_sm80}, {"sm_90a", targets::cuda_sm90a}, {"sm_120", targets::cuda_sm120}};

int passed = 0, failed = 0;

void check(bool holds, const std::string& what) {
  ++(holds ? passed : failed);
  if (!holds) std::cout << "FAIL " << what << '\n';
}

/// A kernel of the table, once for each architecture.
struct table_row {
  std::string name;
  bool is_dense = false;  ///< pointwise and rows: at least half of the warps must be there
  std::vector<std::string> texts{};
  uint32 workgroup = 0;
  std::string cells{};
};

std::string name_of(const plan::program_view& p, const plan::launch& l) {
  std::string name(fuse::name(l.kind)), of;
  for (uint32 in : p(l.inputs)) {
    const std::string t(poot::row(p.graph.type(in).element).name);
    if ((" " + of + " ").find(" " + t + " ") == std::string::npos) of += (of.empty() ? "" : " ") + t;
  }
  name += (of.empty() ? "" : " of ") + of + ":";
  constexpr size_t most = 6;
  const view<uint32> members = p(l.members);
  for (size_t i = 0; i < members.size() && i < most; ++i) name += ' ' + std::string(ir::name(p.graph[members[i]].kind));
  if (members.size() > most) name += " and " + std::to_string(members.size() - most) + " more";
  return name;
}

/// The kernels of the programs, each distinct text once.
std::vector<table_row> rows_of_programs() {
  std::vector<table_row> rows;
  for (const auto& [name, graph] : poot_tests::resource_programs()) {
    std::vector<plan::program> planned;
    for (const architecture_of_table& a : architectures) planned.push_back(plan::compile(graph, a.where, {.matrix_units = true}));
    const auto add = [&](bool prologue, size_t index) {
      table_row made;
      for (const plan::program& p : planned) {
        const plan::program_view v = p.view_of();
        const plan::launch& l = (prologue ? v.prologue : v.launches)[index];
        const kernel::kernel k = kernel::generate(v, l);
        made.name = name + ", " + name_of(v, l);
        made.is_dense = l.kind == fuse::region_kind::pointwise || l.kind == fuse::region_kind::row;
        made.workgroup = k.workgroup;
        made.texts.emplace_back(emit::write(k, emit::dialect::cuda, {.comments = false}).str());
      }
      for (const table_row& known : rows)
        if (known.texts == made.texts) return;
      rows.push_back(std::move(made));
    };
    for (size_t i = 0; i < planned[0].prologue.size(); ++i) add(true, i);
    for (size_t i = 0; i < planned[0].launches.size(); ++i) add(false, i);
  }
  for (const poot_tests::sample_kernel& s : poot_tests::sample_kernels()) {
    if (!s.stands_in(emit::dialect::cuda)) continue;
    table_row made{"sample " + s.name()};
    made.workgroup = s.code.workgroup;
    made.texts.assign(std::size(architectures), std::string(emit::write(s.code, emit::dialect::cuda, {.comments = false}).str()));
    rows.push_back(std::move(made));
  }
  return rows;
}

void measure(table_row& r, const run::nvrtc& compiler) {
  for (size_t a = 0; a < std::size(architectures); ++a) {
    const std::string what = r.name + " for " + architectures[a].column;
    try {
      const std::vector<uint8> code = compiler.compile(r.name, r.texts[a], architectures[a].column);
      const run::kernel_resources takes = run::resources_of_cubin({code.data(), code.size()});
      const uint32 percent = run::occupancy(takes, r.workgroup, *run::multiprocessor_of(architectures[a].column));
      check(takes.stack_bytes == 0, what + ": a stack or spills of " + std::to_string(takes.stack_bytes) + " bytes");
      if (r.is_dense) check(percent >= 50, what + ": only " + std::to_string(percent) + " % of the warps fit");
      r.cells += " | " + std::to_string(takes.registers) + ", " + std::to_string(takes.shared_bytes) + ", " +
                 std::to_string(takes.stack_bytes) + ", " + std::to_string(percent) + " %";
    } catch (const error& e) {
      check(false, what + ": " + e.what());
    }
  }
}

std::string content(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The number before `words` in what a compiler printed; 0 where it is not there.
int64 number_before(const std::string& said, const std::string& words) {
  size_t at = said.find(words);
  if (at == std::string::npos) return 0;
  while (at > 0 && said[at - 1] >= '0' && said[at - 1] <= '9') --at;
  return std::atoll(said.c_str() + at);
}

/// What ptxas says of the CUBINs that it makes is what is read from them.
int compare_with_ptxas(const std::vector<table_row>& rows) {
  if (std::system("command -v nvcc >/dev/null 2>&1") != 0) {
    std::cout << "[SKIP] resources by ptxas: nvcc is not on PATH\n";
    return 1;
  }
  char folder[] = "/tmp/poot_resources_XXXXXX";
  if (!::mkdtemp(folder)) return check(false, "no folder can be made in /tmp"), 0;
  const std::string path = std::string(folder) + "/kernel";
  for (size_t i = 0; i < rows.size(); i += 8)
    for (size_t a = 0; a < std::size(architectures); ++a) {
      const std::string what = rows[i].name + " for " + architectures[a].column + " by ptxas";
      std::ofstream(path + ".cu") << rows[i].texts[a];
      const std::string command = std::string("nvcc -cubin --fmad=false -Xptxas -v -arch=") + architectures[a].column + " -o " + path +
                                  ".cubin " + path + ".cu >" + path + ".log 2>&1";
      if (std::system(command.c_str()) != 0) {
        check(false, what + ": " + content(path + ".log"));
        continue;
      }
      const std::string code = content(path + ".cubin"), said = content(path + ".log");
      const run::kernel_resources takes = run::resources_of_cubin({reinterpret_cast<const uint8*>(code.data()), code.size()});
      check(takes.registers == number_before(said, " registers") && takes.stack_bytes == number_before(said, " bytes stack frame") &&
                takes.shared_bytes == number_before(said, " bytes smem"), what + ": " + said);
    }
  return std::system(("rm -rf " + std::string(folder)).c_str()), 0;
}

std::string table_of(const std::vector<table_row>& rows, std::string_view compiler) {
  std::string table = "By " + std::string(compiler.substr(0, compiler.find(';'))) + "; registers, shared bytes, stack bytes, occupancy:\n\n| kernel | invocations";
  for (const architecture_of_table& a : architectures) table += std::string(" | ") + a.column;
  table += " |\n|---|---";
  for ([[maybe_unused]] const architecture_of_table& a : architectures) table += "|---";
  table += "|\n";
  for (const table_row& r : rows) table += "| " + r.name + " | " + std::to_string(r.workgroup) + r.cells + " |\n";
  return table;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "kernel_resources PAGE [--write]\n";
    return 2;
  }
  std::optional<run::nvrtc> compiler;
  try {
    compiler.emplace();
  } catch (const error& e) {
    std::cout << "[SKIP] " << e.what() << "\n0 passed, 0 failed, 1 skipped\n";
    return 0;
  }
  std::vector<table_row> rows = rows_of_programs();
  for (table_row& r : rows) measure(r, *compiler);
  const std::string table = table_of(rows, compiler->identity());
  std::cout << table;

  std::string page = content(argv[1]);
  const std::string from = "<!-- resources -->\n", to = "<!-- end -->\n";
  const size_t first = page.find(from), last = first == std::string::npos ? first : page.find(to, first);
  int skipped = compare_with_ptxas(rows);
  if (last == std::string::npos) {
    check(false, std::string(argv[1]) + " has no place for the table");
  } else {
    const std::string kept = page.substr(first + from.size(), last - first - from.size());
    if (argc > 2) {
      page.replace(first + from.size(), last - first - from.size(), table);
      std::ofstream(argv[1]) << page;
    } else if (kept.substr(0, kept.find('\n')) != table.substr(0, table.find('\n'))) {
      std::cout << "[SKIP] the table of " << argv[1] << " is another compiler's\n";
      ++skipped;
    } else {
      check(kept == table, std::string(argv[1]) + " holds another table; --write renews it");
    }
  }
  std::cout << passed << " passed, " << failed << " failed, " << skipped << " skipped\n";
  return failed ? 1 : 0;
}
