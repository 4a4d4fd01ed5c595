#pragma once
/// From GLSL to SPIR-V, by whatever compiler is at hand:
///
///   1. the shaderc library that POOT_SHADERC_LIBRARY names, opened at run time;
///   2. the one that the program was linked with, by the CMake target poot::shaderc;
///   3. the program that POOT_GLSLC names, else glslc, as a child process.
///
/// Nothing of it is needed to compile or start a program.

#include <poot/run/library.hpp>
#include <poot/run/rejection.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace poot::run {

namespace detail {

// shaderc's C interface, as far as it is used. The linked functions are weak: null in a program without poot::shaderc.
#define POOT_SHADERC_FUNCTIONS(F)                                                                                    \
  F(compiler_initialize, void*, ())                                                                                  \
  F(compile_options_initialize, void*, ())                                                                           \
  F(compile_options_release, void, (void*))                                                                          \
  F(compile_options_set_target_env, void, (void*, int, uint32))                                                      \
  F(compile_into_spv, void*, (void*, const char*, size_t, int, const char*, const char*, void*))                     \
  F(result_get_compilation_status, int, (const void*))                                                               \
  F(result_get_error_message, const char*, (const void*))                                                            \
  F(result_get_length, size_t, (const void*))                                                                        \
  F(result_get_bytes, const char*, (const void*))                                                                    \
  F(result_release, void, (void*))                                                                                   \
  F(get_spv_version, void, (uint32*, uint32*))

namespace linked_shaderc {
#define POOT_DECLARE(NAME, RESULT, PARAMETERS) RESULT NAME PARAMETERS __asm__("shaderc_" #NAME) __attribute__((weak));
POOT_SHADERC_FUNCTIONS(POOT_DECLARE)
#undef POOT_DECLARE
const char* tools_version() __asm__("spvSoftwareVersionDetailsString") __attribute__((weak));
}  // namespace linked_shaderc

struct shaderc_functions {
#define POOT_MEMBER(NAME, RESULT, PARAMETERS) RESULT(*NAME) PARAMETERS = nullptr;
  POOT_SHADERC_FUNCTIONS(POOT_MEMBER)
#undef POOT_MEMBER
};

/// The path of the program `name` as a shell would find it; empty where there is none.
inline std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* const path = std::getenv("PATH");
  for (const char* at = path ? path : ""; *at;) {
    const char* const end = std::strchr(at, ':') ? std::strchr(at, ':') : at + std::strlen(at);
    const std::string candidate = std::string(at, end) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    at = *end ? end + 1 : end;
  }
  return "";
}

/// A file in memory: what a child process reads or writes.
class memory_file {
 public:
  memory_file() : id_(::memfd_create("poot", MFD_CLOEXEC)) {
    if (id_ < 0) fail(text{} << "shaderc: no file in memory could be made: " << std::strerror(errno));
  }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  ~memory_file() { ::close(id_); }

  int id() const { return id_; }
  void fill(std::string_view bytes) const {
    for (size_t done = 0; done < bytes.size();) {
      const ::ssize_t n = ::pwrite(id_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
      if (n < 0) fail(text{} << "shaderc: a file in memory could not be written: " << std::strerror(errno));
      done += static_cast<size_t>(n);
    }
  }
  std::string content() const {
    const off_t size = ::lseek(id_, 0, SEEK_END);
    std::string bytes(size > 0 ? static_cast<size_t>(size) : 0, 0);
    for (size_t done = 0; done < bytes.size();) {
      const ::ssize_t n = ::pread(id_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
      if (n <= 0) fail(text{} << "shaderc: a file in memory could not be read");
      done += static_cast<size_t>(n);
    }
    return bytes;
  }

 private:
  int id_;
};

}  // namespace detail

/// The compiler of a process. Any number of threads may compile with it at once.
class shaderc {
 public:
  /// The compiler at hand. Throws `error` where there is none, or the one that is named cannot be used.
  static shaderc find() {
    if (const char* library = std::getenv("POOT_SHADERC_LIBRARY"); library && *library) return open();
    if (detail::linked_shaderc::compiler_initialize) return linked();
    const char* const named = std::getenv("POOT_GLSLC");
    const std::string program = detail::find_program(named && *named ? named : "glslc");
    if (!program.empty()) return child(program);
    fail(text{} << "shaderc: no compiler from GLSL to SPIR-V was found: the program is not linked with poot::shaderc, "
                   "POOT_SHADERC_LIBRARY is not set, and there is no program "
                << (named && *named ? named : "glslc"));
  }

  /// The glslc at path `program`, run for each kernel.
  static shaderc child(const std::string& program) {
    shaderc c;
    c.program_ = program;
    c.identity_ = "shaderc: program " + file_identity(program) + "; for vulkan1.1";
    return c;
  }

  /// What compiles, in which version and for what: part of the key under which its output is kept.
  const std::string& identity() const { return identity_; }

