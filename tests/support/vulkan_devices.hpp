#pragma once
/// The Vulkan devices that tests run on: software devices where they are installed, whatever VK_ICD_FILENAMES names where it
/// is set. The validation layer watches if it is installed, and compiled kernels are kept in a folder of the test alone.

#include <poot/run/vulkan/device.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace poot_tests {

using namespace poot;

inline constexpr const char* lavapipe_file = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";
inline constexpr const char* swiftshader_file = "/usr/lib/chromium/vk_swiftshader_icd.json";

/// Removes the folder when the program ends.
struct cache_folder {
  std::string path;
  cache_folder() {
    char name[] = "/tmp/poot-vulkan-XXXXXX";
    if (::mkdtemp(name)) path = name;
    ::setenv("POOT_CACHE_DIR", path.c_str(), 1);
    ::unsetenv("POOT_CACHE");
  }
  ~cache_folder() {
    run::cache(path).clear();
    ::rmdir(path.c_str());
  }
};

/// Why there is no device; empty where there is one.
inline const std::string& why_no_vulkan() {
  static const cache_folder kept;
  static const std::string why = [] {
    if (!std::getenv("VK_ICD_FILENAMES")) {
      std::string files;
      for (const char* file : {lavapipe_file, swiftshader_file})
        if (::access(file, R_OK) == 0) files += (files.empty() ? "" : ":") + std::string(file);
      if (!files.empty()) ::setenv("VK_ICD_FILENAMES", files.c_str(), 1);
    }
    if (::access("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json", R_OK) == 0) ::setenv("POOT_VULKAN_VALIDATION", "1", 0);
    try {
      run::vulkan::instance::get().device(0);
      run::shaderc::find();
      return std::string();
    } catch (const error& e) {
      return std::string(e.what());
    }
  }();
  return why;
}

/// How many devices there are.
inline int vulkan_count() {
  int n = 0;
  if (why_no_vulkan().empty())
    for (const run::vulkan::found_device& d : run::vulkan::instance::get().devices()) n += d.why_not.empty();
  return n;
}

/// What the validation layer said since the call before, in one text.
inline std::string validation_messages() {
  std::string all;
  for (const std::string& m : run::vulkan::instance::get().messages()) all += m + "\n";
  return all;
}

}  // namespace poot_tests
