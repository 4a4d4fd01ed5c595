/// `poot text FILE --target T`

#include "commands.hpp"
#include "model_file.hpp"

#include <poot/emit/write.hpp>
#include <poot/kernel/generate.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>

namespace poot::tool {

namespace {

emit::dialect dialect_of(const target& where) {
  switch (where.kind) {
    case backend::cuda: return emit::dialect::cuda;
    case backend::hip: return emit::dialect::hip;
    case backend::vulkan: return emit::dialect::glsl;
    case backend::host: break;
  }
  return emit::dialect::cpp;
}

struct text_arguments {
  std::string file, target = "vulkan_lavapipe";
  bool unfused = false;
};

/// Each distinct kernel once, with the launches that share it.
int print_text(const text_arguments& a) {
  const target where = find_target(a.target);
  const plan::program planned = read_program(a.file, where, !a.unfused);
  const plan::program_view p = planned.view_of();
  if (!p.refused.empty())
    fail(text{} << a.file << ": %" << p.refused[0].equation << " cannot run on " << a.target << ": " << plan::explain(p.refused[0].missing));
  std::vector<text> written;
  const auto print = [&](const plan::launch& l, const char* when, size_t index) {
    text source = emit::write(kernel::generate(p, l), dialect_of(where));
    for (size_t i = 0; i < written.size(); ++i)
      if (written[i] == source) {
        std::printf("// %s %zu, %s: kernel %zu\n", when, index, std::string(fuse::name(l.kind)).c_str(), i);
        return;
      }
    std::printf("// %s %zu, %s: kernel %zu\n%.*s\n", when, index, std::string(fuse::name(l.kind)).c_str(), written.size(),
                static_cast<int>(source.size()), source.str().data());
    written.push_back(std::move(source));
  };
  for (size_t i = 0; i < p.prologue.size(); ++i) print(p.prologue[i], "prologue", i);
  for (size_t i = 0; i < p.launches.size(); ++i) print(p.launches[i], "launch", i);
  return 0;
}

}  // namespace

void add_text_command(CLI::App& app, outcome& result) {
  CLI::App* command = app.add_subcommand("text", "Print the kernels of a model as a target's compiler reads them");
  auto a = std::make_shared<text_arguments>();
  command->add_option("file", a->file, "Graph text (.poot), the text of a program, or a llama in a GGUF file")->required();
  command->add_option("--target", a->target, "cuda_… for CUDA, hip_… for HIP, vulkan_… for GLSL, host for C++")->capture_default_str();
  command->add_flag("--unfused", a->unfused, "One dispatch per equation");
  command->callback([a, &result] { result.status = print_text(*a); });
}

}  // namespace poot::tool
