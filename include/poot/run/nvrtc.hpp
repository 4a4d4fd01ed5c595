#pragma once
/// CUDA text to a CUBIN by NVRTC, without a GPU or its driver.
///
///     const run::nvrtc compiler;
///     const std::vector<uint8> code = compiler.compile("softmax", source, "sm_90a");

#include <poot/run/library.hpp>
#include <poot/run/rejection.hpp>

#include <string>
#include <vector>

namespace poot::run {

class nvrtc {
 public:
  /// Opens the library that POOT_NVRTC_LIBRARY names, or the one of a toolkit. Throws `error` where there is none.
  nvrtc() {
    int major = 0, minor = 0;
    if (version_(&major, &minor) != 0) fail(text{} << "nvrtc: " << library_.name() << " does not tell its version");
    identity_ << "nvrtc " << major << '.' << minor << "; " << option;
  }

  /// What compiles, in which version and how: part of the key under which its output is kept.
  std::string_view identity() const { return identity_.str(); }

  /// The CUBIN of a kernel for an architecture as `target::arch` spells it. Any number of threads may compile at once.
  /// Throws `error` with the compiler's log and the lines that it is about.
  std::vector<uint8> compile(std::string_view name, std::string_view source, std::string_view arch) const {
    const std::string source_copy(source), arch_option = "--gpu-architecture=" + std::string(arch);
    const char* const given[] = {arch_option.c_str(), option};
    program made{*this};
    size_t size = 0;
    if (create_(&made.handle, source_copy.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0 ||
        compile_(made.handle, 2, given) != 0 || code_size_(made.handle, &size) != 0 || size == 0)
      fail(describe_rejection((text{} << "nvrtc for " << arch).str(), name, log(made.handle), source));
    std::vector<uint8> code(size);
    if (code_(made.handle, reinterpret_cast<char*>(code.data())) != 0)
      fail(text{} << "nvrtc: the code of kernel \"" << name << "\" cannot be read");
    return code;
  }

 private:
  static constexpr const char* option = "--fmad=false";

  using handle = void*;
  struct program {
    const nvrtc& by;
    nvrtc::handle handle = nullptr;
    ~program() {
      if (handle) by.destroy_(&handle);
    }
  };

  std::string log(handle p) const {
    size_t size = 0;
    if (!p || log_size_(p, &size) != 0) return {};
    std::string out(size, '\0');
    return log_(p, out.data()) == 0 ? out : std::string();
  }

  library library_{"nvrtc", "POOT_NVRTC_LIBRARY", {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"}};
  int (*version_)(int*, int*) = library_.function<int(int*, int*)>("nvrtcVersion");
  int (*create_)(handle*, const char*, const char*, int, const char* const*, const char* const*) =
      library_.function<int(handle*, const char*, const char*, int, const char* const*, const char* const*)>("nvrtcCreateProgram");
  int (*compile_)(handle, int, const char* const*) = library_.function<int(handle, int, const char* const*)>("nvrtcCompileProgram");
  int (*code_size_)(handle, size_t*) = library_.function<int(handle, size_t*)>("nvrtcGetCUBINSize");
  int (*code_)(handle, char*) = library_.function<int(handle, char*)>("nvrtcGetCUBIN");
  int (*log_size_)(handle, size_t*) = library_.function<int(handle, size_t*)>("nvrtcGetProgramLogSize");
  int (*log_)(handle, char*) = library_.function<int(handle, char*)>("nvrtcGetProgramLog");
  int (*destroy_)(handle*) = library_.function<int(handle*)>("nvrtcDestroyProgram");
  text identity_;
};

}  // namespace poot::run
