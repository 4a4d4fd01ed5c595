#pragma once
/// A shared library that is looked for when it is needed, so that a program starts on a machine that lacks it.
///
///     const run::library rtc("nvrtc", "POOT_NVRTC_LIBRARY", {"libnvrtc.so.13", "libnvrtc.so.12"});
///     auto version = rtc.function<int(int*, int*)>("nvrtcVersion");

#include <poot/core/error.hpp>

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>

#include <dlfcn.h>
#include <sys/stat.h>

namespace poot::run {

/// "PATH, N bytes of TIME": another file under the same name is another compiler.
inline std::string file_identity(const std::string& path) {
  struct ::stat about;
  if (::stat(path.c_str(), &about) != 0) return path;
  return path + ", " + std::to_string(about.st_size) + " bytes of " + std::to_string(about.st_mtim.tv_sec) + '.' +
         std::to_string(about.st_mtim.tv_nsec);
}

class library {
 public:
  /// Opens the library that the environment variable `variable` names, and no other, or where it is not set the first of
  /// `names` that is found. `what` begins every sentence about it. Throws `error`.
  library(const char* what, const char* variable, std::initializer_list<const char*> names) : what_(what) {
    if (const char* const named = std::getenv(variable); named && *named) {
      if (!(handle_ = ::dlopen(named, RTLD_NOW | RTLD_LOCAL)))
        fail(text{} << what << ": the library that " << variable << " names cannot be opened: " << ::dlerror());
      name_ << named;
      return;
    }
    text tried;
    for (const char* name : names) {
      if ((handle_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL))) {
        name_ << name;
        return;
      }
      tried << (tried.empty() ? "" : ", ") << name;
    }
    fail(text{} << what << ": none of the libraries " << tried << " can be opened, and " << variable << " is not set");
  }
  library(library&& other) noexcept : what_(other.what_), name_(std::move(other.name_)), handle_(std::exchange(other.handle_, nullptr)) {}
  library& operator=(library&& other) noexcept {
    std::swap(what_, other.what_);
    std::swap(name_, other.name_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~library() {
    if (handle_) ::dlclose(handle_);
  }

  std::string_view name() const { return name_.str(); }

  /// The function called `symbol`. Throws `error`.
  template <class Signature>
  Signature* function(const char* symbol) const {
    void* const found = ::dlsym(handle_, symbol);
    if (!found) fail(text{} << what_ << ": " << name_ << " has no function " << symbol);
    return reinterpret_cast<Signature*>(found);
  }

 private:
  const char* what_;
  text name_;
  void* handle_ = nullptr;
};

}  // namespace poot::run
