/// `poot text FILE --target T [--resources]`

#include "commands.hpp"
#include "model_file.hpp"
#include "options.hpp"

#include <poot/emit/write.hpp>
#include <poot/kernel/generate.hpp>
#include <poot/run/hiprtc.hpp>
#include <poot/run/nvrtc.hpp>
#include <poot/run/occupancy.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>

namespace poot::tool {

namespace {

struct text_arguments {
  std::string file, target = "vulkan_lavapipe";
  bool unfused = false, resources = false, matrix_units = false;
  int64 split_keys = plan::options{}.split_keys;
};

/// Calls `each(launch, when, index)` for every launch, the prologue's first.
template <class Each>
void for_each_launch(const plan::program_view& p, Each each) {
  for (size_t i = 0; i < p.prologue.size(); ++i) each(p.prologue[i], "prologue", i);
  for (size_t i = 0; i < p.launches.size(); ++i) each(p.launches[i], "launch", i);
}

/// Compiles each distinct kernel, and says what it takes of the target's multiprocessors.
int print_resources(const plan::program_view& p, const target& where) {
  const std::string arch(where.arch.view());
  std::function<run::kernel_resources(std::string_view, std::string_view)> measure;
  if (where.kind == backend::cuda) {
    measure = [compiler = std::make_shared<run::nvrtc>(), arch](std::string_view name, std::string_view source) {
      const std::vector<uint8> code = compiler->compile(name, source, arch);
      return run::resources_of_cubin({code.data(), code.size()});
    };
  } else if (where.kind == backend::hip) {
    measure = [compiler = std::make_shared<run::hiprtc>(), arch](std::string_view name, std::string_view source) {
      const std::vector<uint8> code = compiler->compile(name, source, arch);
      return run::resources_of_code_object({code.data(), code.size()}, arch);
    };
  } else {
    fail("--resources: kernels of CUDA and HIP say what they take; others do not");
  }
  const run::multiprocessor* const limits = run::multiprocessor_of(arch);
  std::printf("%-24s %11s %9s %12s %11s %9s\n", "kernel", "invocations", "registers", "shared bytes", "stack bytes", "occupancy");
  std::vector<text> written;
  for_each_launch(p, [&](const plan::launch& l, const char* when, size_t index) {
    const kernel::kernel k = kernel::generate(p, l);
    text source = emit::write(k, emit::dialect_of(where.kind), {.comments = false});
    for (const text& known : written)
      if (known == source) return;
    const std::string name = std::string(when) + ' ' + std::to_string(index) + ", " + std::string(fuse::name(l.kind));
    const run::kernel_resources r = measure(name, source.str());
    std::printf("%-24s %11u %9u %12lld %11lld ", name.c_str(), k.workgroup, r.registers, static_cast<long long>(r.shared_bytes),
                static_cast<long long>(r.stack_bytes));
    if (limits) std::printf("%7u %%\n", run::occupancy(r, k.workgroup, *limits));
    else std::printf("%9s\n", "-");
    written.push_back(std::move(source));
  });
  return 0;
}

/// Each distinct kernel once, with the launches that share it.
int print_text(const text_arguments& a) {
  const target where = find_target(a.target);
  const plan::program planned = read_program(a.file, where, {.fuse = !a.unfused, .matrix_units = a.matrix_units, .split_keys = a.split_keys});
  const plan::program_view p = planned.view_of();
  if (!p.refused.empty())
    fail(text{} << a.file << ": %" << p.refused[0].equation << " cannot run on " << a.target << ": " << plan::explain(p.refused[0].missing));
  if (a.resources) return print_resources(p, where);
  std::vector<text> written;
  std::string out;  // nothing is printed of what is refused in the end
  for_each_launch(p, [&](const plan::launch& l, const char* when, size_t index) {
    if (l.kind == fuse::region_kind::collective)
      fail(text{} << a.file << ": %" << p(l.members)[0] << " (" << ir::name(p.graph[p(l.members)[0]].kind) << ") has no kernel: a communicator moves its values");
    text source = emit::write(kernel::generate(p, l), emit::dialect_of(where.kind), emit::options_of(where.caps));
    const size_t kernel = static_cast<size_t>(std::find(written.begin(), written.end(), source) - written.begin());
    out += std::string("// ") + when + ' ' + std::to_string(index) + ", " + std::string(fuse::name(l.kind)) + ": kernel " + std::to_string(kernel) + '\n';
    if (kernel < written.size()) return;
    (out += source.str()) += '\n';
    written.push_back(std::move(source));
  });
  std::fwrite(out.data(), 1, out.size(), stdout);
  return 0;
}

}  // namespace

void add_text_command(CLI::App& app, outcome& result) {
  CLI::App* command = app.add_subcommand("text", "Print the kernels of a model as a target's compiler reads them: CUDA, HIP, GLSL for Vulkan, C++ for the host");
  auto a = std::make_shared<text_arguments>();
  add_model_options(*command, a->file, "Graph text (.poot), the text of a program, or a decoder in a GGUF file", a->target);
  command->add_flag("--unfused", a->unfused, "One dispatch per equation");
  command->add_flag("--matrix-units", a->matrix_units, "Products by matrix units where the target has them, which change bits");
  add_split_keys_option(*command, a->split_keys);
  command->add_flag("--resources", a->resources, "Compile them, and print registers, shared memory, stack and occupancy");
  command->callback([a, &result] { result.status = print_text(*a); });
}

}  // namespace poot::tool
