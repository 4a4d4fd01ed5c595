/// The case runner. The form of case files is described in docs/cases.md.

#include "case.hpp"
#include "case_form.hpp"
#include "values.hpp"

#include <poot/io/gguf.hpp>
#include <poot/io/safetensors.hpp>
#include <poot/ir/parse.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace poot::tool {

namespace {

using nlohmann::json;

/// A case that did not hold; `what` says why in one sentence.
struct broken {
  std::string what;
};

std::vector<std::string> texts_of(const json& error) {
  if (error.is_string()) return {error.get<std::string>()};
  return error.get<std::vector<std::string>>();
}

void check_refusal(const json& c, const std::string& message) {
  for (const std::string& part : texts_of(c["error"]))
    if (message.find(part) == std::string::npos) throw broken{"the refusal does not name \"" + part + "\": " + message};
}

/// Runs `steps`, which may refuse by throwing `error`; holds the case's `error` against what happens.
template <class Steps>
void expect_values_or_refusal(const json& c, Steps steps) {
  const bool may_refuse = c.contains("error");
  try {
    steps();
  } catch (const error& e) {
    if (!may_refuse) throw broken{std::string("was refused: ") + e.what()};
    return check_refusal(c, e.what());
  }
  if (may_refuse && !expects_values(c))
    throw broken{"was accepted, and must be refused, naming \"" + texts_of(c["error"])[0] + "\""};
}

void compare_all(const json& expect, const ir::interpretation& got) {
  for (const auto& [name, spec] : expect.items()) {
    const ir::tensor* value = ir::find(got.outputs, name);
    if (!value) value = ir::find(got.states, name);
    if (!value) throw broken{"there is no output or state \"" + name + "\""};
    const std::string difference = compare(spec, *value, name);
    if (!difference.empty()) throw broken{difference};
  }
}

/// A run's inputs, kept as long as their names are looked at.
struct inputs {
  std::vector<std::string> names;
  vec<ir::named_tensor> values;
  explicit inputs(const json& specs) {
    for (const auto& item : specs.items()) names.push_back(item.key());
    for (const std::string& name : names) values.push_back({name, read_tensor(specs[name], name)});
  }
};

std::vector<json> runs_of(const json& c) {
  if (c.contains("runs")) return c["runs"].get<std::vector<json>>();
  return c.contains("inputs") || c.contains("expect") ? std::vector<json>{c} : std::vector<json>{};
}

/// Reads every tensor, so that one that is written wrong is not taken for a refusal of the graph.
void check_tensors(const json& c, const std::string& file) {
  try {
    for (const json& run : runs_of(c)) {
      inputs(run.value("inputs", json::object()));
      const json expect = run.value("expect", json::object());
      for (const auto& [name, spec] : expect.items()) (void)read_expected(spec, name);
    }
  } catch (const error& e) {
    throw broken{file + ": " + e.what()};
  }
}

/// The recognition that would make one dispatch of a chain, where the device has no kernel for it; empty if there is none.
std::string missing_recognition(const std::vector<std::string>& declines) {
  for (const std::string& d : declines)
    if (d.starts_with("no_kernel")) return "recognition of a chain";
  return "";
}

/// What a plan check could not hold a case to, for want of a capability; empty if it was held to everything.
std::string check_plan(const json& plan, const ir::graph& g, const executor& on, const loaded_graph& loaded,
                       const std::vector<json>& runs, const std::vector<ir::interpretation>& fused) {
  std::string note;
  const int64 launches = *loaded.dispatch_count();
  if (plan.contains("dispatches_at_most") && launches > plan["dispatches_at_most"].get<int64>()) {
    const std::string counts = std::to_string(launches) + " dispatches, and at most " +
                               std::to_string(plan["dispatches_at_most"].get<int64>()) + " are allowed";
    const std::string missing = missing_recognition(loaded.declines());
    if (missing.empty()) throw broken{"takes " + counts};
    note = "(values hold; takes " + counts + ": " + missing + " is not available yet)";
  }
  if (plan.contains("decline")) {
    const std::vector<std::string> all = loaded.declines();
    const std::string part = plan["decline"].get<std::string>();
    if (std::none_of(all.begin(), all.end(), [&](const std::string& d) { return d.find(part) != std::string::npos; }))
      throw broken{"no decline names \"" + part + "\""};
  }
  if (!plan.value("same_bits_fused_and_unfused", false)) return note;
  const std::unique_ptr<loaded_graph> unfused = on.load(g, fusion::off);
  for (size_t i = 0; i < runs.size(); ++i) {
    const inputs given(runs[i].value("inputs", json::object()));
    const ir::interpretation apart = unfused->run(given.values);
    for (auto part : {&ir::interpretation::outputs, &ir::interpretation::states})
      for (const ir::named_tensor& want : apart.*part) {
        const ir::tensor* got = ir::find(fused[i].*part, want.name);
        const std::string difference = got ? compare_bits(want.value, *got, std::string(want.name)) : "is not there";
        if (!difference.empty()) throw broken{"fused and unfused differ: " + difference};
      }
  }
  return note;
}

/// A case says what one rank gets.
void refuse_collectives(const ir::graph& g) {
  for (uint32 id = 0; id < g.size(); ++id)
    if (ir::is_collective(g.eqns[id].kind))
      throw missing_capability{"%" + std::to_string(id) + " (" + std::string(ir::name(g.eqns[id].kind)) +
                               ") exchanges values of several ranks, and a case holds those of one"};
}

/// Returns whether the plan, if the case has one, was checked; `note` gets what it could not be held to.
bool run_on(const json& c, const executor& on, std::string& note) {
  bool plan_checked = false;
  const std::vector<json> runs = runs_of(c);
  expect_values_or_refusal(c, [&] {
    const ir::graph g = ir::parse(c["graph"].get<std::string>());
    refuse_collectives(g);
    const std::unique_ptr<loaded_graph> loaded = on.load(g, fusion::on);
    std::vector<ir::interpretation> results;
    for (const json& run : runs) {
      const inputs given(run.value("inputs", json::object()));
      results.push_back(loaded->run(given.values));
      compare_all(run.value("expect", json::object()), results.back());
    }
    plan_checked = c.contains("plan") && loaded->dispatch_count().has_value();
    if (plan_checked) note = check_plan(c["plan"], g, on, *loaded, runs, results);
  });
  return plan_checked;
}

std::vector<uint8> from_hex(const std::string& hex) {
  std::vector<uint8> bytes(hex.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

/// The words of a tensor of a file, whose bytes are little-endian.
ir::tensor words_of(const io::file_tensor& t) {
  ir::tensor r(t.type);
  const size_t width = is_packed(t.type.element) ? 1 : row(t.type.element).block_bytes;
  for (size_t i = 0; i < r.bits.size(); ++i)
    for (size_t b = 0; b < width; ++b) r.bits[i] |= uint64{t.data[i * width + b]} << (8 * b);
  return r;
}

void run_file_case(const json& c) {
  const std::vector<uint8> bytes = from_hex(c["file"]["hex"].get<std::string>());
  const std::string format = c["file"]["format"].get<std::string>();
  const json expect = c.value("expect", json::object());
  expect_values_or_refusal(c, [&] {
    const view<uint8> all{bytes.data(), bytes.size()};
    auto compare_with = [&](const auto& file) {
      for (const auto& [name, spec] : expect.items()) {
        const std::string difference = compare(spec, words_of(file.tensor(name)), name);
        if (!difference.empty()) throw broken{difference};
      }
    };
    if (format == "gguf") compare_with(io::gguf::parse(all, "case." + format));
    else compare_with(io::safetensors::parse(all, "case." + format));
  });
}

std::vector<std::string> case_files(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!fs::exists(path)) fail(text{} << path << ": cannot open: No such file or directory");
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    const size_t first = files.size();
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      const std::string name = entry.path().string();
      if (name.size() > 10 && name.compare(name.size() - 10, 10, ".case.json") == 0) files.push_back(name);
    }
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end());
  }
  return files;
}

}  // namespace

