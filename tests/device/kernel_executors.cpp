#include "../support/command.hpp"
#include "../support/cpp_text.hpp"
#include "kernel_machine.hpp"

#include <map>
#include <thread>

namespace poot_tests {

namespace {

/// `t` with a grid of few workgroups: what has more runs in chunks.
target in_chunks(target t) {
  t.caps.max_groups_x = 3;
  t.caps.max_groups_y = 2;
  return t;
}

class kernel_interpreter final : public executor {
 public:
  kernel_interpreter(std::string like, const target& t) : like_(std::move(like)), target_(t) {}
  std::string name() const override { return "kernel interpreter as " + like_; }
  target where() const override { return target_; }
  std::unique_ptr<machine> load(plan::program p) override { return std::make_unique<kernel_machine>(std::move(p)); }

 private:
  std::string like_;
  target target_;
};

/// Compiles kernels in groups, one library a group.
class compiled_text final : public executor {
 public:
  compiled_text(std::string compiler, const target& t) : command_(std::move(compiler) + " -O1 -w"), target_(t) {}
  std::string name() const override { return "C++ text by " + command_; }
  target where() const override { return target_; }
  size_t one_long_kernel_in() const override { return 8; }

  void prepare(const std::vector<plan::program>& coming) override {
    std::vector<std::string> missing;
    for (const plan::program& p : coming)
      if (p.refused.empty())
        for (const auto* list : {&p.prologue, &p.launches})
          for (const plan::launch& l : *list)
            if (std::string body = body_of(kernel::generate(p, l)); !kernels_.count(body)) {
              kernels_[body] = nullptr;
              missing.push_back(std::move(body));
            }
    const size_t groups = (missing.size() + group_size - 1) / group_size, first = libraries_.size();
    libraries_.resize(first + groups);
    std::vector<std::string> errors(groups);
    std::vector<std::thread> workers;
    for (size_t worker = 0; worker < 2; ++worker)
      workers.emplace_back([&, worker] {
        for (size_t g = worker; g < groups; g += 2) try {
            libraries_[first + g] = compile(missing, g, first + g);
          } catch (const std::exception& e) {
            errors[g] = e.what();
          }
      });
    for (std::thread& w : workers) w.join();
    for (const std::string& e : errors)
      if (!e.empty()) throw error(e);
    for (size_t i = 0; i < missing.size(); ++i) kernels_[missing[i]] = (*libraries_[first + i / group_size])[entry(i)];
  }

  std::unique_ptr<machine> load(plan::program p) override {
    prepare({p});
    return std::make_unique<kernel_machine>(std::move(p), [this](const kernel::kernel& k) {
      workgroup::entry* const compiled = kernels_.at(body_of(k));
      return [k, compiled](view<kernel::words> buffers, view<uint32> metadata, uint32 groups) {
        run_compiled(compiled, k, buffers, metadata, groups);
      };
    });
  }

 private:
  static constexpr size_t group_size = 32;
  static constexpr std::string_view placeholder = "poot_kernel(";
  static std::string entry(size_t i) { return "poot_kernel_" + std::to_string(i); }

  /// The text of a kernel without its prelude.
  static std::string body_of(const kernel::kernel& k) {
    const text written = emit::write(k, emit::dialect::cpp, {.comments = false});
    if (!written.str().starts_with(emit::cpp_prelude)) fail("the C++ text of a kernel does not begin with its prelude");
    return std::string(written.str().substr(emit::cpp_prelude.size()));
  }
  std::unique_ptr<cpp_library> compile(const std::vector<std::string>& bodies, size_t group, size_t number) const {
    std::string source(emit::cpp_prelude);
    for (size_t i = group * group_size; i < bodies.size() && i < (group + 1) * group_size; ++i) {
      std::string body = bodies[i];
      body.replace(body.find(placeholder), placeholder.size(), entry(i) + "(");
      source += "namespace group_" + std::to_string(i) + " {\n" + body + "}\n";
    }
    return std::make_unique<cpp_library>(source, command_, (folder_.path / std::to_string(number)).string());
  }

  scratch_folder folder_;
  std::string command_;
  target target_;
  std::vector<std::unique_ptr<cpp_library>> libraries_;
  std::map<std::string, workgroup::entry*> kernels_;  ///< by text
};

}  // namespace

executors kernel_interpreters() {
  executors all;
  all.push_back(std::make_unique<kernel_interpreter>("cuda_sm80", targets::cuda_sm80));
  all.push_back(std::make_unique<kernel_interpreter>("vulkan_lavapipe, in chunks", in_chunks(targets::vulkan_lavapipe)));
  all.push_back(std::make_unique<kernel_interpreter>("vulkan_swiftshader", targets::vulkan_swiftshader));
  return all;
}

executors compiled_texts(std::string& why_not) {
  executors all;
  for (const char* compiler : {"g++", "clang++-19", "clang++", "c++"})
    if (all.empty() && is_at_hand(compiler)) all.push_back(std::make_unique<compiled_text>(compiler, in_chunks(targets::cuda_sm80)));
  if (all.empty()) why_not = "none of g++, clang++-19, clang++ and c++ is on PATH";
  return all;
}

}  // namespace poot_tests
