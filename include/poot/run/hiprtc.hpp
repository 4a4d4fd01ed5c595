#pragma once
/// HIP text to a code object by hiprtc, without a GPU.
///
///     const run::hiprtc compiler;
///     const std::vector<uint8> code = compiler.compile("softmax", source, "gfx90a");
///
/// hiprtc 5.2 ends its process where it does not know an architecture well enough, so it runs in a child process.

#include <poot/run/library.hpp>
#include <poot/run/rejection.hpp>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace poot::run {

class hiprtc {
 public:
  /// Opens the library that POOT_HIPRTC_LIBRARY names, or ROCm's. Throws `error` where there is none.
  hiprtc() {
    int major = 0, minor = 0;
    if (version_(&major, &minor) != 0) fail(text{} << "hiprtc: " << library_.name() << " does not tell its version");
    identity_ << "hiprtc " << major << '.' << minor << " of " << library_.name() << "; " << option;
  }

  /// What compiles, in which version and how: part of the key under which its output is kept.
  std::string_view identity() const { return identity_.str(); }

  /// The code object of a kernel for an architecture as `target::arch` spells it. Any number of threads may compile at
  /// once. Throws `error` with the compiler's log and the lines that it is about, or saying that the compiler gave up.
  std::vector<uint8> compile(std::string_view name, std::string_view source, std::string_view arch) const {
    const std::string source_copy(source), arch_option = "--offload-arch=" + std::string(arch);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail(text{} << "hiprtc: no pipe can be made: " << std::strerror(errno));
    const ::pid_t child = ::fork();
    if (child == 0) compile_here(source_copy.c_str(), arch_option.c_str(), ends[1]);
    ::close(ends[1]);
    if (child < 0) {
      ::close(ends[0]);
      fail(text{} << "hiprtc: no process can be started: " << std::strerror(errno));
    }
    const std::vector<uint8> said = read_all(ends[0]);
    ::close(ends[0]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    const text compiler = text{} << "hiprtc for " << arch;
    if (!WIFEXITED(status))
      fail(text{} << compiler << ": the compiler gave up on kernel \"" << name << "\" (signal " << WTERMSIG(status) << ')');
    if (WEXITSTATUS(status) != made_code)
      fail(describe_rejection(compiler.str(), name, {reinterpret_cast<const char*>(said.data()), said.size()}, source));
    return said;
  }

 private:
  static constexpr const char* option = "-ffp-contract=off";
  static constexpr int made_code = 0, made_log = 1;
  using handle = void*;

  /// In the child: writes the code, or the log, to `out`.
  [[noreturn]] void compile_here(const char* source, const char* arch_option, int out) const {
    for (int fatal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE}) ::signal(fatal, SIG_DFL);  // no handler of the caller's
    if (const int nowhere = ::open("/dev/null", O_WRONLY); nowhere >= 0) ::dup2(nowhere, 2);  // where it prints its log too
    const char* given[] = {arch_option, option};
    handle program = nullptr;
    size_t size = 0;
    bool done = create_(&program, source, "kernel.hip", 0, nullptr, nullptr) == 0 && compile_(program, 2, given) == 0 &&
                code_size_(program, &size) == 0 && size != 0;
    if (!done && (!program || log_size_(program, &size) != 0)) ::_exit(made_log);
    std::string bytes(size, '\0');
    if ((done ? code_ : log_)(program, bytes.data()) != 0) ::_exit(made_log);
    for (size_t at = 0; at < bytes.size();) {
      const ::ssize_t n = ::write(out, bytes.data() + at, bytes.size() - at);
      if (n < 0 && errno != EINTR) ::_exit(made_log);
      if (n > 0) at += static_cast<size_t>(n);
    }
    ::_exit(done ? made_code : made_log);
  }
  static std::vector<uint8> read_all(int from) {
    std::vector<uint8> out;
    uint8 some[4096];
    for (;;) {
      const ::ssize_t n = ::read(from, some, sizeof some);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return out;
      out.insert(out.end(), some, some + n);
    }
  }

  library library_{"hiprtc", "POOT_HIPRTC_LIBRARY", {"libhiprtc.so", "libamdhip64.so.5", "libhiprtc.so.6", "/opt/rocm/lib/libhiprtc.so"}};
  int (*version_)(int*, int*) = library_.function<int(int*, int*)>("hiprtcVersion");
  int (*create_)(handle*, const char*, const char*, int, const char**, const char**) =
      library_.function<int(handle*, const char*, const char*, int, const char**, const char**)>("hiprtcCreateProgram");
  int (*compile_)(handle, int, const char**) = library_.function<int(handle, int, const char**)>("hiprtcCompileProgram");
  int (*code_size_)(handle, size_t*) = library_.function<int(handle, size_t*)>("hiprtcGetCodeSize");
  int (*code_)(handle, char*) = library_.function<int(handle, char*)>("hiprtcGetCode");
  int (*log_size_)(handle, size_t*) = library_.function<int(handle, size_t*)>("hiprtcGetProgramLogSize");
  int (*log_)(handle, char*) = library_.function<int(handle, char*)>("hiprtcGetProgramLog");
  text identity_;
};

}  // namespace poot::run
