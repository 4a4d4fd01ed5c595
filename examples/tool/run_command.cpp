/// `poot run FILE.poot --in x=x.npy --out y=y.npy`

#include "commands.hpp"
#include "device.hpp"
#include "model_file.hpp"
#include "options.hpp"

#include <poot/io/npy.hpp>

#include <chrono>
#include <cstdio>

namespace poot::tool {

namespace {

struct run_arguments {
  std::string file, device = "host";
  std::vector<std::string> in, out;
  int threads = 0;
  bool unfused = false;
};

/// `x=x.npy`
struct named_file {
  std::string name, path;
};

std::vector<named_file> split(const std::vector<std::string>& all, std::string_view option) {
  std::vector<named_file> files;
  for (const std::string& s : all) {
    const size_t sign = s.find('=');
    if (sign == s.npos || sign == 0 || sign + 1 == s.size())
      fail(text{} << option << ' ' << s << ": must be NAME=FILE.npy");
    for (const named_file& f : files)
      if (f.name == s.substr(0, sign)) fail(text{} << option << ' ' << s << ": \"" << f.name << "\" is given twice");
    files.push_back({s.substr(0, sign), s.substr(sign + 1)});
  }
  return files;
}

/// Refuses names that the program does not have, and inputs and weights without a file; a state may start at zero.
void check_names(const std::string& file, const ir::graph_view& g, const std::vector<named_file>& in,
                 const std::vector<named_file>& out) {
  for (const named_file& f : in)
    if (g.find_leaf(f.name) == g.size())
      fail(text{} << "--in " << f.name << ": " << file << " has no input, weight or state of this name");
  for (const named_file& f : out) {
    const ir::graph_output* found = nullptr;
    for (const ir::graph_output& o : g.outputs)
      if (g.chars(o.name) == f.name) found = &o;
    if (!found) fail(text{} << "--out " << f.name << ": " << file << " has no result of this name");
    io::npy_prefix(type_of(g.type(found->value).element), f.path);  // refuses types that no npy file has
  }
  for (uint32 id = 0; id < g.size(); ++id) {
    if (!ir::is_named_leaf(g[id].kind) || g[id].kind == ir::op::state) continue;
    bool given = false;
    for (const named_file& f : in) given = given || f.name == g.name_of(id);
    if (given) continue;
    text message = text{} << file << ": " << ir::name(g[id].kind) << " \"" << g.name_of(id) << "\", ";
    ir::write_type(message, g.type(id), g);
    fail(message << ", needs a value: --in " << g.name_of(id) << "=FILE.npy");
  }
}

/// Refuses a result in the place of the model, of an array that is read, or of another result; a state's new value may
/// replace the old one.
void check_files(const std::string& file, const ir::graph_view& g, const std::vector<named_file>& in, const std::vector<named_file>& out) {
  const auto refuse = [](const named_file& o, const text& why) { fail(text{} << "--out " << o.name << '=' << o.path << ": is the file of " << why); };
  for (const named_file& o : out) {
    if (same_file(o.path, file)) refuse(o, "the model");
    for (const named_file& i : in)
      if (same_file(o.path, i.path) && !(i.name == o.name && g[g.find_leaf(i.name)].kind == ir::op::state))
        refuse(o, text{} << "--in " << i.name << " as well");
    for (const named_file& other : out) {
      if (&other == &o) break;
      if (same_file(o.path, other.path)) refuse(o, text{} << "--out " << other.name << " as well");
    }
  }
}

/// Arrays of files, and copies of those that a program writes or that are not aligned.
class arrays {
 public:
  run::buffer open(const std::string& path, bool written) {
    files_.push_back(io::npy::open(path));
    const io::npy& file = files_.back();
    const view<uint8> bytes = file.bytes();
    if (!written && reinterpret_cast<uintptr_t>(bytes.data()) % 8 == 0) return {const_cast<uint8*>(bytes.data()), file.type()};
    copies_.emplace_back(bytes.size() / 8 + 1);
    if (!bytes.empty()) std::memcpy(copies_.back().data(), bytes.data(), bytes.size());
    return {copies_.back().data(), file.type()};
  }

 private:
  std::vector<io::npy> files_;
  std::vector<std::vector<uint64>> copies_;
};

/// Errors of `step` begin with the file.
template <class Step>
void naming(const std::string& file, Step step) {
  try {
    step();
  } catch (const error& e) {
    fail(text{} << file << ": " << e.what());
  } catch (const std::bad_alloc&) {
    fail(text{} << file << ": out of memory");
  }
}

int run_file(const run_arguments& a) {
  const std::vector<named_file> in = split(a.in, "--in"), out = split(a.out, "--out");
  const std::unique_ptr<device> on = open_device(a.device, a.threads);
  plan::program planned = read_program(a.file, on->target(), {.fuse = !a.unfused});
  check_names(a.file, planned.graph, in, out);
  check_files(a.file, planned.graph, in, out);
  naming(a.file, [&] { on->add_entry("main", std::move(planned)); });
  const plan::program_view& p = on->program("main");
  arrays given;
  for (const named_file& f : in) {
    const bool is_state = p.graph[p.graph.find_leaf(f.name)].kind == ir::op::state;
    const run::buffer b = given.open(f.path, is_state);
    naming(f.path, [&] { on->bind("main", f.name, b); });
  }
  std::fprintf(stderr, "running %s: %zu dispatches, %s, %s\n", a.file.c_str(), p.dispatch_count(), on->description().c_str(),
               a.unfused ? "unfused" : "fused");
  const auto start = std::chrono::steady_clock::now();
  naming(a.file, [&] { on->run("main"); });
  std::fprintf(stderr, "ran in %.3f ms\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() * 1e3);
  for (const named_file& f : out) {
    const run::buffer b = on->result("main", f.name);
    io::write_npy(f.path, b.type, {static_cast<const uint8*>(b.data), static_cast<size_t>(b.type.bytes())});
    text type;
    ir::write_type(type, b.type);
    std::fprintf(stderr, "%s is %.*s in %s\n", f.name.c_str(), static_cast<int>(type.size()), type.str().data(), f.path.c_str());
  }
  return 0;
}

}  // namespace

void add_run_command(CLI::App& app, outcome& result) {
  CLI::App* command = app.add_subcommand("run", "Run a model once with arrays from .npy files");
  auto a = std::make_shared<run_arguments>();
  command->add_option("file", a->file, "Graph text (.poot), or the text of a program")->required()->check(file_name());
  command->add_option("--in", a->in, "NAME=FILE.npy for an input, a weight or a state (else zero); may be repeated");
  command->add_option("--out", a->out, "NAME=FILE.npy for a result or a state's new value; the file is replaced; may be repeated");
  add_device_option(*command, a->device);
  add_threads_option(*command, a->threads);
  command->add_flag("--unfused", a->unfused, "One dispatch per equation; the same bits");
  command->callback([a, &result] { result.status = run_file(*a); });
}

}  // namespace poot::tool
