#pragma once
/// The C++ dialect compiled and run on this CPU: an executor of kernels.

#include <poot/core/float_environment.hpp>
#include <poot/emit/write.hpp>
#include <poot/kernel/interpret.hpp>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <setjmp.h>
#include <ucontext.h>
#include <unistd.h>

namespace poot_tests {

/// Runs the invocations of a workgroup in turn: each on a stack of its own, from barrier to barrier, or where the kernel has
/// no barrier one after the other.
class workgroup {
 public:
  using entry = void(const void* at, poot::uint32* const* buffers, const poot::uint32* metadata);

  explicit workgroup(const poot::kernel::kernel& k) : shared_(static_cast<size_t>(k.shared_bytes()) / 4 + 1), invocations_(k.workgroup) {
    for (const poot::kernel::instruction& in : k.code) meets_ = meets_ || in.code == poot::kernel::opcode::barrier;
    if (!meets_) return;
    fibers_.resize(invocations_);
    stacks_ = std::make_unique_for_overwrite<char[]>(invocations_ * stack_bytes);
  }

  void run(entry* kernel, poot::uint32 group, std::vector<poot::uint32*>& buffers, const poot::uint32* metadata) {
    if (!meets_) {
      for (poot::uint32 lane = 0; lane < invocations_; ++lane) {
        const invocation at{group, lane, shared_.data(), nullptr, nullptr};
        kernel(&at, buffers.data(), metadata);
      }
      return;
    }
    kernel_ = kernel, buffers_ = buffers.data(), metadata_ = metadata, running() = this;
    for (poot::uint32 lane = 0; lane < fibers_.size(); ++lane) {
      fibers_[lane].at = {group, lane, shared_.data(), &wait, this};
      fibers_[lane].ended = false;
    }
    for (size_t ended = 0; ended == 0;) {
      for (now_ = 0; now_ < fibers_.size(); ++now_) {
        resume(fibers_[now_]);
        ended += fibers_[now_].ended;
      }
      if (ended != 0 && ended != fibers_.size()) throw std::runtime_error("a barrier is not reached by all");
    }
  }

 private:
  static constexpr size_t stack_bytes = 64 << 10;
  struct invocation {  // poot_invocation of the prelude
    poot::uint32 group, lane;
    void* shared;
    void (*wait)(void*);
    void* waiting;
  };
  struct fiber {
    bool started = false, ended = false;
    ::jmp_buf here{};  ///< where it waits
    invocation at{};
  };

  static workgroup*& running() {
    static thread_local workgroup* w;
    return w;
  }
  /// A fiber does one workgroup after the other. Only its first turn changes the signal mask, which is a call of the system.
  static void start() {
    for (;;) {
      workgroup& w = *running();
      fiber& f = w.fibers_[w.now_];
      w.kernel_(&f.at, w.buffers_, w.metadata_);
      f.ended = true;
      w.leave(f);
    }
  }
  static void wait(void* waiting) {
    workgroup& w = *static_cast<workgroup*>(waiting);
    w.leave(w.fibers_[w.now_]);
  }
  void leave(fiber& f) {
    if (::_setjmp(f.here) == 0) ::_longjmp(turn_, 1);
  }
  void resume(fiber& f) {
    if (::_setjmp(turn_) != 0) return;
    if (f.started) ::_longjmp(f.here, 1);
    f.started = true;
    ::ucontext_t context;
    ::getcontext(&context);
    context.uc_stack.ss_sp = stacks_.get() + static_cast<size_t>(&f - fibers_.data()) * stack_bytes;
    context.uc_stack.ss_size = stack_bytes;
    context.uc_link = nullptr;
    ::makecontext(&context, &start, 0);
    ::setcontext(&context);
  }

  std::vector<fiber> fibers_;
  std::unique_ptr<char[]> stacks_;
  std::vector<poot::uint32> shared_;
  poot::uint32 invocations_;
  bool meets_ = false;
  ::jmp_buf turn_{};
  size_t now_ = 0;
  entry* kernel_ = nullptr;
  poot::uint32* const* buffers_ = nullptr;
  const poot::uint32* metadata_ = nullptr;
};

/// C++ text that a compiler made a library of.
class cpp_library {
 public:
  /// `command` compiles: a compiler and its flags. `stem` is the path of the files that are made, without suffix. Throws
  /// std::runtime_error.
  cpp_library(std::string_view source, const std::string& command, const std::string& stem) {
    const std::string text_file = stem + ".cpp", library_file = stem + ".so";
    std::FILE* const f = std::fopen(text_file.c_str(), "wb");
    if (!f) throw std::runtime_error("cannot write " + text_file);
    std::fwrite(source.data(), 1, source.size(), f);
    std::fclose(f);
    ::unlink(library_file.c_str());
    if (std::system((command + " -shared -fPIC " + text_file + " -o " + library_file).c_str()) != 0)
      throw std::runtime_error(command + " does not compile " + text_file);
    if (!(handle_ = ::dlopen(library_file.c_str(), RTLD_NOW | RTLD_LOCAL))) throw std::runtime_error(::dlerror());
  }
  cpp_library(const cpp_library&) = delete;
  cpp_library& operator=(const cpp_library&) = delete;
  ~cpp_library() {
    if (handle_) ::dlclose(handle_);
  }

  /// The kernel called `name`. Throws std::runtime_error.
  workgroup::entry* operator[](const std::string& name) const {
    void* const found = ::dlsym(handle_, name.c_str());
    if (!found) throw std::runtime_error("the compiled text holds no " + name);
    return reinterpret_cast<workgroup::entry*>(found);
  }

 private:
  void* handle_ = nullptr;
};

/// Runs the compiled text of `k`, as kernel::interpret does `k`.
inline void run_compiled(workgroup::entry* compiled, const poot::kernel::kernel& k, poot::view<poot::kernel::words> buffers,
                         poot::view<poot::uint32> metadata, poot::uint32 groups) {
  const poot::float_environment environment;  // a library made with -Ofast has set the process to flush subnormals
  std::vector<poot::uint32*> pointers;
  for (const poot::kernel::words& w : buffers) pointers.push_back(w.data);
  workgroup w(k);
  for (poot::uint32 g = 0; g < groups; ++g) w.run(compiled, g, pointers, metadata.data());
}

}  // namespace poot_tests
