/// The parts of ops.md and walk.md that the library prints itself: checks that a page holds them as they are now, or writes
/// them into it with --write.

#include <poot/plan/explain.hpp>
#include <poot/plan/print.hpp>
#include <poot/poot.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace poot::literals;

namespace {

constexpr auto rms_norm = [](auto x, auto gain) {
  return x * poot::rsqrt(poot::mean(x * x) + 1e-5_f) * poot::cast<poot::f32>(gain);
};
constexpr auto x = poot::input<"x", poot::f32, 8, 4096>;
constexpr auto gain = poot::weight<"gain", poot::bf16, 4096>;
constexpr auto y = poot::output<"y">(poot::block(rms_norm, x, gain));

std::string fenced(const poot::text& t) {
  std::string s(t.str());
  while (!s.empty() && s.back() == '\n') s.pop_back();
  return "```\n" + s + "\n```\n";
}

std::string operands_of(int arity) { return arity < 0 ? "one or more" : std::to_string(arity); }

std::string elements_of(poot::uint8 set) {
  namespace d = poot::ir::dtypes;
  std::string s;
  const auto add = [&](bool holds, const char* what) {
    if (holds) s += (s.empty() ? "" : ", ") + std::string(what);
  };
  add(set & d::floats, "floats");
  add(set & d::integers, "integers");
  add(set & d::words, "i32, u32");
  add(set & d::booleans, "bool");
  add(set & d::packed, "packed");
  return s;
}

/// A table per class of ops.
std::vector<std::string> op_tables() {
  std::vector<std::string> parts;
  for (int kind = 0; kind <= static_cast<int>(poot::ir::op_class::chain); ++kind) {
    std::string table = "| op | operands | element types of the first | flops |\n|---|---|---|---|\n";
    for (const poot::ir::op_row& row : poot::ir::op_table)
      if (static_cast<int>(row.kind) == kind)
        table += "| `" + std::string(row.name) + "` | " + operands_of(row.arity) + " | " + elements_of(row.accepts) + " | " +
                 std::to_string(row.flops) + " |\n";
    parts.push_back(table);
  }
  return parts;
}

std::vector<std::string> walk() {
  const poot::ir::graph_view traced = poot::frozen<y>.view();
  const poot::plan::program fused = poot::plan::compile(traced, poot::targets::host);
  return {fenced(poot::ir::print(traced)), fenced(poot::ir::print(fused.graph)), fenced(poot::plan::print(fused)),
          fenced(poot::plan::explain(fused))};
}

/// `page` with each part between its two markers.
std::string filled(std::string page, const std::vector<std::string>& parts) {
  size_t at = 0;
  for (const std::string& part : parts) {
    const std::string from = "<!-- generated -->\n", to = "<!-- end -->\n";
    const size_t first = page.find(from, at);
    const size_t last = first == std::string::npos ? first : page.find(to, first);
    if (last == std::string::npos) return "there is no place for\n" + part;
    page.replace(first + from.size(), last - first - from.size(), part);
    at = first + from.size() + part.size();
  }
  return page;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "";
  if ((which != "ops" && which != "walk") || argc < 3) {
    std::fprintf(stderr, "usage: docs_generated ops|walk PAGE [--write]\n");
    return 2;
  }
  std::ifstream in(argv[2]);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const std::string wanted = filled(page, which == "ops" ? op_tables() : walk());
  if (page == wanted) return 0;
  if (argc > 3) {
    std::ofstream(argv[2]) << wanted;
    return 0;
  }
  std::printf("%s is not what the library prints now: run docs_generated %s %s --write, and read it again\n", argv[2], which.c_str(), argv[2]);
  return 1;
}