case_report run_case(const std::string& path, const std::vector<std::unique_ptr<executor>>& on) {
  case_report report;
  report.name = std::filesystem::path(path).filename().string();
  std::string where;
  try {
    std::ifstream stream(path);
    if (!stream) throw broken{"cannot be opened"};
    const json c = read_case(stream, report.name);
    check_tensors(c, report.name);
    report.name = c.value("name", report.name);
    if (c.contains("file")) return run_file_case(c), report;
    std::string without;
    size_t ran = 0;
    bool plan_checked = false;
    for (const std::unique_ptr<executor>& e : on) {
      where = e->name() + ": ";
      try {
        plan_checked = run_on(c, *e, report.note) || plan_checked;
        ++ran;
      } catch (const missing_capability& m) {
        without = where + m.what;
      }
    }
    if (ran == 0) {
      report.outcome = verdict::skip;
      report.why = without;
    } else if (c.contains("plan") && !plan_checked) {
      const bool nothing_else = !expects_values(c) && !c.contains("error");
      report.outcome = nothing_else ? verdict::skip : verdict::pass;
      (nothing_else ? report.why : report.note) = "(plan not checked: no executor here plans)";
    }
  } catch (const broken& b) {
    report.outcome = verdict::fail;
    report.why = where + b.what;
  } catch (const std::exception& e) {  // malformed JSON, or a value of the wrong kind
    report.outcome = verdict::fail;
    report.why = where + e.what();
  }
  return report;
}

int run_cases(const std::vector<std::string>& paths, const std::string& device) {
  const std::vector<std::unique_ptr<executor>> on = executors(device);
  int count[3] = {0, 0, 0};
  for (const std::string& path : case_files(paths)) {
    const case_report r = run_case(path, on);
    const char* const words[] = {"PASS", "FAIL", "SKIP"};
    std::FILE* const to = r.outcome == verdict::fail ? stderr : stdout;
    if (to == stderr) std::fflush(stdout);  // in the order of the cases, where both end in one place
    std::fprintf(to, "%s %s%s%s%s%s\n", words[static_cast<int>(r.outcome)], r.name.c_str(), r.why.empty() ? "" : " ",
                r.why.c_str(), r.note.empty() ? "" : " ", r.note.c_str());
    ++count[static_cast<int>(r.outcome)];
  }
  std::printf("%d passed, %d failed, %d skipped\n", count[0], count[1], count[2]);
  return count[1] != 0 || count[0] + count[2] == 0;
}

}  // namespace poot::tool