  /// The SPIR-V of a compute shader. Throws `error` with the compiler's log, and the line that it is about.
  std::vector<uint32> compile(std::string_view name, std::string_view glsl) const {
    return program_.empty() ? compile_here(name, glsl) : compile_in_child(name, glsl);
  }

 private:
  // of shaderc.h
  static constexpr int environment_vulkan = 0, kind_compute = 2, status_success = 0;
  static constexpr uint32 vulkan_1_1 = 1u << 22 | 1u << 12;

  static shaderc open() {
    shaderc c;
    c.library_ = std::make_shared<library>("shaderc", "POOT_SHADERC_LIBRARY", std::initializer_list<const char*>{});
#define POOT_LOAD(NAME, RESULT, PARAMETERS) c.call_.NAME = c.library_->function<RESULT PARAMETERS>("shaderc_" #NAME);
    POOT_SHADERC_FUNCTIONS(POOT_LOAD)
#undef POOT_LOAD
    c.begin("library " + file_identity(std::string(c.library_->name())));
    return c;
  }
  static shaderc linked() {
    shaderc c;
#define POOT_TAKE(NAME, RESULT, PARAMETERS) c.call_.NAME = detail::linked_shaderc::NAME;
    POOT_SHADERC_FUNCTIONS(POOT_TAKE)
#undef POOT_TAKE
    c.begin(std::string("linked, ") + (detail::linked_shaderc::tools_version ? detail::linked_shaderc::tools_version() : ""));
    return c;
  }
  void begin(const std::string& from) {
    uint32 version = 0, revision = 0;
    call_.get_spv_version(&version, &revision);
    identity_ = "shaderc: " + from + ", SPIR-V " + std::to_string(version) + "." + std::to_string(revision) + "; for vulkan1.1";
  }

  /// A compiler object costs about 50 ms, a kernel then less than one: made when it is first needed, it lives as long as
  /// the process, and so does its library.
  void* compiler() const {
    struct running {
      std::shared_ptr<library> from;
      void* compiler = nullptr;
    };
    static std::mutex one_at_a_time;
    static auto& all = *new std::map<void* (*)(), running>;
    const std::lock_guard lock(one_at_a_time);
    running& r = all[call_.compiler_initialize];
    if (!r.compiler) r = {library_, call_.compiler_initialize()};
    if (!r.compiler) fail("shaderc: the compiler could not be started");
    return r.compiler;
  }

  std::vector<uint32> compile_here(std::string_view name, std::string_view glsl) const {
    void* const options = call_.compile_options_initialize();
    call_.compile_options_set_target_env(options, environment_vulkan, vulkan_1_1);
    void* const result = call_.compile_into_spv(compiler(), glsl.data(), glsl.size(), kind_compute, std::string(name).c_str(),
                                                "main", options);
    call_.compile_options_release(options);
    if (!result) fail(text{} << "shaderc: compiling kernel \"" << name << "\" ran out of memory");
    if (call_.result_get_compilation_status(result) != status_success) {
      const std::string log = call_.result_get_error_message(result);
      call_.result_release(result);
      fail(describe_rejection("shaderc", name, log, glsl));
    }
    std::vector<uint32> words(call_.result_get_length(result) / 4);
    std::memcpy(words.data(), call_.result_get_bytes(result), words.size() * 4);
    call_.result_release(result);
    return words;
  }

  std::vector<uint32> compile_in_child(std::string_view name, std::string_view glsl) const {
    const detail::memory_file in, out, log;
    in.fill(glsl);
    std::string arguments[] = {program_, "-fshader-stage=compute", "--target-env=vulkan1.1", "-O0", "-o", "-", "-"};
    char* argv[std::size(arguments) + 1] = {};
    for (size_t i = 0; i < std::size(arguments); ++i) argv[i] = arguments[i].data();
    ::posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, in.id(), 0);
    ::posix_spawn_file_actions_adddup2(&files, out.id(), 1);
    ::posix_spawn_file_actions_adddup2(&files, log.id(), 2);
    ::pid_t process = 0;
    const int failed = ::posix_spawn(&process, program_.c_str(), &files, nullptr, argv, environ);
    ::posix_spawn_file_actions_destroy(&files);
    if (failed) fail(text{} << "shaderc: " << program_ << " could not be started: " << std::strerror(failed));
    int status = 0;
    while (::waitpid(process, &status, 0) < 0)
      if (errno != EINTR) fail(text{} << "shaderc: " << program_ << " was lost: " << std::strerror(errno));
    if (status != 0) fail(describe_rejection("shaderc", name, log.content(), glsl));
    const std::string bytes = out.content();
    std::vector<uint32> words(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), words.size() * 4);
    return words;
  }

  std::shared_ptr<library> library_;  ///< null where the functions are linked
  detail::shaderc_functions call_;
  std::string program_, identity_;
};

#undef POOT_SHADERC_FUNCTIONS

}  // namespace poot::run
